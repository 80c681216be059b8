// SPDX-License-Identifier: Apache-2.0
#include "samples/csv_reader.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/macro.h"
#include "base/num.h"
#include "base/text/utf8.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"
/* Bits of the hash of a text that are dropped, so that a double holds the rest exactly. */
#define HASH_SHIFT 12

/* The cell that was read last. */
struct cell {
	const char *text; /* in the file, or if it had quotes in the scratch */
	size_t len;
	bool is_long; /* it was cut */
	bool is_last; /* of its line */
};

static int refuse(const struct csv_reader *reader, const char *at, uint64_t line, const char *what,
		  struct diag *diag)
{
	const char *begin = at;

	while (begin > reader->begin && begin[-1] != '\n')
		begin--;
	return diag_set(diag, -EINVAL, "%.200s:%llu:%zu: %s", reader->name,
			(unsigned long long)line, (size_t)(at - begin) + 1, what);
}

static void take_char(struct csv_reader *reader, struct cell *cell, char c)
{
	if (cell->len + 1 < sizeof(reader->scratch))
		reader->scratch[cell->len++] = c;
	else
		cell->is_long = true;
	reader->line += c == '\n';
}

/* From the opening quote to the closing one. */
static int read_quoted(struct csv_reader *reader, struct cell *cell, struct diag *diag)
{
	const char *opening = reader->at;
	uint64_t line = reader->line;

	cell->text = reader->scratch;
	cell->len = 0;
	for (reader->at++; reader->at < reader->end; reader->at++) {
		if (*reader->at != '"') {
			take_char(reader, cell, *reader->at);
			continue;
		}
		reader->at++;
		if (reader->at == reader->end || *reader->at != '"')
			return 0;
		take_char(reader, cell, '"');
	}
	return refuse(reader, opening, line,
		      "a quoted cell does not end; its closing quote is missing", diag);
}

/* "\r\n" and "\n"; also the end of the text. */
static bool is_line_end(const struct csv_reader *reader)
{
	const char *at = reader->at;

	return at == reader->end || *at == '\n' ||
	       (*at == '\r' && reader->end - at >= 2 && at[1] == '\n');
}

/* After the end of a line. */
static void take_line_end(struct csv_reader *reader)
{
	reader->at += reader->at < reader->end && *reader->at == '\r';
	reader->at += reader->at < reader->end;
	reader->line++;
}

static int read_cell(struct csv_reader *reader, struct cell *cell, struct diag *diag)
{
	int r = 0;

	*cell = (struct cell){ .text = reader->at };
	if (reader->at < reader->end && *reader->at == '"') {
		r = read_quoted(reader, cell, diag);
	} else {
		while (!is_line_end(reader) && *reader->at != ',')
			reader->at++;
		cell->len = (size_t)(reader->at - cell->text);
		cell->is_long = cell->len >= SAMPLE_NAME_MAX;
		if (cell->is_long)
			cell->len = SAMPLE_NAME_MAX - 1;
	}
	if (r < 0)
		return r;
	cell->is_last = is_line_end(reader);
	if (cell->is_last)
		take_line_end(reader);
	else if (*reader->at == ',')
		reader->at++;
	else
		return refuse(reader, reader->at, reader->line,
			      "there is text after the closing quote of a cell", diag);
	return 0;
}

/* false: the text ends. */
static bool skip_empty_lines(struct csv_reader *reader)
{
	while (reader->at < reader->end && is_line_end(reader))
		take_line_end(reader);
	return reader->at < reader->end;
}

