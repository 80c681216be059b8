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
#include "base/utf8.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"
/* Of the hash of a text, so that a double has it exactly. */
#define HASH_SHIFT 12

enum cell_end { END_CELL, END_LINE };

/* One line, while it is read. */
struct line {
	const char *at; /* behind what was read */
	const char *begin;
	uint64_t number; /* of the line that @at is in */
	const char *number_begin;
	/* The cell: in the buffer, or where it had quotes in the scratch. */
	const char *cell;
	size_t len;
	bool is_long; /* cut */
	enum cell_end end;
};

static int refuse(const struct csv_reader *reader, const struct line *line, const char *what,
		  struct diag *diag)
{
	return diag_set(diag, -EINVAL, "%.200s:%llu:%zu: %s", reader->name,
			(unsigned long long)line->number,
			(size_t)(line->at - line->number_begin) + 1, what);
}

static struct line line_begin(const struct csv_reader *reader)
{
	return (struct line){ .at = reader->at,
			      .begin = reader->at,
			      .number = reader->line,
			      .number_begin = reader->at };
}

/* More text behind what is there: 1, 0 at the end, or an error. What @at points to moves. */
static int read_more(struct csv_reader *reader, struct diag *diag)
{
	size_t left = (size_t)(reader->end - reader->at);
	ssize_t len;

	if (reader->is_last)
		return 0;
	if (left == CSV_BUFFER_SIZE)
		return diag_set(diag, -EFBIG, "%.200s:%llu: the line has more than %u bytes",
				reader->name, (unsigned long long)reader->line, CSV_BUFFER_SIZE);
	memmove(reader->buffer, reader->at, left);
	len = reader->fill(reader->context, reader->buffer + left, CSV_BUFFER_SIZE - left, diag);
	reader->at = reader->buffer;
	reader->end = reader->buffer + left + (len > 0 ? (size_t)len : 0);
	reader->is_last = len <= 0;
	return len < 0 ? (int)len : len > 0;
}

static void take_char(struct csv_reader *reader, struct line *line, char c)
{
	if (line->len + 1 < sizeof(reader->scratch))
		reader->scratch[line->len++] = c;
	else
		line->is_long = true;
	if (c == '\n') {
		line->number++;
		line->number_begin = line->at + 1;
	}
}

/* Behind the opening quote: up to and with the closing one. -EAGAIN: it is not in the buffer. */
static int read_quoted(struct csv_reader *reader, struct line *line, struct diag *diag)
{
	const struct line opening = *line;

	line->cell = reader->scratch;
	line->len = 0;
	for (line->at++; line->at < reader->end; line->at++) {
		if (*line->at != '"') {
			take_char(reader, line, *line->at);
			continue;
		}
		if (line->at + 1 == reader->end && !reader->is_last)
			return -EAGAIN;
		line->at++;
		if (line->at == reader->end || *line->at != '"')
			return 0;
		take_char(reader, line, '"');
	}
	if (!reader->is_last)
		return -EAGAIN;
	return refuse(reader, &opening, "a quoted cell does not end; its closing quote is missing",
		      diag);
}

/* "\r\n" and "\n"; also the end of the text. */
static bool is_line_end(const struct csv_reader *reader, const char *at)
{
	return at == reader->end || *at == '\n' ||
	       (*at == '\r' && reader->end - at >= 2 && at[1] == '\n');
}

static int end_cell(const struct csv_reader *reader, struct line *line, struct diag *diag)
{
	if (line->at < reader->end && *line->at == ',') {
		line->end = END_CELL;
		line->at++;
		return 0;
	}
	if (reader->end - line->at < 2 && !reader->is_last &&
	    (line->at == reader->end || *line->at == '\r'))
		return -EAGAIN;
	if (!is_line_end(reader, line->at))
		return refuse(reader, line, "there is text after the closing quote of a cell",
			      diag);
	line->end = END_LINE;
	line->at += line->at < reader->end && *line->at == '\r';
	line->at += line->at < reader->end;
	return 0;
}

