// SPDX-License-Identifier: Apache-2.0
#include "rates/rate_answer.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/macro.h"
#include "base/num.h"
#include "base/text/json_scan.h"

#define NUMBER_MAX 64 /* characters of a number, and of a time */

/* The next step of the path in @step; false: there is none, or it is empty or too long. */
static bool next_step(const char **path, char step[RATE_PATH_MAX])
{
	size_t len = strcspn(*path, ".");

	if (len == 0 || len >= RATE_PATH_MAX)
		return false;
	memcpy(step, *path, len);
	step[len] = '\0';
	*path += len;
	if (**path == '.' && (*path)[1] != '\0')
		(*path)++;
	return true;
}

int rate_path_check(const char *path, struct diag *diag)
{
	const char *left = path;
	char step[RATE_PATH_MAX];

	while (*left && next_step(&left, step))
		;
	if (*left || !*path)
		return diag_set(diag, -EINVAL,
				"must be keys and indexes separated by dots, as in "
				"data.0.value, not \"%.60s\"",
				path);
	return 0;
}

static const json_t *step_into(const json_t *value, const char *step)
{
	size_t index = 0;

	if (json_is_object(value))
		return json_object_get(value, step);
	if (!json_is_array(value) || !*step || strlen(step) > 6)
		return NULL;
	for (; isdigit((unsigned char)*step); step++)
		index = index * 10 + (size_t)(*step - '0');
	return *step ? NULL : json_array_get(value, index);
}

static int read_value(const json_t *value, double *ret)
{
	if (json_is_number(value)) {
		*ret = json_number_value(value);
		return isfinite(*ret) ? 0 : -EINVAL;
	}
	return json_is_string(value) && json_string_length(value) < NUMBER_MAX
		       ? parse_double(json_string_value(value), ret)
		       : -EINVAL;
}

static void json_put(json_t **value)
{
	json_decref(*value);
}

/* The value at @path in @text; *ret_root owns it. */
static int find_value(const char *text, size_t len, const char *path, json_t **ret_root,
		      const json_t **ret, struct diag *diag)
{
	json_error_t error;
	const char *left = path;
	char step[RATE_PATH_MAX];

	if (len > RATE_ANSWER_MAX)
		return diag_set(diag, -EINVAL, "the answer has %zu bytes, more than %d", len,
				RATE_ANSWER_MAX);
	if (json_is_too_deep(text, len))
		return diag_set(diag, -EINVAL, "the answer is nested more than %d deep",
				JSON_DEPTH_MAX);
	*ret_root = json_loadb(text, len, JSON_DECODE_ANY, &error);
	if (!*ret_root)
		return diag_set(diag, -EINVAL, "the answer is not JSON: line %d: %.100s",
				error.line, error.text);
	*ret = *ret_root;
	while (*left) {
		if (!next_step(&left, step))
			return rate_path_check(path, diag);
		*ret = step_into(*ret, step);
		if (!*ret)
			return diag_set(diag, -EINVAL, "the answer has nothing at %s of %s", step,
					path);
	}
	return 0;
}

int rate_answer_json(const char *text, size_t len, const char *path, double *ret, struct diag *diag)
{
	CLEANUP(json_put) json_t *root = NULL;
	const json_t *value = NULL;
	int r = find_value(text, len, path, &root, &value, diag);

	if (r == 0 && read_value(value, ret) < 0)
		r = diag_set(diag, -EINVAL, "the answer has no number at %s", path);
	return r;
}

int rate_answer_text(const char *text, size_t len, const char *path, char **ret, struct diag *diag)
{
	CLEANUP(json_put) json_t *root = NULL;
	const json_t *value = NULL;
	int r = find_value(text, len, path, &root, &value, diag);

	if (r == 0 && !json_is_string(value))
		r = diag_set(diag, -EINVAL, "the answer has no text at %s", path);
	if (r < 0)
		return r;
	*ret = strdup(json_string_value(value));
	return *ret ? 0 : -ENOMEM;
}

/* "2026-11-29T13:00:00Z", or with "+01:00". */
static int read_time(const char *text, int64_t *ret)
{
	struct tm tm = { 0 };
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	int hours, minutes;

	if (!end)
		return -EINVAL;
	*ret = timegm(&tm);
	if (strcmp(end, "Z") == 0)
		return 0;
	if ((*end != '+' && *end != '-') || strlen(end) != 6 || end[3] != ':')
		return -EINVAL;
	for (int i = 1; i < 6; i++) {
		if (i != 3 && !isdigit((unsigned char)end[i]))
			return -EINVAL;
	}
	hours = (end[1] - '0') * 10 + end[2] - '0';
	minutes = (end[4] - '0') * 10 + end[5] - '0';
	*ret -= (*end == '+' ? 1 : -1) * (hours * 3600 + minutes * 60);
	return 0;
}

/* A line without blanks around it. */
static int read_line(char *line, struct rate_reading *ret)
{
	char *comma = strchr(line, ',');

	ret->since_s = INT64_MIN;
	if (!comma)
		return parse_double(line, &ret->value);
	*comma = '\0';
	return read_time(line, &ret->since_s) < 0 || parse_double(comma + 1, &ret->value) < 0
		       ? -EINVAL
		       : 0;
}

/*
 * The next line of @text in @line, without blanks; false: the end. A line that is too long is made
 * invalid, so that no number is read in part.
 */
static bool next_line(const char **text, char line[NUMBER_MAX])
{
	size_t len = strcspn(*text, "\n"), used = 0;

	if (!**text)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (isspace((unsigned char)(*text)[i]))
			continue;
		if (used == NUMBER_MAX - 1) {
			line[0] = '?';
			break;
		}
		line[used++] = (*text)[i];
	}
	line[used] = '\0';
	*text += len + ((*text)[len] == '\n');
	return true;
}

int rate_answer_file(const char *text, int64_t now_s, struct rate_reading *ret, struct diag *diag)
{
	int64_t last_s = INT64_MIN;
	bool is_first = true, is_table = true, found = false;
	char line[NUMBER_MAX];

	for (unsigned number = 1; next_line(&text, line); number++) {
		struct rate_reading reading;

		if (!line[0] || line[0] == '#' || (number == 1 && isalpha((unsigned char)line[0])))
			continue;
		if (read_line(line, &reading) < 0 || !is_table ||
		    (reading.since_s == INT64_MIN && !is_first))
			return diag_set(diag, -EINVAL,
					"line %u: must be a number alone, or TIME,VALUE as in "
					"2026-11-29T13:00:00Z,312.5",
					number);
		if (reading.since_s < last_s)
			return diag_set(diag, -EINVAL, "line %u: is earlier than the line before",
					number);
		is_first = false;
		is_table = reading.since_s != INT64_MIN;
		last_s = reading.since_s;
		if (reading.since_s <= now_s) {
			*ret = reading;
			found = true;
		}
	}
	return found ? 0 : diag_set(diag, -ENODATA, "has no line whose time is now or earlier");
}
