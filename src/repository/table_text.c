// SPDX-License-Identifier: Apache-2.0
#include "repository/table_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/num.h"
#include "repository/model_json.h"

/* Columns of all models, in upstream's order; columns of components follow by name. */
static const char *const columns[] = { "model_name", "model_class", "model_file",   "features",
				       "fe_files",   "output_type", "mae",          "mape",
				       "trainer",    "node_type",   "feature_group" };

static bool is_fixed(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		if (strcmp(columns[i], name) == 0)
			return true;
	return false;
}

static bool is_index(const char *name)
{
	return !*name || strncmp(name, "Unnamed", 7) == 0 || strcmp(name, "index") == 0;
}

static void add_list(const json_t *list, struct strbuf *out)
{
	strbuf_add_str(out, "\"[");
	for (size_t i = 0; i < json_array_size(list); i++)
		strbuf_addf(out, "%s'%s'", i ? ", " : "",
			    json_string_value(json_array_get(list, i)));
	strbuf_add_str(out, "]\"");
}

static void add_cell(const json_t *value, struct strbuf *out)
{
	char number[FORMAT_DOUBLE_MAX];

	if (json_is_array(value))
		add_list(value, out);
	else if (json_is_string(value))
		strbuf_add_csv(out, json_string_value(value));
	else if (json_is_number(value))
		strbuf_add(out, number, format_double(number, json_number_value(value)));
}

/* All columns of any row that are not among the fixed ones, as the keys of an object. */
static json_t *more_columns(const json_t *rows)
{
	json_t *more = json_object();

	for (size_t i = 0; more && i < json_array_size(rows); i++) {
		const char *key;
		json_t *value;

		json_object_foreach(json_array_get(rows, i), key, value)
		{
			if (!is_fixed(key) && !is_index(key))
				(void)json_object_set_new(more, key, json_null());
		}
	}
	return more;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_row(const void *a, const void *b)
{
	const json_t *one = *(json_t *const *)a, *other = *(json_t *const *)b;
	int order = strcmp(model_json_text(one, "feature_group"),
			   model_json_text(other, "feature_group"));

	return order ? order
		     : strcmp(model_json_text(one, "model_name"),
			      model_json_text(other, "model_name"));
}

static void write_rows(json_t **sorted, size_t rows, const char **names, size_t count,
		       struct strbuf *out)
{
	for (size_t c = 0; c < ARRAY_SIZE(columns); c++)
		strbuf_addf(out, ",%s", columns[c]);
	for (size_t c = 0; c < count; c++)
		strbuf_addf(out, ",%s", names[c]);
	strbuf_add_char(out, '\n');
	for (size_t i = 0; i < rows; i++) {
		strbuf_add_u64(out, i);
		for (size_t c = 0; c < ARRAY_SIZE(columns); c++) {
			strbuf_add_char(out, ',');
			add_cell(json_object_get(sorted[i], columns[c]), out);
		}
		for (size_t c = 0; c < count; c++) {
			strbuf_add_char(out, ',');
			add_cell(json_object_get(sorted[i], names[c]), out);
		}
		strbuf_add_char(out, '\n');
	}
}

int table_text_write(const json_t *rows, struct strbuf *out)
{
	CLEANUP(model_json_release) json_t *more = more_columns(rows);
	size_t row_count = json_array_size(rows), count = 0;
	CLEANUP_FREE json_t **sorted = calloc(row_count + 1, sizeof(json_t *));
	CLEANUP_FREE const char **names = calloc(json_object_size(more) + 1, sizeof(char *));
	const char *key;
	json_t *value;

	if (!more || !sorted || !names)
		return -ENOMEM;
	json_object_foreach(more, key, value)
	{
		names[count++] = key;
	}
	for (size_t i = 0; i < row_count; i++)
		sorted[i] = json_array_get(rows, i);
	qsort(names, count, sizeof(*names), by_name);
	qsort(sorted, row_count, ARRAY_ELEMENT(sorted), by_row);
	write_rows(sorted, row_count, names, count, out);
	return strbuf_error(out);
}