static int read_cell(struct csv_reader *reader, struct line *line, struct diag *diag)
{
	int r = 0;

	line->is_long = false;
	if (line->at < reader->end && *line->at == '"') {
		r = read_quoted(reader, line, diag);
	} else {
		line->cell = line->at;
		while (!is_line_end(reader, line->at) && *line->at != ',')
			line->at++;
		line->len = (size_t)(line->at - line->cell);
		if (line->len >= SAMPLE_NAME_MAX) {
			line->len = SAMPLE_NAME_MAX - 1;
			line->is_long = true;
		}
	}
	return r < 0 ? r : end_cell(reader, line, diag);
}

/* Ends the line: the reader stands behind it. */
static void line_finish(struct csv_reader *reader, const struct line *line)
{
	reader->at = line->at;
	reader->line = line->number + 1;
}

/* 1: there is a line that is not empty; 0: the end. */
static int skip_empty_lines(struct csv_reader *reader, struct diag *diag)
{
	for (;;) {
		if (reader->end - reader->at < 2 && !reader->is_last) {
			int r = read_more(reader, diag);

			if (r < 0)
				return r;
			continue;
		}
		if (reader->at == reader->end)
			return 0;
		if (!is_line_end(reader, reader->at))
			return 1;
		reader->at += *reader->at == '\r' ? 2 : 1;
		reader->line++;
	}
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
			(unsigned long long)reader->line, what, name);
}

static int add_name(struct csv_reader *reader, const struct line *line, struct diag *diag)
{
	char *name = reader->names[reader->count];

	if (reader->count == SAMPLE_COLUMNS_MAX)
		return refuse_names(reader, -ENOSPC, "there are more than 256 columns", "", diag);
	if (line->is_long)
		return refuse_names(reader, -EINVAL, "the name of a column has more than 95 bytes",
				    "", diag);
	if (reader->count == 0 && memchr(line->cell, '\t', line->len))
		return refuse_names(reader, -EINVAL,
				    "the columns must be separated by commas, "
				    "not by tabs",
				    "", diag);
	if (!is_name(line->cell, line->len))
		return refuse_names(reader, -EINVAL,
				    "the name of a column has control characters or is not UTF-8",
				    "", diag);
	memcpy(name, line->cell, line->len);
	name[line->len] = '\0';
	if (*name && csv_reader_find(reader, name) != SAMPLE_COLUMN_NONE)
		return refuse_names(reader, -EINVAL, "two columns are named ", name, diag);
	reader->place[reader->count++] = SAMPLE_COLUMN_NONE;
	return 0;
}

static int try_names(struct csv_reader *reader, struct diag *diag)
{
	struct line line = line_begin(reader);
	int r;

	reader->count = 0;
	do {
		r = read_cell(reader, &line, diag);
		if (r == 0)
			r = add_name(reader, &line, diag);
	} while (r == 0 && line.end == END_CELL);
	if (r == 0)
		line_finish(reader, &line);
	return r;
}

/* Files of other programs that are taken for CSV, by their first bytes. */
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
	return 1;
}

/* A single column whose name has semicolons, which are not in quotes: commas were meant. */
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
	bool quoted;
	int r = 1;

	while (r > 0 && !reader->is_last && (size_t)(reader->end - reader->at) < mark)
		r = read_more(reader, diag);
	if ((size_t)(reader->end - reader->at) >= mark &&
	    memcmp(reader->at, BYTE_ORDER_MARK, mark) == 0)
		reader->at += mark;
	if (r >= 0)
		r = refuse_other_formats(reader, diag);
	if (r >= 0)
		r = skip_empty_lines(reader, diag);
	if (r == 0) {
		reader->line = 1;
		return refuse_names(reader, -EINVAL,
				    "it is empty; the first line names the columns", "", diag);
	}
	quoted = r > 0 && *reader->at == '"';
	while (r > 0) {
		r = try_names(reader, diag);
		if (r == -EAGAIN)
			r = read_more(reader, diag) < 0 ? -EINVAL : 1;
	}
	return r < 0 ? r : check_separator(reader, quoted, diag);
}

