// SPDX-License-Identifier: Apache-2.0
#include "evidence/published_report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/num.h"
#include "evidence/json_pull.h"

struct reading {
	struct json_pull json;
	struct published item;
	bool has_errors;
	char name[RESULT_NAME_MAX]; /* of "metric-name" */
	struct published_report *ret;
	struct diag *diag;
};

/* Reads a number as these reports write it: inf is a value, nan means that there is no value. */
static int take_number(struct reading *reading, double *ret)
{
	static const char *const infinite[] = { "Infinity", "inf", "Inf", "+Inf" };
	const char *text = reading->json.text;
	for (size_t i = 0; i < ARRAY_SIZE(infinite); i++) {
		if (strcmp(text, infinite[i]) == 0) {
			*ret = INFINITY;
			return 0;
		}
	}
	if (strcasecmp(text, "nan") == 0)
		return 0;
	if (parse_double(text, ret) < 0)
		return text_input_fail(reading->json.input, reading->diag,
				       "must be a number, not \"%.40s\"", text);
	reading->has_errors = true;
	return 0;
}

static int take_member(struct reading *reading, const char *key, int token)
{
	struct published *item = &reading->item;
	bool is_scalar = token == JSON_TEXT || token == JSON_NUMERAL;
	if (token == JSON_OBJECT_BEGIN) {
		bool is_value = strcmp(key, "value") == 0;
		*item = (struct published){ .mse = NAN, .mae = NAN, .mape = NAN };
		(void)snprintf(item->name, sizeof(item->name), "%s",
			       is_value ? reading->name : key);
		reading->has_errors = false;
	}
	if (!is_scalar)
		return 0;
	if (strcmp(key, "metric-name") == 0)
		json_pull_copy(&reading->json, reading->name, sizeof(reading->name));
	if (strcmp(key, "status") == 0)
		json_pull_copy(&reading->json, item->status, sizeof(item->status));
	if (strcmp(key, "mse") == 0)
		return take_number(reading, &item->mse);
	if (strcmp(key, "mae") == 0)
		return take_number(reading, &item->mae);
	return strcmp(key, "mape") == 0 ? take_number(reading, &item->mape) : 0;
}

static int finish_item(struct reading *reading)
{
	struct published_report *report = reading->ret;
	if (!reading->has_errors)
		return 0;
	reading->has_errors = false;
	if (report->count == PUBLISHED_MAX)
		return text_input_fail(reading->json.input, reading->diag, "more than %d results",
				       PUBLISHED_MAX);
	if (ARRAY_RESERVE(report->items, report->size, report->count + 1) < 0)
		return diag_set(reading->diag, -ENOMEM, "out of memory");
	report->items[report->count++] = reading->item;
	return 0;
}

static int read_report(struct reading *reading, struct text_input *input)
{
	char key[RESULT_NAME_MAX] = "";
	int r = 0, token = 0;
	json_pull_begin(&reading->json, input);
	while (r == 0 && (token = json_pull_next(&reading->json, reading->diag)) > JSON_END) {
		if (token == JSON_OBJECT_END)
			r = finish_item(reading);
		if (token != JSON_KEY)
			continue;
		json_pull_copy(&reading->json, key, sizeof(key));
		token = json_pull_next(&reading->json, reading->diag);
		r = token < 0 ? token : take_member(reading, key, token);
	}
	if (r == 0)
		r = token;
	if (r == 0 && reading->ret->count == 0)
		r = diag_set(reading->diag, -ENOENT,
			     "%s: contains no results with \"mse\", \"mape\" or \"mae\"",
			     input->name);
	return r;
}

int published_report_read_input(struct text_input *input, struct published_report *ret,
				struct diag *diag)
{
	CLEANUP_FREE struct reading *reading = calloc(1, sizeof(*reading));
	*ret = (struct published_report){ 0 };
	if (!reading)
		return diag_set(diag, -ENOMEM, "out of memory");
	reading->item = (struct published){ .mse = NAN, .mae = NAN, .mape = NAN };
	reading->ret = ret;
	reading->diag = diag;
	return read_report(reading, input);
}

int published_report_read(const char *path, struct published_report *ret, struct diag *diag)
{
	CLEANUP_FREE struct text_input *input = calloc(1, sizeof(*input));
	*ret = (struct published_report){ 0 };
	if (!input)
		return diag_set(diag, -ENOMEM, "out of memory");
	int r = text_input_open(input, path, diag);
	if (r == 0)
		r = published_report_read_input(input, ret, diag);
	text_input_close(input);
	return r;
}

void published_report_release(struct published_report *report)
{
	free(report->items);
	*report = (struct published_report){ 0 };
}
