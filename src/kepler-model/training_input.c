// SPDX-License-Identifier: Apache-2.0
#include "kepler-model/training_input.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/feature.h"

/* What a row takes while it is trained on, beside its columns: copies, polynomials, trees. */
#define ROW_BYTES    512
#define COLUMN_BYTES 12
#define ROWS_SHOWN   65536

static void show_progress(const struct training_input *input)
{
	if (input->progress && input->files.rows % ROWS_SHOWN == 0)
		input->progress(input->context);
}

static size_t rows_max(const struct training_input *input)
{
	size_t row = ROW_BYTES + COLUMN_BYTES * input->table.column_count;
	size_t rows = input->memory / row;

	return rows < TRAINING_ROWS_MAX ? rows : TRAINING_ROWS_MAX;
}

/* Columns of the table that have none in the screen yet get one. */
static int screen_columns(struct training_input *input, struct diag *diag)
{
	for (size_t i = input->screen.count; i < input->table.column_count; i++) {
		if (row_screen_add(&input->screen, input->table.names[i]) < 0)
			return diag_set(diag, -ENOMEM, "out of memory");
	}
	return 0;
}

/*
 * Sets the cells of the row that was read to NAN where they cannot be true. @screened has the
 * screen's column of each place; NULL: the places are those columns.
 */
static void screen_row(struct training_input *input, const size_t *screened, double *values)
{
	const struct csv_reader *reader = &input->files.reader;

	for (size_t i = 0; i < reader->count; i++) {
		size_t place = reader->place[i];

		if (place != SAMPLE_COLUMN_NONE)
			values[place] =
				row_screen_cell(&input->screen, screened ? screened[place] : place,
						values[place], reader->name, reader->row_line);
	}
}

/* Columns of a file that was opened are columns of the table. */
static int place_in_table(struct training_input *input, size_t *file_column, struct diag *diag)
{
	int r = sample_input_place(&input->files, &input->table, diag);

	if (r == 0)
		r = screen_columns(input, diag);
	if (r < 0 || strcmp(input->group_by, FILE_COLUMN) != 0)
		return r;
	*file_column = sample_table_find(&input->table, FILE_COLUMN);
	if (*file_column == SAMPLE_COLUMN_NONE)
		r = sample_table_add_column(&input->table, FILE_COLUMN, file_column);
	return r < 0 ? diag_set(diag, r, "%.200s: no place for a column of files",
				input->files.reader.name)
		     : 0;
}

static int add_row(struct training_input *input, const double *values)
{
	struct sample_table *table = &input->table;
	const struct csv_reader *reader = &input->files.reader;

	if (sample_table_add_row(table) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < reader->count; i++) {
		if (reader->place[i] != SAMPLE_COLUMN_NONE)
			table->columns[reader->place[i]][table->rows - 1] =
				values[reader->place[i]];
	}
	return 0;
}

int training_input_read(struct training_input *input, struct diag *diag)
{
	size_t file_column = SAMPLE_COLUMN_NONE;
	double values[SAMPLE_COLUMNS_MAX];
	int r;

	input->files.text_column = input->group_by;
	while ((r = sample_input_next(&input->files, values, diag)) > 0) {
		if (r == SAMPLE_INPUT_FILE) {
			r = place_in_table(input, &file_column, diag);
			if (r < 0)
				return r;
			continue;
		}
		screen_row(input, NULL, values);
		if (add_row(input, values) < 0)
			return diag_set(diag, -ENOMEM, "out of memory");
		if (file_column != SAMPLE_COLUMN_NONE)
			input->table.columns[file_column][input->table.rows - 1] =
				(double)input->files.opened;
		show_progress(input);
		if (input->table.rows >= rows_max(input)) {
			input->is_streamed = true;
			break;
		}
	}
	if (r < 0)
		return r;
	if (input->table.rows == 0)
		return diag_set(diag, -EINVAL,
				"%.200s: no row follows the line with the names of the columns",
				input->files.paths[0]);
	sample_table_drop_text(&input->table);
	return 0;
}

static bool is_wanted(const struct training_request *request, const char *name)
{
	char power[SAMPLE_NAME_MAX];

	if (feature_find(name))
		return true;
	for (size_t i = 0; i < request->feature_count; i++) {
		if (strcmp(request->features[i], name) == 0)
			return true;
	}
	for (size_t i = 0; i < request->component_count; i++) {
		(void)snprintf(power, sizeof(power), "%.80s_power", request->components[i]);
		if (strcmp(power, name) == 0)
			return true;
	}
	return false;
}

