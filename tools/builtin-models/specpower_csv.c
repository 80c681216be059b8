// SPDX-License-Identifier: Apache-2.0
#include "tools/builtin-models/specpower_csv.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "samples/csv_reader.h"

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

#define LARGEST 1e9 /* of any number */

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
	struct csv_reader reader;
	struct platform_types types;
};

static void table_release(struct table *table)
{
	csv_reader_close(&table->reader);
	platform_types_release(&table->types);
}

static int find_columns(struct csv_reader *reader, struct diag *diag)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		size_t at = csv_reader_find(reader, columns[i].name);

		if (at == SAMPLE_COLUMN_NONE)
			return diag_set(diag, -EINVAL, "%.200s:1: there is no column %s",
					reader->name, columns[i].name);
		reader->place[at] = i;
		if (i == COLUMN_PROCESSOR)
			reader->text_column = at;
	}
	return 0;
}

/* Refuses the last row that was read. */
static int refuse(const struct csv_reader *reader, int err, const char *what, struct diag *diag)
{
	return diag_set(diag, err, "%.200s:%llu: %s", reader->name,
			(unsigned long long)reader->row_line, what);
}

static int add_row(struct table *table, const double *values, struct diag *diag)
{
	const struct platform_measurement row = {
		.type = (unsigned)values[COLUMN_TYPE],
		.processor = table->reader.text,
		.cores = values[COLUMN_CORES],
		.sockets = values[COLUMN_SOCKETS],
		.memory_gib = values[COLUMN_MEMORY],
		.frequency_mhz = values[COLUMN_FREQUENCY],
		.cpu_time_ms = values[COLUMN_TIME],
		.watts = values[COLUMN_WATTS],
	};
	struct diag why = { "" };
	int r = platform_types_add(&table->types, &row, &why);

	if (r == 0 && table->types.count > SPECPOWER_TYPES_MAX)
		return refuse(&table->reader, -EFBIG, "there are more than 2000 machine types",
			      diag);
	return r < 0 ? refuse(&table->reader, r, why.text, diag) : 0;
}

static int take_row(struct table *table, const double *values, struct diag *diag)
{
	for (size_t i = 0; i < COLUMN_NUMBERS; i++) {
		if (!(values[i] >= columns[i].least && values[i] <= LARGEST))
			return diag_set(
				diag, -EINVAL, "%.200s:%llu: %s must be a number from %g to %g",
				table->reader.name, (unsigned long long)table->reader.row_line,
				columns[i].name, columns[i].least, LARGEST);
	}
	return add_row(table, values, diag);
}

int specpower_csv_parse(const char *name, const char *text, size_t size, struct platform_types *ret,
			struct diag *diag)
{
	CLEANUP(table_release) struct table table = { .types = { .count = 0 } };
	double values[COLUMNS] = { 0 };
	struct diag why = { "" };
	int r = csv_reader_open(&table.reader, name, text, size, diag);

	if (r == 0)
		r = find_columns(&table.reader, diag);
	if (r < 0)
		return r;
	while ((r = csv_reader_row(&table.reader, values, diag)) > 0) {
		r = take_row(&table, values, diag);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	r = platform_types_finish(&table.types, &why);
	if (r < 0)
		return diag_set(diag, r, "%.200s: %.200s", name, why.text);
	*ret = table.types;
	table.types = (struct platform_types){ .count = 0 };
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
