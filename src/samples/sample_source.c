// SPDX-License-Identifier: Apache-2.0
#include "samples/sample_source.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "samples/sample_input.h"

/* The first reading, in which columns are found. */
struct first_pass {
	struct sample_input input;
	struct sample_table *table;
	size_t memory;
	bool is_kept;
	bool has_number[SAMPLE_COLUMNS_MAX];
};

static void release_pass(struct first_pass *pass)
{
	sample_input_release(&pass->input);
}

static int keep_row(struct first_pass *pass, const double *values)
{
	struct sample_table *table = pass->table;
	const struct csv_reader *reader = &pass->input.reader;

	if ((table->rows + 1) * table->column_count * sizeof(double) > pass->memory) {
		sample_table_forget_rows(table);
		pass->is_kept = false;
		return 0;
	}
	if (sample_table_add_row(table) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < reader->count; i++) {
		size_t column = reader->place[i];

		if (column != SAMPLE_COLUMN_NONE)
			table->columns[column][table->rows - 1] = values[column];
	}
	return 0;
}

static void note_numbers(struct first_pass *pass, const double *values)
{
	const struct csv_reader *reader = &pass->input.reader;

	for (size_t i = 0; i < reader->count; i++) {
		size_t column = reader->place[i];

		if (column != SAMPLE_COLUMN_NONE && isfinite(values[column]))
			pass->has_number[column] = true;
	}
}

static int read_first(struct first_pass *pass, struct diag *diag)
{
	double values[SAMPLE_COLUMNS_MAX];
	int r;

	while ((r = sample_input_next(&pass->input, values, diag)) > 0) {
		if (r == SAMPLE_INPUT_FILE) {
			r = sample_input_place(&pass->input, pass->table, diag);
			if (r < 0)
				return r;
			continue;
		}
		note_numbers(pass, values);
		if (pass->is_kept && keep_row(pass, values) < 0)
			return diag_set(diag, -ENOMEM, "out of memory");
	}
	return r;
}

static void name_columns(const struct first_pass *pass, struct sample_source *source)
{
	for (size_t i = 0; i < pass->table->column_count; i++) {
		if (pass->has_number[i])
			source->names[source->column_count++] = pass->table->names[i];
	}
}

static int open_source(struct first_pass *pass, struct sample_source *source, struct diag *diag)
{
	int r = sample_input_add(&pass->input, source->path, diag);

	if (r == 0)
		r = read_first(pass, diag);
	if (r < 0)
		return r;
	source->rows = pass->input.rows;
	if (pass->is_kept) {
		sample_table_drop_text(pass->table);
		sample_source_of_table(source, pass->table);
		return 0;
	}
	if (!pass->input.bytes)
		return diag_set(diag, -ENOTSUP,
				"%.200s: its rows do not fit in %zu KiB of memory, and it is no "
				"file that can be read again",
				source->path, pass->memory >> 10);
	name_columns(pass, source);
	return 0;
}

int sample_source_open(struct sample_source *ret, const char *path, size_t memory,
		       struct diag *diag)
{
	CLEANUP(release_pass) struct first_pass pass = { .memory = memory, .is_kept = true };
	char *own = strdup(path);
	int r;

	*ret = (struct sample_source){ .path = own };
	if (!own)
		return diag_set(diag, -ENOMEM, "out of memory");
	pass.table = &ret->owned;
	r = open_source(&pass, ret, diag);
	if (r < 0)
		sample_source_close(ret);
	return r;
}

void sample_source_of_table(struct sample_source *ret, const struct sample_table *table)
{
	ret->table = table;
	ret->rows = table->rows;
	ret->column_count = table->column_count;
	for (size_t i = 0; i < table->column_count; i++)
		ret->names[i] = table->names[i];
}

size_t sample_source_find(const struct sample_source *source, const char *name)
{
	for (size_t i = 0; i < source->column_count; i++) {
		if (strcmp(source->names[i], name) == 0)
			return i;
	}
	return SAMPLE_COLUMN_NONE;
}

static int each_of_table(const struct sample_table *table, sample_row_fn *fn, void *userdata,
			 struct diag *diag)
{
	double values[SAMPLE_COLUMNS_MAX];
	int r = 0;

	for (size_t row = 0; r >= 0 && row < table->rows; row++) {
		for (size_t i = 0; i < table->column_count; i++)
			values[i] = table->columns[i][row];
		r = fn(userdata, values, diag);
	}
	return r < 0 ? r : 0;
}

/* Values of the columns go where they are in a row; those that the file lacks stay NAN. */
static void place_columns(const struct sample_source *source, struct csv_reader *reader,
			  double *values)
{
	for (size_t i = 0; i < source->column_count; i++)
		values[i] = (double)NAN;
	for (size_t i = 0; i < reader->count; i++)
		reader->place[i] = sample_source_find(source, reader->names[i]);
}

static int each_of_files(const struct sample_source *source, struct sample_input *input,
			 sample_row_fn *fn, void *userdata, struct diag *diag)
{
	double values[SAMPLE_COLUMNS_MAX];
	int r = sample_input_add(input, source->path, diag);

	if (r < 0)
		return r;
	while ((r = sample_input_next(input, values, diag)) > 0) {
		if (r == SAMPLE_INPUT_FILE)
			place_columns(source, &input->reader, values);
		else
			r = fn(userdata, values, diag);
		if (r < 0)
			return r;
	}
	return r;
}

int sample_source_each(const struct sample_source *source, sample_row_fn *fn, void *userdata,
		       struct diag *diag)
{
	CLEANUP(sample_input_release) struct sample_input input = { .count = 0 };

	if (source->table)
		return each_of_table(source->table, fn, userdata, diag);
	return each_of_files(source, &input, fn, userdata, diag);
}

void sample_source_close(struct sample_source *source)
{
	sample_table_release(&source->owned);
	free(source->path);
	*source = (struct sample_source){ .rows = 0 };
}
