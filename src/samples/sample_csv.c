// SPDX-License-Identifier: Apache-2.0
/*
 * Files of pandas are the usual ones: a first column without a name (its index), times and names of
 * machines as text. A line with another number of cells than the first one is refused, because its
 * cells cannot be assigned to columns; an empty line is skipped.
 */
#include "samples/sample_table.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "base/utf8.h"
#include "samples/csv_cells.h"

static bool is_name(const char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len;) {
		size_t step = utf8_char_len(text + i, len - i);

		if (step == 0 || (unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return false;
		i += step;
	}
	return true;
}

/* Which column of the table a cell goes to, and how many cells a line has. */
struct csv_columns {
	size_t column[SAMPLE_COLUMNS_MAX]; /* SAMPLE_COLUMN_NONE: without a name */
	bool has_number[SAMPLE_COLUMNS_MAX];
	size_t count;
};

static int add_column(struct csv_cells *csv, struct sample_table *table,
		      struct csv_columns *columns)
{
	size_t *column = &columns->column[columns->count];
	int r = 0;

	if (columns->count == SAMPLE_COLUMNS_MAX)
		return csv_cells_refuse(csv, -ENOSPC, "there are more than 256 columns");
	if (csv->is_long)
		return csv_cells_refuse(csv, -EINVAL,
					"the name of a column has more than 95 bytes");
	if (!is_name(csv->cell))
		return csv_cells_refuse(
			csv, -EINVAL,
			"the name of a column has control characters or is not UTF-8");
	*column = SAMPLE_COLUMN_NONE;
	if (csv->cell[0])
		r = sample_table_add_column(table, csv->cell, column);
	if (r == -EEXIST)
		return diag_set(csv->diag, -EINVAL, "%.200s:%zu: two columns are named %s",
				csv->name, csv->line, csv->cell);
	columns->count++;
	return r;
}

static int read_names(struct csv_cells *csv, struct sample_table *table,
		      struct csv_columns *columns)
{
	int r;

	do {
		r = csv_cells_read(csv);
		if (r == 0)
			r = add_column(csv, table, columns);
	} while (r == 0 && csv->cell_end == CSV_END_CELL);
	return r;
}

static void take_number(const struct csv_cells *csv, struct sample_table *table,
			struct csv_columns *columns, size_t cell)
{
	size_t column = columns->column[cell];
	double value;

	if (column == SAMPLE_COLUMN_NONE || csv->is_long || parse_double(csv->cell, &value) < 0)
		return;
	table->columns[column][table->rows - 1] = value;
	columns->has_number[column] = true;
}

static int read_row(struct csv_cells *csv, struct sample_table *table, struct csv_columns *columns)
{
	size_t cell = 0;
	size_t line = csv->next_line;
	int r = sample_table_add_row(table);

	do {
		if (r == 0)
			r = csv_cells_read(csv);
		if (r == 0 && cell < columns->count)
			take_number(csv, table, columns, cell);
		cell++;
	} while (r == 0 && csv->cell_end == CSV_END_CELL);
	if (r == 0 && cell != columns->count)
		return diag_set(csv->diag, -EINVAL,
				"%.200s:%zu: this line has %zu cells, the first one has %zu",
				csv->name, line, cell, columns->count);
	return r;
}

static void leave_out_text(struct sample_table *table, const struct csv_columns *columns)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->column_count; i++) {
		if (!columns->has_number[i]) {
			free(table->columns[i]);
			continue;
		}
		table->columns[kept] = table->columns[i];
		memmove(table->names[kept], table->names[i], sizeof(table->names[i]));
		kept++;
	}
	table->column_count = kept;
}

int sample_table_parse_csv(struct sample_table *ret, const char *name, const char *text,
			   size_t size, struct diag *diag)
{
	CLEANUP(sample_table_release) struct sample_table table = { .rows = 0 };
	struct csv_columns columns = { .count = 0 };
	struct csv_cells csv;
	int r;

	csv_cells_start(&csv, name, text, size, diag);
	if (!csv_cells_find_line(&csv))
		return csv_cells_refuse(&csv, -EINVAL,
					"it is empty; the first line names the columns");
	r = read_names(&csv, &table, &columns);
	while (r == 0 && csv_cells_find_line(&csv))
		r = read_row(&csv, &table, &columns);
	if (r == -ENOMEM)
		(void)diag_set(diag, r, "%.200s: out of memory", name);
	if (r < 0)
		return r;
	leave_out_text(&table, &columns);
	*ret = table;
	table = (struct sample_table){ 0 };
	return 0;
}

static void write_name(const char *name, struct strbuf *out)
{
	if (!strpbrk(name, ",\"\r\n")) {
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

int sample_table_write_csv(const struct sample_table *table, struct strbuf *out)
{
	for (size_t i = 0; i < table->column_count; i++) {
		if (i)
			strbuf_add_char(out, ',');
		write_name(table->names[i], out);
	}
	strbuf_add_char(out, '\n');
	for (size_t row = 0; row < table->rows; row++) {
		for (size_t i = 0; i < table->column_count; i++) {
			if (i)
				strbuf_add_char(out, ',');
			write_number(table->columns[i][row], out);
		}
		/* An empty line would be skipped when it is read. */
		if (table->column_count == 1 && !isfinite(table->columns[0][row]))
			strbuf_add_str(out, "\"\"");
		strbuf_add_char(out, '\n');
	}
	return strbuf_error(out);
}
