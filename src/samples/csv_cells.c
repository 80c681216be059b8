// SPDX-License-Identifier: Apache-2.0
#include "samples/csv_cells.h"

#include <errno.h>
#include <string.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

void csv_cells_start(struct csv_cells *csv, const char *name, const char *text, size_t size,
		     struct diag *diag)
{
	*csv = (struct csv_cells){ .name = name, .at = text, .end = text + size, .diag = diag };
	csv->line = csv->next_line = 1;
	if (size >= strlen(BYTE_ORDER_MARK) &&
	    memcmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0)
		csv->at += strlen(BYTE_ORDER_MARK);
}

int csv_cells_refuse(const struct csv_cells *csv, int err, const char *what)
{
	return diag_set(csv->diag, err, "%.200s:%zu: %s", csv->name, csv->line, what);
}

static void take_char(struct csv_cells *csv, size_t *len, char c)
{
	if (*len + 1 < sizeof(csv->cell))
		csv->cell[(*len)++] = c ? c : '\1'; /* neither a number nor a name has either */
	else
		csv->is_long = true;
	csv->next_line += c == '\n';
}

/* Behind the opening quote: up to and with the closing one. */
static int read_quoted(struct csv_cells *csv, size_t *len)
{
	for (; csv->at < csv->end; csv->at++) {
		if (*csv->at != '"') {
			take_char(csv, len, *csv->at);
			continue;
		}
		csv->at++;
		if (csv->at == csv->end || *csv->at != '"')
			return 0;
		take_char(csv, len, '"');
	}
	return csv_cells_refuse(csv, -EINVAL,
				"a quoted cell does not end; its closing quote is missing");
}

static int end_cell(struct csv_cells *csv)
{
	if (csv->end - csv->at >= 2 && csv->at[0] == '\r' && csv->at[1] == '\n')
		csv->at++;
	if (csv->at == csv->end) {
		csv->cell_end = CSV_END_TEXT;
		return 0;
	}
	if (*csv->at != ',' && *csv->at != '\n')
		return csv_cells_refuse(csv, -EINVAL,
					"there is text behind the closing quote of a cell");
	csv->cell_end = *csv->at == ',' ? CSV_END_CELL : CSV_END_LINE;
	csv->next_line += *csv->at == '\n';
	csv->at++;
	return 0;
}

static bool is_at_end_of_line(const struct csv_cells *csv)
{
	return csv->at == csv->end || *csv->at == '\n' ||
	       (*csv->at == '\r' && csv->end - csv->at >= 2 && csv->at[1] == '\n');
}

int csv_cells_read(struct csv_cells *csv)
{
	size_t len = 0;
	int r = 0;

	csv->is_long = false;
	csv->line = csv->next_line;
	if (csv->at < csv->end && *csv->at == '"') {
		csv->at++;
		r = read_quoted(csv, &len);
	} else {
		for (; !is_at_end_of_line(csv) && *csv->at != ','; csv->at++)
			take_char(csv, &len, *csv->at);
	}
	csv->cell[len] = '\0';
	return r < 0 ? r : end_cell(csv);
}

static bool skip_empty_line(struct csv_cells *csv)
{
	if (csv->at == csv->end || !is_at_end_of_line(csv))
		return false;
	csv->at += *csv->at == '\r' ? 2 : 1;
	csv->next_line++;
	return true;
}

bool csv_cells_find_line(struct csv_cells *csv)
{
	while (skip_empty_line(csv))
		;
	return csv->at < csv->end;
}
