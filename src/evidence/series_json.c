// SPDX-License-Identifier: Apache-2.0
#include "evidence/series_json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "evidence/json_pull.h"

struct reading {
	struct json_pull json, times; /* @times reads the artifacts' "timestamps" */
	bool has_times;
	struct series_pick *pick;
	struct diag *diag;
	char name[SERIES_TEXT_MAX]; /* metric with labels, of the current object */
	char query[SERIES_TEXT_MAX];
};

static int next(struct reading *reading)
{
	return json_pull_next(&reading->json, reading->diag);
}

static int unexpected(struct reading *reading, const char *what)
{
	return text_input_fail(reading->json.input, reading->diag, "%s", what);
}

/* The labels of a series, as Prometheus writes them: name{label="value",…}. */
static int read_metric(struct reading *reading)
{
	CLEANUP(strbuf_release) struct strbuf labels = STRBUF_INIT;
	char metric[SERIES_TEXT_MAX] = "", label[SERIES_TEXT_MAX];
	int token;

	while ((token = next(reading)) == JSON_KEY) {
		json_pull_copy(&reading->json, label, sizeof(label));
		token = next(reading);
		if (token < 0)
			return token;
		if (token != JSON_TEXT)
			return unexpected(reading, "the value of a label must be a text");
		if (strcmp(label, "__name__") == 0) {
			json_pull_copy(&reading->json, metric, sizeof(metric));
			continue;
		}
		strbuf_addf(&labels, "%s%s=\"%s\"", labels.len > 0 ? "," : "", label,
			    reading->json.text);
	}
	if (token < 0)
		return token;
	if (strbuf_error(&labels) < 0)
		return diag_set(reading->diag, -ENOMEM, "out of memory");
	(void)snprintf(reading->name, sizeof(reading->name), labels.len > 0 ? "%s{%s}" : "%s",
		       metric, labels.len > 0 ? labels.data : "");
	return 0;
}

/* Reads a time or a value; @token is the current token. */
static int read_number(struct json_pull *json, int token, bool is_time, double *ret,
		       struct diag *diag)
{
	if (token < 0)
		return token;
	bool is_one = token == JSON_NUMERAL || token == JSON_TEXT;
	if (is_time && is_one) {
		*ret = series_time_s(json->text);
		is_one = !isnan(*ret);
	} else if (token == JSON_WORD && strcmp(json->text, "null") == 0) {
		*ret = NAN;
		is_one = !is_time;
	} else if (is_one) {
		is_one = series_value(json->text, ret);
	}
	if (is_one)
		return 0;
	return text_input_fail(json->input, diag, "must be a %s, not \"%.40s\"",
			       is_time ? "time" : "number", json->text);
}

static int add_sample(struct reading *reading, double time_s, double value)
{
	struct series_pick *pick = reading->pick;
	int r = series_form_add(&pick->form, pick->series, time_s, value);
	if (r == -ENOSPC)
		return diag_set(reading->diag, r, "%s: there are gaps between most of its samples",
				pick->path);
	return r < 0 ? diag_set(reading->diag, r, "out of memory") : 0;
}

/* The rest of "values": [[time, value], …] after the first bracket inside. */
static int read_points(struct reading *reading, bool is_wanted)
{
	int token = JSON_ARRAY_BEGIN;
	double time_s = 0, value = 0;
	while (token == JSON_ARRAY_BEGIN) {
		int r = read_number(&reading->json, next(reading), true, &time_s, reading->diag);
		if (r == 0)
			r = read_number(&reading->json, next(reading), false, &value,
					reading->diag);
		if (r == 0 && is_wanted)
			r = add_sample(reading, time_s, value);
		if (r < 0)
			return r;
		token = next(reading);
		if (token >= 0 && token != JSON_ARRAY_END)
			return unexpected(reading, "a point must be a time and a value");
		if (token >= 0)
			token = next(reading);
	}
	if (token < 0)
		return token;
	return token == JSON_ARRAY_END ? 0 : unexpected(reading, "a point must be an array");
}

/* Moves the reader of times into the next array "timestamps". */
static int find_times(struct reading *reading)
{
	if (!reading->has_times)
		return diag_set(reading->diag, -ESPIPE,
				"%s: has times and values apart, so it is read twice: name a file",
				reading->pick->path);
	for (;;) {
		int token = json_pull_next(&reading->times, reading->diag);
		if (token < 0)
			return token;
		if (token == JSON_END)
			return unexpected(reading, "there are values without \"timestamps\"");
		if (token != JSON_KEY || strcmp(reading->times.text, "timestamps") != 0)
			continue;
		token = json_pull_next(&reading->times, reading->diag);
		if (token == JSON_ARRAY_BEGIN || token < 0)
			return token < 0 ? token : 0;
	}
}

/* The rest of "values": [value, …]; @token is the first one inside. */
static int read_values(struct reading *reading, int token, bool is_wanted)
{
	double time_s = 0, value = 0;
	int r = find_times(reading);
	while (r == 0) {
		int time_token = json_pull_next(&reading->times, reading->diag);
		if (time_token < 0 || token < 0)
			return time_token < 0 ? time_token : token;
		if (time_token == JSON_ARRAY_END && token == JSON_ARRAY_END)
			return 0;
		if (time_token == JSON_ARRAY_END || token == JSON_ARRAY_END)
			return unexpected(reading, "\"timestamps\" and \"values\" have different "
						   "lengths");
		r = read_number(&reading->times, time_token, true, &time_s, reading->diag);
		if (r == 0)
			r = read_number(&reading->json, token, false, &value, reading->diag);
		if (r == 0 && is_wanted)
			r = add_sample(reading, time_s, value);
		token = r == 0 ? next(reading) : r;
	}
	return r;
}

static int read_series(struct reading *reading)
{
	int token = next(reading);
	if (token < 0 || token == JSON_ARRAY_END)
		return token < 0 ? token : 0;
	int wanted = series_pick_begin(reading->pick, reading->name, reading->query);
	if (wanted < 0)
		return diag_set(reading->diag, wanted, "out of memory");
	return token == JSON_ARRAY_BEGIN ? read_points(reading, wanted)
					 : read_values(reading, token, wanted);
}

/* A member that means something, wherever it is; others are only walked through. */
static int read_member(struct reading *reading)
{
	bool is_metric = strcmp(reading->json.text, "metric") == 0;
	bool is_query = strcmp(reading->json.text, "query") == 0;
	bool is_values = strcmp(reading->json.text, "values") == 0;
	int token = next(reading);
	if (token < 0)
		return token;
	if (is_metric && token == JSON_OBJECT_BEGIN)
		return read_metric(reading);
	if (is_values && token == JSON_ARRAY_BEGIN)
		return read_series(reading);
	if (is_query && token == JSON_TEXT)
		json_pull_copy(&reading->json, reading->query, sizeof(reading->query));
	return 0;
}

int series_json_read(struct text_input *input, struct text_input *again, struct series_pick *pick,
		     struct diag *diag)
{
	struct reading *reading = calloc(1, sizeof(*reading));
	if (!reading)
		return diag_set(diag, -ENOMEM, "out of memory");
	reading->pick = pick;
	reading->diag = diag;
	reading->has_times = again != NULL;
	json_pull_begin(&reading->json, input);
	if (again)
		json_pull_begin(&reading->times, again);
	int r = 0, token = 0;
	while (r == 0 && (token = next(reading)) > JSON_END)
		r = token == JSON_KEY ? read_member(reading) : 0;
	free(reading);
	return r < 0 ? r : token;
}
