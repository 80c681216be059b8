// SPDX-License-Identifier: Apache-2.0
#include "samples/sample_table.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/ascii.h"
#include "base/macro.h"
#include "base/num.h"
#include "samples/csv_reader.h"

/* Each column of the file that has a name becomes one of the table. */
static int add_columns(struct csv_reader *reader, struct sample_table *table)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < reader->count; i++) {
		if (reader->names[i][0])
			r = sample_table_add_column(table, reader->names[i], &reader->place[i]);
	}
	return r;
}

static int read_rows(struct csv_reader *reader, struct sample_table *table, struct diag *diag)
{
	double values[SAMPLE_COLUMNS_MAX];
	int r;

	while ((r = csv_reader_row(reader, values, diag)) > 0) {
		if (sample_table_add_row(table) < 0)
			return -ENOMEM;
		for (size_t i = 0; i < table->column_count; i++)
			table->columns[i][table->rows - 1] = values[i];
	}
	return r;
}

int sample_table_parse_csv(struct sample_table *ret, const char *name, const char *text,
			   size_t size, struct diag *diag)
{
	CLEANUP(csv_reader_close) struct csv_reader reader = { .line = 0 };
	CLEANUP(sample_table_release) struct sample_table table = { .rows = 0 };
	int r = csv_reader_open(&reader, name, text, size, NULL, NULL, diag);

	if (r < 0)
		return r;
	r = add_columns(&reader, &table);
	if (r == 0)
		r = read_rows(&reader, &table, diag);
	if (r == -ENOMEM)
		(void)diag_set(diag, r, "%.200s: out of memory", name);
	if (r < 0)
		return r;
	sample_table_drop_text(&table);
	*ret = table;
	table = (struct sample_table){ 0 };
	return 0;
}

/*
 * Anything but plain names has quotes: where a file begins, a byte order mark or the signature of
 * another format would not be read as a name, nor would semicolons.
 */
static bool is_plain(const char *name)
{
	while (ascii_is_alnum(*name) || (*name && strchr("_-.:/", *name)))
		name++;
	return !*name;
}

static void write_name(const char *name, struct strbuf *out)
{
	if (is_plain(name)) {
		strbuf_add_str(out, name);
		return;
	}
	strbuf_add_char(out, '"');
	for (; *name; name++) {
		if (*name == '"')
			strbuf_add_char(out, '"');
		strbuf_add_char(out, *name);
	}
	strbuf_add_char(out, '"');
}

static void write_number(double value, struct strbuf *out)
{
	char text[FORMAT_DOUBLE_MAX];

	if (isfinite(value))
		strbuf_add(out, text, format_double(text, value));
}

void sample_csv_add_names(const char *const *names, size_t count, struct strbuf *out)
{
	for (size_t i = 0; i < count; i++) {
		if (i)
			strbuf_add_char(out, ',');
		write_name(names[i], out);
	}
	strbuf_add_char(out, '\n');
}

void sample_csv_add_row(const double *values, size_t count, struct strbuf *out)
{
	for (size_t i = 0; i < count; i++) {
		if (i)
			strbuf_add_char(out, ',');
		write_number(values[i], out);
	}
	/* An empty line would be skipped when it is read. */
	if (count == 1 && !isfinite(values[0]))
		strbuf_add_str(out, "\"\"");
	strbuf_add_char(out, '\n');
}

int sample_table_write_csv(const struct sample_table *table, struct strbuf *out)
{
	const char *names[SAMPLE_COLUMNS_MAX];
	double values[SAMPLE_COLUMNS_MAX];
	size_t count = table->column_count;

	sample_table_get_names(table, names);
	sample_csv_add_names(names, count, out);
	for (size_t row = 0; row < table->rows; row++) {
		sample_table_get_row(table, row, values);
		sample_csv_add_row(values, count, out);
	}
	return strbuf_error(out);
}