static bool is_name(const char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t step = utf8_char_len(text + i, len - i);

		if (step == 0 || (unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return false;
		i += step;
	}
	return true;
}

size_t csv_reader_find(const struct csv_reader *reader, const char *name)
{
	for (size_t i = 0; i < reader->count; i++) {
		if (strcmp(reader->names[i], name) == 0)
			return i;
	}
	return SAMPLE_COLUMN_NONE;
}

static int refuse_names(const struct csv_reader *reader, int err, const char *what,
			const char *name, struct diag *diag)
{
	return diag_set(diag, err, "%.200s:%llu: %s%s", reader->name,
			(unsigned long long)reader->row_line, what, name);
}

static int add_name(struct csv_reader *reader, const struct cell *cell, struct diag *diag)
{
	char *name = reader->names[reader->count];

	if (reader->count == SAMPLE_COLUMNS_MAX)
		return refuse_names(reader, -ENOSPC, "there are more than 256 columns", "", diag);
	if (cell->is_long)
		return refuse_names(reader, -EINVAL, "the name of a column has more than 95 bytes",
				    "", diag);
	if (reader->count == 0 && memchr(cell->text, '\t', cell->len))
		return refuse_names(reader, -EINVAL,
				    "the columns must be separated by commas, "
				    "not by tabs",
				    "", diag);
	if (!is_name(cell->text, cell->len))
		return refuse_names(reader, -EINVAL,
				    "the name of a column has control characters or is not UTF-8",
				    "", diag);
	memcpy(name, cell->text, cell->len);
	name[cell->len] = '\0';
	if (*name && csv_reader_find(reader, name) != SAMPLE_COLUMN_NONE)
		return refuse_names(reader, -EINVAL, "two columns are named ", name, diag);
	reader->place[reader->count++] = SAMPLE_COLUMN_NONE;
	return 0;
}

/* Files that users have instead of CSV, by their first bytes. */
static const struct {
	const char *begin;
	const char *advice;
} other_formats[] = {
	{ "PAR1",
	  "it is Parquet; write it as CSV: duckdb -c \"COPY (FROM 'FILE') TO 'rows.csv'\"" },
	{ "ARROW1", "it is an Arrow file; write it as CSV" },
	{ "FEA1", "it is a Feather file; write it as CSV" },
	{ "\x80\x04", "it is a pickle; write the frame with to_csv(\"rows.csv\")" },
	{ "\x80\x05", "it is a pickle; write the frame with to_csv(\"rows.csv\")" },
	{ "PK\x03\x04", "it is a zip archive, or a spreadsheet; write the rows as CSV" },
	{ "SQLite format 3", "it is an SQLite database; write the rows as CSV" },
	{ "\x28\xb5\x2f\xfd", "it is compressed by zstd; unpack it: zstd -d FILE" },
	{ "\x89HDF", "it is an HDF5 file; write the rows as CSV" },
};

static int refuse_other_formats(const struct csv_reader *reader, struct diag *diag)
{
	size_t len = (size_t)(reader->end - reader->at);

	for (size_t i = 0; i < ARRAY_SIZE(other_formats); i++) {
		size_t size = strlen(other_formats[i].begin);

		if (len >= size && memcmp(reader->at, other_formats[i].begin, size) == 0)
			return diag_set(diag, -EINVAL, "%.200s: %s", reader->name,
					other_formats[i].advice);
	}
	return 0;
}

/* A single column with unquoted semicolons in its name: commas were meant. */
static int check_separator(const struct csv_reader *reader, bool quoted, struct diag *diag)
{
	if (!quoted && reader->count == 1 && strchr(reader->names[0], ';'))
		return diag_set(diag, -EINVAL,
				"%.200s: the columns must be separated by commas, not by "
				"semicolons",
				reader->name);
	return 0;
}

static int read_names(struct csv_reader *reader, struct diag *diag)
{
	const size_t mark = strlen(BYTE_ORDER_MARK);
	struct cell cell = { .is_last = false };
	bool quoted;
	int r;

	if ((size_t)(reader->end - reader->at) >= mark &&
	    memcmp(reader->at, BYTE_ORDER_MARK, mark) == 0)
		reader->at += mark;
	r = refuse_other_formats(reader, diag);
	if (r < 0)
		return r;
	if (!skip_empty_lines(reader)) {
		reader->row_line = 1;
		return refuse_names(reader, -EINVAL,
				    "it is empty; the first line names the columns", "", diag);
	}
	quoted = *reader->at == '"';
	reader->row_line = reader->line;
	while (r == 0 && !cell.is_last) {
		r = read_cell(reader, &cell, diag);
		if (r == 0)
			r = add_name(reader, &cell, diag);
	}
	return r < 0 ? r : check_separator(reader, quoted, diag);
}

int csv_reader_open(struct csv_reader *reader, const char *name, const char *text, size_t size,
		    struct diag *diag)
{
	int r;

	*reader = (struct csv_reader){ .line = 1, .begin = text, .at = text, .end = text + size };
	(void)snprintf(reader->name, sizeof(reader->name), "%s", name);
	reader->text_column = SAMPLE_COLUMN_NONE;
	reader->names = calloc(SAMPLE_COLUMNS_MAX + 1, sizeof(*reader->names));
	reader->place = calloc(SAMPLE_COLUMNS_MAX + 1, sizeof(*reader->place));
	if (!reader->names || !reader->place)
		r = diag_set(diag, -ENOMEM, "%.200s: out of memory", name);
	else
		r = read_names(reader, diag);
	if (r < 0)
		csv_reader_close(reader);
	return r;
}

void csv_reader_close(struct csv_reader *reader)
{
	free(reader->names);
	free(reader->place);
	*reader = (struct csv_reader){ .line = 0 };
}

static double value_of(struct csv_reader *reader, const struct cell *cell, size_t column)
{
	char text[SAMPLE_NAME_MAX];
	double value;

	memcpy(text, cell->text, cell->len);
	text[cell->len] = '\0';
	if (column == reader->text_column)
		memcpy(reader->text, text, cell->len + 1);
	if (!cell->is_long && strlen(text) == cell->len && parse_double(text, &value) == 0)
		return value;
	if (column != reader->text_column || cell->len == 0)
		return (double)NAN;
	return (double)(hash64_bytes(HASH64_START, cell->text, cell->len) >> HASH_SHIFT);
}

static int read_cells(struct csv_reader *reader, double *values, struct diag *diag)
{
	const char *begin = reader->at;
	struct cell cell = { .is_last = false };
	size_t count = 0;

	while (!cell.is_last) {
		int r = read_cell(reader, &cell, diag);

		if (r < 0)
			return r;
		if (count < reader->count && reader->place[count] != SAMPLE_COLUMN_NONE)
			values[reader->place[count]] = value_of(reader, &cell, count);
		count++;
	}
	if (count == reader->count)
		return 1;
	return diag_set(diag, -EINVAL,
			"%.200s:%llu:%zu: this line has %zu cells, the first one has %zu",
			reader->name, (unsigned long long)reader->row_line,
			(size_t)(reader->at - begin), count, reader->count);
}

int csv_reader_row(struct csv_reader *reader, double *values, struct diag *diag)
{
	const char *begin, *newline;
	int r;

	if (!skip_empty_lines(reader))
		return 0;
	begin = reader->at;
	reader->row_line = reader->line;
	r = read_cells(reader, values, diag);
	if (r > 0)
		return r;
	/* The next row begins after the first end of a line, even if that is in quotes. */
	newline = memchr(begin, '\n', (size_t)(reader->end - begin));
	reader->at = newline ? newline + 1 : reader->end;
	reader->line = reader->row_line + 1;
	return r;
}