int csv_reader_open(struct csv_reader *reader, const char *name, const char *text, size_t size,
		    csv_fill *fill, void *context, struct diag *diag)
{
	int r;

	*reader = (struct csv_reader){ .line = 1, .fill = fill, .context = context };
	(void)snprintf(reader->name, sizeof(reader->name), "%s", name);
	reader->text_column = SAMPLE_COLUMN_NONE;
	reader->names = calloc(SAMPLE_COLUMNS_MAX + 1, sizeof(*reader->names));
	reader->place = calloc(SAMPLE_COLUMNS_MAX + 1, sizeof(*reader->place));
	reader->buffer = text ? NULL : calloc(1, CSV_BUFFER_SIZE);
	reader->at = reader->end = text ? text : reader->buffer;
	reader->is_last = text != NULL;
	if (text)
		reader->end = text + size;
	if (!reader->names || !reader->place || !reader->at)
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
	free(reader->buffer);
	*reader = (struct csv_reader){ .line = 0 };
}

static double value_of(struct csv_reader *reader, const struct line *line, size_t column)
{
	char text[SAMPLE_NAME_MAX];
	double value;

	memcpy(text, line->cell, line->len);
	text[line->len] = '\0';
	if (column == reader->text_column)
		memcpy(reader->text, text, line->len + 1);
	if (!line->is_long && strlen(text) == line->len && parse_double(text, &value) == 0)
		return value;
	if (column != reader->text_column || line->len == 0)
		return (double)NAN;
	return (double)(hash64_bytes(HASH64_START, line->cell, line->len) >> HASH_SHIFT);
}

/* Takes a line's cells; -EAGAIN: it does not end in the buffer. */
static int try_row(struct csv_reader *reader, struct line *line, double *values, struct diag *diag)
{
	size_t cell = 0;

	do {
		int r = read_cell(reader, line, diag);

		if (r < 0)
			return r;
		if (cell < reader->count && reader->place[cell] != SAMPLE_COLUMN_NONE)
			values[reader->place[cell]] = value_of(reader, line, cell);
		cell++;
	} while (line->end == END_CELL);
	if (cell == reader->count)
		return 0;
	return diag_set(diag, -EINVAL,
			"%.200s:%llu:%zu: this line has %zu cells, the first one has %zu",
			reader->name, (unsigned long long)reader->line,
			(size_t)(line->at - line->begin), cell, reader->count);
}

/* Goes on behind the first end of a line. */
static int skip_line(struct csv_reader *reader, struct diag *diag)
{
	const char *found;

	while (!(found = memchr(reader->at, '\n', (size_t)(reader->end - reader->at)))) {
		int r;

		reader->at = reader->end;
		r = read_more(reader, diag);
		if (r <= 0)
			return r;
	}
	reader->at = found + 1;
	reader->line++;
	return 0;
}

int csv_reader_row(struct csv_reader *reader, double *values, struct diag *diag)
{
	struct diag after = { "" };
	int r = skip_empty_lines(reader, diag);

	while (r > 0) {
		struct line line = line_begin(reader);

		reader->row_line = line.number;
		r = try_row(reader, &line, values, diag);
		if (r == 0) {
			line_finish(reader, &line);
			return 1;
		}
		if (r != -EAGAIN) {
			int skipped = skip_line(reader, &after);

			return skipped < 0 ? diag_set(diag, skipped, "%s", after.text) : r;
		}
		r = read_more(reader, diag);
		/* At the end the line is read once more, as the last one. */
		r = r < 0 ? r : 1;
	}
	return r;
}
