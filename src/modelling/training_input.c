// SPDX-License-Identifier: Apache-2.0
#include "modelling/training_input.h"

#include <errno.h>
#include <string.h>

/* Columns of the table that have none in the screen yet get one. */
static int screen_columns(struct training_input *input, struct diag *diag)
{
	for (size_t i = input->screen.count; i < input->table.column_count; i++) {
		if (row_screen_add(&input->screen, input->table.names[i]) < 0)
			return diag_set(diag, -ENOMEM, "out of memory");
	}
	return 0;
}

/* Sets the cells of the row that was read to NAN where they cannot be true. */
static void screen_row(struct training_input *input, double *values)
{
	const struct csv_reader *reader = &input->files.reader;

	for (size_t i = 0; i < reader->count; i++) {
		size_t place = reader->place[i];

		if (place != SAMPLE_COLUMN_NONE)
			values[place] = row_screen_cell(&input->screen, place, values[place],
							reader->name, reader->row_line);
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
		screen_row(input, values);
		r = sample_input_add_row(&input->files, values, &input->table, diag);
		if (r < 0)
			return r;
		if (file_column != SAMPLE_COLUMN_NONE)
			input->table.columns[file_column][input->table.rows - 1] =
				(double)input->files.opened;
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

void training_input_release(struct training_input *input)
{
	sample_input_release(&input->files);
	sample_table_release(&input->table);
	row_screen_release(&input->screen);
}
