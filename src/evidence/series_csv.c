// SPDX-License-Identifier: Apache-2.0
#include "evidence/series_csv.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"

struct csv {
	struct text_input *input;
	struct series_pick *pick;
	struct diag *diag;
	char line[SERIES_CSV_LINE_MAX];
	size_t time, value; /* columns, from 0 */
};

static const char *const time_names[] = { "time", "timestamp", "time_s", "seconds", "date" };

/* The next line that is not empty, without its end: 1, 0 at the end, or -errno. */
static int read_line(struct csv *csv)
{
	size_t len = 0;
	for (;;) {
		int c = text_input_next(csv->input);
		bool is_end = c == TEXT_INPUT_END;
		if (is_end && csv->input->error < 0)
			return text_input_fail(csv->input, csv->diag, " ");
		if ((c == '\n' || is_end) && len > 0)
			break;
		if (is_end)
			return 0;
		if (c == '\n' || c == '\r')
			continue;
		if (len + 1 == sizeof(csv->line))
			return text_input_fail(csv->input, csv->diag,
					       "the line is longer than %zu bytes",
					       sizeof(csv->line) - 1);
		csv->line[len++] = (char)(c == 0 ? '?' : c);
	}
	csv->line[len] = '\0';
	return 1;
}

/* Cuts the next cell from a line, without blanks and quotes around it; NULL at its end. */
static char *next_cell(char **at)
{
	char *cell = *at;
	if (!cell)
		return NULL;
	cell += strspn(cell, " \t");
	char *end = *cell == '"' ? strchr(cell + 1, '"') : NULL;
	if (end)
		cell++;
	else
		end = cell + strcspn(cell, ",");
	char *comma = strchr(end, ',');
	*at = comma ? comma + 1 : NULL;
	*end = '\0';
	for (char *last = end; last > cell && (last[-1] == ' ' || last[-1] == '\t'); last--)
		last[-1] = '\0';
	return cell;
}

static bool is_time_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(time_names); i++)
		if (strcasecmp(name, time_names[i]) == 0)
			return true;
	return false;
}

/* Finds the column of times, and whether a column is named exactly as the user asks. */
static void look_at_names(struct csv *csv, bool *ret_exact)
{
	char *copy = strdup(csv->line), *at = copy, *cell;
	bool has_time = false;
	csv->time = 0;
	*ret_exact = false;
	for (size_t i = 0; (cell = next_cell(&at)); i++) {
		if (!has_time && is_time_name(cell)) {
			csv->time = i;
			has_time = true;
		}
		*ret_exact |= csv->pick->words && strcmp(cell, csv->pick->words) == 0;
	}
	free(copy);
}

static int choose_columns(struct csv *csv)
{
	char *at = csv->line, *cell;
	bool has_exact;
	if (strncmp(at, "\xef\xbb\xbf", 3) == 0) /* byte order mark */
		memmove(at, at + 3, strlen(at + 3) + 1);
	look_at_names(csv, &has_exact);
	csv->value = csv->time;
	for (size_t i = 0; (cell = next_cell(&at)); i++) {
		if (i == csv->time || (has_exact && strcmp(cell, csv->pick->words) != 0))
			continue;
		int r = series_pick_begin(csv->pick, cell, "");
		if (r < 0)
			return diag_set(csv->diag, r, "out of memory");
		csv->value = r ? i : csv->value;
	}
	return 0;
}

static int read_row(struct csv *csv)
{
	double time_s = NAN, value = NAN;
	char *at = csv->line, *cell;
	size_t count = 0, last = csv->time > csv->value ? csv->time : csv->value;
	for (; count <= last && (cell = next_cell(&at)); count++) {
		if (count == csv->time)
			time_s = series_time_s(cell);
		if (count == csv->time && isnan(time_s))
			return text_input_fail(csv->input, csv->diag,
					       "column %zu must be a time in s or like "
					       "2024-11-12T04:56:06Z, not \"%.40s\"",
					       count + 1, cell);
		if (count == csv->value && !series_value(cell, &value))
			return text_input_fail(csv->input, csv->diag,
					       "column %zu must be a number, not \"%.40s\"",
					       count + 1, cell);
	}
	if (count <= last)
		return text_input_fail(csv->input, csv->diag,
				       "the line has %zu columns, %zu are needed", count, last + 1);
	int r = series_form_add(&csv->pick->form, csv->pick->series, time_s, value);
	if (r == -ENOSPC)
		return diag_set(csv->diag, r, "%s: there are gaps between most of its samples",
				csv->pick->path);
	return r < 0 ? diag_set(csv->diag, r, "out of memory") : 0;
}

int series_csv_read(struct text_input *input, struct series_pick *pick, struct diag *diag)
{
	CLEANUP_FREE struct csv *csv = calloc(1, sizeof(*csv));
	if (!csv)
		return diag_set(diag, -ENOMEM, "out of memory");
	csv->input = input;
	csv->pick = pick;
	csv->diag = diag;
	int r = read_line(csv);
	if (r > 0)
		r = choose_columns(csv);
	if (r < 0 || pick->fits != 1)
		return r;
	while ((r = read_line(csv)) > 0) {
		r = read_row(csv);
		if (r < 0)
			break;
	}
	return r;
}
