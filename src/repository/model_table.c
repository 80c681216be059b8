// SPDX-License-Identifier: Apache-2.0
#include "repository/model_table.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "base/strbuf.h"

#define COLUMNS_MAX 64

struct reader {
	const char *name;
	const char *at, *end;
	unsigned line;
	struct strbuf cell;
	char *columns[COLUMNS_MAX];
	size_t count;
};

static void reader_release(struct reader *reader)
{
	strbuf_release(&reader->cell);
	for (size_t i = 0; i < reader->count; i++)
		free(reader->columns[i]);
}

/* RFC 4180: a cell into reader->cell. True: another cell of the same line follows. */
static bool read_cell(struct reader *reader)
{
	bool quoted = reader->at < reader->end && *reader->at == '"';

	strbuf_reset(&reader->cell);
	reader->at += quoted;
	while (reader->at < reader->end) {
		char c = *reader->at++;

		if (quoted && c == '"') {
			if (reader->at == reader->end || *reader->at != '"') {
				quoted = false;
				continue;
			}
			reader->at++;
		} else if (!quoted && c == ',') {
			return true;
		} else if (c == '\n') {
			reader->line++;
			if (!quoted)
				return false;
		} else if (!quoted && c == '\r') {
			continue;
		}
		strbuf_add_char(&reader->cell, c);
	}
	return false;
}

static const char *cell_text(const struct reader *reader)
{
	return reader->cell.len ? reader->cell.data : "";
}

/* "['a', 'b']" → array; names have neither quotes nor commas. */
static json_t *read_list(const char *text)
{
	json_t *list = json_array();

	for (text++; list && *text && *text != ']'; text++) {
		size_t len;

		if (*text != '\'' && *text != '"')
			continue;
		len = strcspn(text + 1, "'\"");
		if (!text[1 + len])
			break;
		(void)json_array_append_new(list, json_stringn(text + 1, len));
		text += 1 + len;
	}
	return list;
}

static json_t *read_value(const char *text)
{
	double number;

	if (*text == '[')
		return read_list(text);
	if (parse_double(text, &number) == 0)
		return json_real(number);
	return json_string(text); /* NULL if it is not UTF-8: the value is left out */
}

static int read_head(struct reader *reader, struct diag *diag)
{
	bool more = true;

	while (more) {
		more = read_cell(reader);
		if (reader->count == COLUMNS_MAX)
			return diag_set(diag, -EINVAL, "%s:1: more than %d columns", reader->name,
					COLUMNS_MAX);
		reader->columns[reader->count] = strdup(cell_text(reader));
		if (!reader->columns[reader->count++])
			return diag_set(diag, -ENOMEM, "out of memory");
	}
	return 0;
}

static int read_row(struct reader *reader, json_t *row, struct diag *diag)
{
	unsigned line = reader->line;
	bool more = true;

	for (size_t i = 0; more; i++) {
		const char *column;

		more = read_cell(reader);
		if (i == reader->count)
			return diag_set(diag, -EINVAL, "%s:%u: more cells than the first line has",
					reader->name, line);
		column = reader->columns[i];
		if (reader->cell.len && *column)
			(void)json_object_set_new(row, column, read_value(cell_text(reader)));
	}
	return 0;
}

int model_table_read(const char *name, const char *text, size_t size, model_table_row *take,
		     void *userdata, struct diag *diag)
{
	CLEANUP(reader_release)
	struct reader reader = { .name = name, .at = text, .end = text + size, .line = 1 };
	int r = size ? read_head(&reader, diag)
		     : diag_set(diag, -EINVAL, "%s: the file is empty", name);

	for (size_t rows = 0; r == 0 && reader.at < reader.end; rows++) {
		json_t *row = json_object();

		if (rows == MODEL_TABLE_ROWS)
			r = diag_set(diag, -EINVAL, "%s: more than %d rows", name,
				     MODEL_TABLE_ROWS);
		else
			r = row ? read_row(&reader, row, diag) : -ENOMEM;
		if (r == 0)
			r = take(userdata, row);
		json_decref(row);
	}
	if (r == 0 && strbuf_error(&reader.cell) < 0)
		r = diag_set(diag, -ENOMEM, "out of memory");
	return r;
}
