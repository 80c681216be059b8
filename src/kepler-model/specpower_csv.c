// SPDX-License-Identifier: Apache-2.0
#include "kepler-model/specpower_csv.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "samples/csv_cells.h"

enum column {
	COLUMN_TYPE,
	COLUMN_CORES,
	COLUMN_SOCKETS,
	COLUMN_MEMORY,
	COLUMN_FREQUENCY,
	COLUMN_TIME,
	COLUMN_WATTS,
	COLUMN_NUMBERS,
	COLUMN_PROCESSOR = COLUMN_NUMBERS,
	COLUMNS
};

#define OTHER_COLUMN COLUMNS
#define CELLS_MAX    64U
#define LARGEST      1e9 /* of any number */

/* @least: of values that are accepted. */
static const struct {
	const char *name;
	double least;
} columns[COLUMNS] = {
	[COLUMN_TYPE] = { "node_type", 0 },          [COLUMN_CORES] = { "cores", 1 },
	[COLUMN_SOCKETS] = { "chips", 1 },           [COLUMN_MEMORY] = { "memory", 1e-3 },
	[COLUMN_FREQUENCY] = { "frequency", 1 },     [COLUMN_TIME] = { "bpf_cpu_time_ms", 0 },
	[COLUMN_WATTS] = { "platform_power", 1e-3 }, [COLUMN_PROCESSOR] = { "processor", 0 },
};

struct table {
	struct csv_cells csv;
	size_t column[CELLS_MAX]; /* of each cell of a line: enum column, or OTHER_COLUMN */
	size_t cells;
	struct platform_types types;
};

static void table_release(struct table *table)
{
	platform_types_release(&table->types);
}

static int read_names(struct table *table)
{
	struct csv_cells *csv = &table->csv;
	bool has[COLUMNS + 1] = { false };

	do {
		size_t column = 0;
		int r = csv_cells_read(csv);

		if (r < 0)
			return r;
		if (table->cells == CELLS_MAX)
			return csv_cells_refuse(csv, -EINVAL, "there are more than 64 columns");
		while (column < COLUMNS && strcmp(columns[column].name, csv->cell) != 0)
			column++;
		table->column[table->cells++] = column;
		has[column] = true;
	} while (csv->cell_end == CSV_END_CELL);
	for (size_t i = 0; i < COLUMNS; i++) {
		if (!has[i])
			return diag_set(csv->diag, -EINVAL, "%.200s:%zu: there is no column %s",
					csv->name, csv->line, columns[i].name);
	}
	return 0;
}

static int take_cell(const struct csv_cells *csv, size_t column, double *numbers,
		     char processor[static CSV_CELL_MAX])
{
	if (column == OTHER_COLUMN)
		return 0;
	if (column == COLUMN_PROCESSOR) {
		(void)snprintf(processor, CSV_CELL_MAX, "%s", csv->cell);
		return 0;
	}
	if (parse_double(csv->cell, &numbers[column]) < 0 ||
	    !(numbers[column] >= columns[column].least && numbers[column] <= LARGEST))
		return diag_set(csv->diag, -EINVAL,
				"%.200s:%zu: %s must be a number from %g to %g, not \"%.40s\"",
				csv->name, csv->line, columns[column].name, columns[column].least,
				LARGEST, csv->cell);
	return 0;
}

static int add_row(struct table *table, const double *numbers, const char *processor)
{
	const struct platform_measurement row = {
		.type = (unsigned)numbers[COLUMN_TYPE],
		.processor = processor,
		.cores = numbers[COLUMN_CORES],
		.sockets = numbers[COLUMN_SOCKETS],
		.memory_gib = numbers[COLUMN_MEMORY],
		.frequency_mhz = numbers[COLUMN_FREQUENCY],
		.cpu_time_ms = numbers[COLUMN_TIME],
		.watts = numbers[COLUMN_WATTS],
	};
	struct diag why = { "" };
	int r = platform_types_add(&table->types, &row, &why);

	if (r == 0 && table->types.count > SPECPOWER_TYPES_MAX)
		return csv_cells_refuse(&table->csv, -EFBIG,
					"there are more than 2000 machine types");
	return r < 0 ? csv_cells_refuse(&table->csv, r, why.text) : 0;
}

static int read_row(struct table *table)
{
	struct csv_cells *csv = &table->csv;
	double numbers[COLUMN_NUMBERS] = { 0 };
	char processor[CSV_CELL_MAX] = "";
	size_t cell = 0;

	do {
		int r = csv_cells_read(csv);

		if (r == 0 && cell < table->cells)
			r = take_cell(csv, table->column[cell], numbers, processor);
		if (r < 0)
			return r;
		cell++;
	} while (csv->cell_end == CSV_END_CELL);
	if (cell != table->cells)
		return diag_set(csv->diag, -EINVAL,
				"%.200s:%zu: this line has %zu cells, the first one has %zu",
				csv->name, csv->line, cell, table->cells);
	return add_row(table, numbers, processor);
}

int specpower_csv_parse(const char *name, const char *text, size_t size, struct platform_types *ret,
			struct diag *diag)
{
	CLEANUP(table_release) struct table table = { .cells = 0 };
	struct diag why = { "" };
	int r;

	csv_cells_start(&table.csv, name, text, size, diag);
	if (!csv_cells_find_line(&table.csv))
		return csv_cells_refuse(&table.csv, -EINVAL,
					"it is empty; the first line names the columns");
	r = read_names(&table);
	while (r == 0 && csv_cells_find_line(&table.csv))
		r = read_row(&table);
	if (r < 0)
		return r;
	r = platform_types_finish(&table.types, &why);
	if (r < 0)
		return diag_set(diag, r, "%.200s: %.200s", name, why.text);
	*ret = table.types;
	table.types = (struct platform_types){ 0 };
	return 0;
}

int specpower_csv_read(const char *path, struct platform_types *ret, struct diag *diag)
{
	CLEANUP_FREE char *text = NULL;
	size_t len = 0;
	int r = read_file_alloc(path, SPECPOWER_FILE_MAX, &text, &len);

	if (r < 0)
		return diag_set(diag, r, "%.200s: cannot be read: %s", path, strerrordesc_np(-r));
	return specpower_csv_parse(path, text, len, ret, diag);
}