/* The group's number, by its value; groups beyond the limit share numbers. */
static int number_group(struct training_input *input, double value, double *ret)
{
	struct map_key key = { .hi = 0 };
	uint32_t number;

	memcpy(&key.lo, &value, sizeof(key.lo));
	number = map_find(&input->groups, key);
	if (number == MAP_NONE && input->streamed.group_count < STREAM_GROUPS_MAX) {
		number = (uint32_t)input->streamed.group_count;
		if (map_put(&input->groups, key, number) < 0)
			return -ENOMEM;
		input->streamed.group_count++;
	}
	*ret = number == MAP_NONE ? (double)(key.lo % STREAM_GROUPS_MAX) : (double)number;
	return 0;
}

static int spool_row(struct training_input *input, double *row, struct diag *diag)
{
	size_t group = input->streamed.group_column;

	if (group != SAMPLE_COLUMN_NONE && number_group(input, row[group], &row[group]) < 0)
		return diag_set(diag, -ENOMEM, "out of memory");
	return sample_spool_add(&input->spool, row, diag);
}

/* Where a value of the spool's column comes from: its name among the reader's. */
static void place_in_spool(struct training_input *input)
{
	struct csv_reader *reader = &input->files.reader;

	for (size_t i = 0; i < reader->count; i++)
		reader->place[i] = SAMPLE_COLUMN_NONE;
	for (size_t i = 0; i < input->column_count; i++) {
		size_t column = csv_reader_find(reader, input->names[i]);

		if (column != SAMPLE_COLUMN_NONE)
			reader->place[column] = i;
	}
}

static int spool_table(struct training_input *input, const size_t *from, struct diag *diag)
{
	double row[SAMPLE_COLUMNS_MAX + 1];
	int r = 0;

	for (size_t i = 0; r == 0 && i < input->table.rows; i++) {
		for (size_t column = 0; column < input->column_count; column++)
			row[column] = input->table.columns[from[column]][i];
		r = spool_row(input, row, diag);
	}
	sample_table_forget_rows(&input->table);
	return r;
}

static int spool_files(struct training_input *input, struct diag *diag)
{
	bool by_file = strcmp(input->group_by, FILE_COLUMN) == 0;
	double row[SAMPLE_COLUMNS_MAX + 1];
	int r = SAMPLE_INPUT_FILE;

	while (r > 0) {
		if (r == SAMPLE_INPUT_FILE)
			place_in_spool(input);
		/* Columns that the file lacks, and the group's, which is replaced by its number. */
		for (size_t i = 0; i < input->column_count; i++)
			row[i] = (double)NAN;
		r = sample_input_next(&input->files, row, diag);
		if (r != SAMPLE_INPUT_ROW)
			continue;
		screen_row(input, input->screened, row);
		if (by_file)
			row[input->streamed.group_column] = (double)input->files.opened;
		if (spool_row(input, row, diag) < 0)
			return -EIO;
		show_progress(input);
	}
	return r;
}

int training_input_stream(struct training_input *input, const struct training_request *request,
			  const char *folder, struct diag *diag)
{
	size_t from[SAMPLE_COLUMNS_MAX] = { 0 };
	int r;

	input->streamed.group_column = SAMPLE_COLUMN_NONE;
	for (size_t i = 0; i < input->table.column_count; i++) {
		bool is_group = request->plan.kind == FOLDS_GROUPS &&
				strcmp(input->table.names[i], input->group_by) == 0;

		if (is_group)
			input->streamed.group_column = input->column_count;
		if (is_group || is_wanted(request, input->table.names[i])) {
			from[input->column_count] = i;
			input->screened[input->column_count] =
				row_screen_index(&input->screen, input->table.names[i]);
			input->names[input->column_count++] = input->table.names[i];
		}
	}
	if (request->plan.kind == FOLDS_GROUPS &&
	    input->streamed.group_column == SAMPLE_COLUMN_NONE)
		return diag_set(diag, -ENOENT, "there is no column %.95s", input->group_by);
	map_init(&input->groups, STREAM_GROUPS_MAX);
	r = sample_spool_open(&input->spool, folder, input->column_count, diag);
	if (r == 0)
		r = spool_table(input, from, diag);
	if (r == 0)
		r = spool_files(input, diag);
	if (r == 0)
		r = sample_spool_finish(&input->spool, diag);
	input->streamed.spool = &input->spool;
	input->streamed.names = input->names;
	return r;
}

void training_input_release(struct training_input *input)
{
	sample_input_release(&input->files);
	sample_table_release(&input->table);
	row_screen_release(&input->screen);
	sample_spool_close(&input->spool);
	map_release(&input->groups);
}
