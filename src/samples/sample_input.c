// SPDX-License-Identifier: Apache-2.0
#include "samples/sample_input.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/macro.h"

#define LIST_MAX (64U << 20) /* bytes of a list of files */

static int add_path(struct sample_input *input, char *path)
{
	if (!path || input->count == SAMPLE_FILES_MAX ||
	    ARRAY_RESIZE(input->paths, input->count + 1) < 0) {
		free(path);
		return -ENOMEM;
	}
	input->paths[input->count++] = path;
	return 0;
}

static int cannot_read(const char *path, int err, struct diag *diag)
{
	return diag_set(diag, err, "%.200s: cannot be read: %s", path, strerrordesc_np(-err));
}

static bool has_end(const char *name, const char *end)
{
	size_t len = strlen(name), tail = strlen(end);

	return len > tail && strcmp(name + len - tail, end) == 0;
}

static int is_sample_file(const struct dirent *entry)
{
	return has_end(entry->d_name, ".csv") || has_end(entry->d_name, ".csv.gz") ||
	       has_end(entry->d_name, ".csv.zst"); /* refused, not overlooked */
}

static int add_folder(struct sample_input *input, const char *path, struct diag *diag)
{
	struct dirent **entries;
	int count = scandir(path, &entries, is_sample_file, alphasort), r = 0;

	if (count < 0)
		return cannot_read(path, -errno, diag);
	for (int i = 0; i < count; i++) {
		char *file = NULL;

		if (r == 0)
			r = asprintf(&file, "%s/%s", path, entries[i]->d_name) < 0
				    ? -ENOMEM
				    : add_path(input, file);
		free(entries[i]);
	}
	free(entries);
	if (r == 0 && count == 0)
		return diag_set(diag, -ENOENT, "%.200s: there is no file *.csv or *.csv.gz", path);
	return r < 0 ? diag_set(diag, r, "%.200s: out of memory, or too many files", path) : 0;
}

static int add_list(struct sample_input *input, const char *path, struct diag *diag)
{
	CLEANUP_FREE char *text = NULL;
	size_t len;
	int r = read_file_alloc(path, LIST_MAX, &text, &len);
	char *rest = text, *line;

	if (r < 0)
		return cannot_read(path, r, diag);
	while ((line = strsep(&rest, "\n")) != NULL) {
		if (*line && add_path(input, strdup(line)) < 0)
			return diag_set(diag, -ENOMEM, "%.200s: out of memory, or too many files",
					path);
	}
	return 0;
}

int sample_input_add(struct sample_input *input, const char *path, struct diag *diag)
{
	struct stat status;

	if (*path == '@')
		return add_list(input, path + 1, diag);
	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return add_folder(input, path, diag);
	return add_path(input, strdup(path)) < 0 ? diag_set(diag, -ENOMEM, "out of memory") : 0;
}

static void close_file(struct sample_input *input)
{
	packed_file_close(input->file);
	input->file = NULL;
	if (input->is_open)
		csv_reader_close(&input->reader);
	input->is_open = false;
}

void sample_input_release(struct sample_input *input)
{
	close_file(input);
	for (size_t i = 0; i < input->count; i++)
		free(input->paths[i]);
	free(input->paths);
	*input = (struct sample_input){ .count = 0 };
}

static ssize_t fill(void *context, char *buf, size_t size, struct diag *diag)
{
	const struct sample_input *input = context;

	return packed_file_read(input->file, buf, size, diag);
}

static int open_file(struct sample_input *input, struct diag *diag)
{
	const char *path = input->paths[input->opened++];
	int r = packed_file_open(path, &input->file, diag);

	if (r < 0)
		return r;
	r = csv_reader_open(&input->reader, path, NULL, 0, fill, input, diag);
	if (r < 0)
		return r;
	input->is_open = true;
	if (input->text_column && *input->text_column)
		input->reader.text_column = csv_reader_find(&input->reader, input->text_column);
	return SAMPLE_INPUT_FILE;
}

static int place_column(struct sample_table *names, const char *name, size_t *ret)
{
	*ret = sample_table_find(names, name);
	return *ret == SAMPLE_COLUMN_NONE ? sample_table_add_column(names, name, ret) : 0;
}

int sample_input_place(struct sample_input *input, struct sample_table *names, struct diag *diag)
{
	struct csv_reader *reader = &input->reader;
	int r = 0;

	for (size_t i = 0; r == 0 && i < reader->count; i++) {
		if (reader->names[i][0])
			r = place_column(names, reader->names[i], &reader->place[i]);
	}
	if (r == -ENOSPC)
		return diag_set(diag, r, "%.200s: with its columns there are more than 256",
				reader->name);
	return r < 0 ? diag_set(diag, r, "out of memory") : 0;
}

static int count_row(struct sample_input *input, struct diag *diag)
{
	if (input->rows++ < SAMPLE_ROWS_MAX)
		return SAMPLE_INPUT_ROW;
	return diag_set(diag, -E2BIG,
			"%.200s:%llu: there are more than %u rows; take a sample of them, for "
			"example every tenth row: awk 'NR == 1 || NR %% 10 == 0' (docs/models.md)",
			input->reader.name, (unsigned long long)input->reader.row_line,
			SAMPLE_ROWS_MAX);
}

int sample_input_next(struct sample_input *input, double *values, struct diag *diag)
{
	int r;

	while (input->is_open) {
		r = csv_reader_row(&input->reader, values, diag);
		if (r > 0)
			return count_row(input, diag);
		if (r < 0 && (r != -EINVAL || !input->skip_bad))
			return r;
		if (r == 0)
			close_file(input);
		else
			input->bad_rows++;
	}
	return input->opened < input->count ? open_file(input, diag) : SAMPLE_INPUT_END;
}

int sample_input_add_row(const struct sample_input *input, const double *values,
			 struct sample_table *table, struct diag *diag)
{
	const struct csv_reader *reader = &input->reader;

	if (sample_table_add_row(table) < 0)
		return diag_set(diag, -ENOMEM, "out of memory");
	for (size_t i = 0; i < reader->count; i++) {
		size_t column = reader->place[i];

		if (column != SAMPLE_COLUMN_NONE)
			table->columns[column][table->rows - 1] = values[column];
	}
	return 0;
}

int sample_input_read(const char *path, struct sample_table *ret, struct diag *diag)
{
	CLEANUP(sample_input_release) struct sample_input input = { .count = 0 };
	CLEANUP(sample_table_release) struct sample_table table = { .rows = 0 };
	double values[SAMPLE_COLUMNS_MAX];
	int r = sample_input_add(&input, path, diag);

	while (r >= 0 && (r = sample_input_next(&input, values, diag)) > 0)
		r = r == SAMPLE_INPUT_FILE ? sample_input_place(&input, &table, diag)
					   : sample_input_add_row(&input, values, &table, diag);
	if (r < 0)
		return r;
	sample_table_drop_text(&table);
	*ret = table;
	table = (struct sample_table){ 0 };
	return 0;
}
