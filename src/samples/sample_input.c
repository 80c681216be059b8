// SPDX-License-Identifier: Apache-2.0
#include "samples/sample_input.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/array.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/strbuf.h"
#include "samples/csv_reader.h"

#define LIST_MAX      (64U << 20) /* bytes of a list of files */
#define FILE_TEXT_MAX (1U << 30)  /* bytes of a file, unpacked */
#define READ_BLOCK    (1U << 17)

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

void sample_input_release(struct sample_input *input)
{
	for (size_t i = 0; i < input->count; i++)
		free(input->paths[i]);
	free(input->paths);
	*input = (struct sample_input){ .count = 0 };
}

/* All of a file, unpacked. */
static int read_text(const char *path, struct strbuf *ret, struct diag *diag)
{
	CLEANUP_FREE char *block = malloc(READ_BLOCK);
	gzFile file = block ? gzopen(path, "re") : NULL;
	const char *what;
	int len = 1, err = Z_OK;

	if (!file)
		return cannot_read(path, block && errno ? -errno : -ENOMEM, diag);
	while (len > 0 && ret->len <= FILE_TEXT_MAX && strbuf_error(ret) == 0) {
		len = gzread(file, block, READ_BLOCK);
		strbuf_add(ret, block, len > 0 ? (size_t)len : 0);
	}
	/* A stream of gzip that ends too early has no more bytes, and an error. */
	what = gzerror(file, &err); /* it begins with the path and ": " */
	if (len < 0 || (err != Z_OK && err != Z_STREAM_END))
		err = diag_set(diag, -EIO, "%.200s: cannot be read: %.100s", path,
			       strlen(what) > strlen(path) ? what + strlen(path) + 2 : what);
	else if (ret->len > FILE_TEXT_MAX)
		err = diag_set(diag, -E2BIG,
			       "%.200s: larger than %u MiB; take a sample of its rows", path,
			       FILE_TEXT_MAX >> 20);
	else
		err = strbuf_error(ret);
	(void)gzclose_r(file); /* errors were seen when it was read */
	return err;
}

/* The column of @table with that name, which may be new. */
static int find_column(struct sample_table *table, const char *name, size_t *ret)
{
	*ret = sample_table_find(table, name);
	return *ret == SAMPLE_COLUMN_NONE ? sample_table_add_column(table, name, ret) : 0;
}

/* Gives the columns of a file their places in the table. */
static int place_columns(const struct sample_input *input, struct csv_reader *reader,
			 struct sample_table *table, size_t *file_column)
{
	const char *group = input->group_by ? input->group_by : "";
	int r = 0;

	for (size_t i = 0; r == 0 && i < reader->count; i++) {
		if (reader->names[i][0])
			r = find_column(table, reader->names[i], &reader->place[i]);
	}
	if (r == 0 && strcmp(group, FILE_COLUMN) == 0)
		r = find_column(table, FILE_COLUMN, file_column);
	else if (*group)
		reader->text_column = csv_reader_find(reader, group);
	for (size_t i = input->screen ? input->screen->count : table->column_count;
	     r == 0 && i < table->column_count; i++)
		r = row_screen_add(input->screen, table->names[i]);
	return r;
}

static int add_row(const struct sample_input *input, const struct csv_reader *reader,
		   const double *values, struct sample_table *table)
{
	int r = sample_table_add_row(table);

	for (size_t i = 0; r == 0 && i < reader->count; i++) {
		size_t column = reader->place[i];

		if (column == SAMPLE_COLUMN_NONE)
			continue;
		table->columns[column][table->rows - 1] =
			input->screen ? row_screen_cell(input->screen, column, values[column],
							reader->name, reader->row_line)
				      : values[column];
	}
	return r;
}

static int take_rows(struct sample_input *input, size_t file, struct csv_reader *reader,
		     struct sample_table *table, struct diag *diag)
{
	size_t file_column = SAMPLE_COLUMN_NONE;
	double values[SAMPLE_COLUMNS_MAX];
	int got, r = place_columns(input, reader, table, &file_column);

	if (r == -ENOSPC)
		return diag_set(diag, r, "%.200s: with its columns there are more than 256",
				reader->name);
	while (r == 0 && (got = csv_reader_row(reader, values, diag)) != 0) {
		if (got < 0 && !input->skip_bad)
			return got;
		input->bad_rows += got < 0;
		if (got < 0)
			continue;
		if (table->rows == SAMPLE_ROWS_MAX)
			return diag_set(
				diag, -E2BIG,
				"%.200s:%llu: there are more than %u rows; take a sample of "
				"them, for example every tenth row: awk 'NR == 1 || NR %% 10 "
				"== 0' (docs/models.md)",
				reader->name, (unsigned long long)reader->row_line,
				SAMPLE_ROWS_MAX);
		r = add_row(input, reader, values, table);
		if (r == 0 && file_column != SAMPLE_COLUMN_NONE)
			table->columns[file_column][table->rows - 1] = (double)(file + 1);
	}
	return r;
}

int sample_input_take(struct sample_input *input, struct sample_table *ret, struct diag *diag)
{
	CLEANUP(sample_table_release) struct sample_table table = { .rows = 0 };
	int r = 0;

	for (size_t i = 0; r == 0 && i < input->count; i++) {
		CLEANUP(csv_reader_close) struct csv_reader reader = { .line = 0 };
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

		r = read_text(input->paths[i], &text, diag);
		if (r == 0)
			r = csv_reader_open(&reader, input->paths[i], text.data ? text.data : "",
					    text.len, diag);
		if (r == 0)
			r = take_rows(input, i, &reader, &table, diag);
	}
	if (r < 0)
		return r == -ENOMEM ? diag_set(diag, r, "out of memory") : r;
	sample_table_drop_text(&table);
	*ret = table;
	table = (struct sample_table){ 0 };
	return 0;
}

int sample_input_read(const char *path, struct sample_table *ret, struct diag *diag)
{
	CLEANUP(sample_input_release) struct sample_input input = { .count = 0 };
	int r = sample_input_add(&input, path, diag);

	return r < 0 ? r : sample_input_take(&input, ret, diag);
}
