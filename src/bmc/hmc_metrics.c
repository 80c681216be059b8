// SPDX-License-Identifier: Apache-2.0
#include "bmc/hmc_metrics.h"

#include <math.h>
#include <string.h>

#include "base/num.h"
#include "bmc/answer_object.h"

#define POWER_COLUMN "power-consumption-watts"
#define WATTS_MAX    1e6 /* more than some racks draw */
#define UW_PER_W     1e6
#define VALUE_MAX    32 /* characters of a number */

/* ---- the context ---- */

static int find_column(const json_t *columns)
{
	for (size_t i = 0; i < json_array_size(columns); i++) {
		const json_t *column = json_array_get(columns, i);

		if (strcmp(answer_text(column, "metric-name"), POWER_COLUMN) == 0)
			return (int)i;
	}
	return -1;
}

bool hmc_context_read(const json_t *answer, const char *partition_group, struct hmc_context *ret)
{
	const json_t *groups = json_object_get(answer, "metric-group-infos");

	*ret = (struct hmc_context){ .cpc_column = -1, .partition_column = -1 };
	hmc_path_take(answer_text(answer, "metrics-context-uri"), &ret->path);
	for (size_t i = 0; i < json_array_size(groups); i++) {
		const json_t *group = json_array_get(groups, i);
		const char *name = answer_text(group, "group-name");
		int column = find_column(json_object_get(group, "metric-infos"));

		if (strcmp(name, HMC_GROUP_POWER) == 0)
			ret->cpc_column = column;
		else if (strcmp(name, partition_group) == 0)
			ret->partition_column = column;
	}
	return ret->path.text[0] != '\0';
}

/* ---- values ---- */

/* A text that is left to be read, by lines. */
struct lines {
	const char *at, *end;
};

struct line {
	const char *text;
	size_t len;
};

/* False at the end. A line without its end is one as well. */
static bool next_line(struct lines *lines, struct line *ret)
{
	const char *newline;

	if (lines->at == lines->end)
		return false;
	newline = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
	ret->text = lines->at;
	ret->len = (size_t)((newline ? newline : lines->end) - lines->at);
	lines->at = newline ? newline + 1 : lines->end;
	if (ret->len && ret->text[ret->len - 1] == '\r')
		ret->len--;
	return true;
}

/* Returns true if it is @text in double quotes, or without. */
static bool says(const struct line *line, const char *text)
{
	size_t len = strlen(text), quote = line->len == len + 2 ? 1 : 0;

	if (line->len != len + 2 * quote ||
	    (quote && (line->text[0] != '"' || line->text[len + 1] != '"')))
		return false;
	return memcmp(line->text + quote, text, len) == 0;
}

/* The value in @column of a row; strings are in double quotes, in which \ stands before ". */
static bool find_value(const struct line *row, int column, char ret[VALUE_MAX])
{
	size_t len = 0;
	bool quoted = false;

	for (size_t i = 0; i < row->len && column >= 0; i++) {
		char c = row->text[i];

		if (c == '"')
			quoted = !quoted;
		else if (c == '\\' && quoted)
			i++;
		if (c == ',' && !quoted) {
			column--;
		} else if (column == 0) {
			if (len + 1 == VALUE_MAX)
				return false;
			ret[len++] = c;
		}
	}
	ret[len] = '\0';
	return column <= 0 && len;
}

static bool read_power(const struct line *row, int column, uint64_t *ret_uw)
{
	char value[VALUE_MAX];
	double watts;

	if (!find_value(row, column, value) || parse_double(value, &watts) < 0 ||
	    !(watts > 0 && watts <= WATTS_MAX))
		return false;
	*ret_uw = (uint64_t)llround(watts * UW_PER_W);
	return *ret_uw > 0;
}

/* One object: its time, its rows and the empty line after them. False: it has no power. */
static bool read_object(struct lines *lines, int column, struct hmc_sample *ret)
{
	struct hmc_sample sample = { 0, 0 };
	struct line line;
	bool has_power = false;

	if (!next_line(lines, &line) || parse_u64(line.text, line.len, &sample.time_ms) < 0)
		return false;
	if (next_line(lines, &line))
		has_power = read_power(&line, column, &sample.power_uw);
	while (line.len && next_line(lines, &line))
		;
	if (has_power)
		*ret = sample;
	return has_power;
}

bool hmc_metrics_find(const char *text, size_t len, const char *group, const char *object,
		      int column, struct hmc_sample *ret)
{
	struct lines lines = { text, text + len };
	struct hmc_sample other;
	struct line line;

	if (column < 0)
		return false;
	while (next_line(&lines, &line)) {
		bool is_group = says(&line, group);

		while (line.len && next_line(&lines, &line) && line.len) {
			bool is_object = is_group && says(&line, object);
			bool has_power = read_object(&lines, column, is_object ? ret : &other);

			if (is_object)
				return has_power;
		}
	}
	return false;
}
