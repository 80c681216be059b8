// SPDX-License-Identifier: Apache-2.0
#include "top/now_reading.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/macro.h"
#include "base/text/json_scan.h"

static double number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static bool flag(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

static void copy_text(const json_t *object, const char *key, char *ret, size_t size)
{
	const char *text = json_string_value(json_object_get(object, key));

	(void)snprintf(ret, size, "%s", text ? text : "");
}

#define COPY_TEXT(object, key, member) copy_text(object, key, member, sizeof(member))

static uint32_t integer(const json_t *object, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

static void read_parts(const json_t *array, struct now_reading *reading)
{
	size_t count = json_array_size(array);

	for (size_t i = 0; i < count && reading->part_count < NOW_PARTS_MAX; i++) {
		const json_t *item = json_array_get(array, i);
		struct now_part *part = &reading->parts[reading->part_count++];
		char quality[16];

		COPY_TEXT(item, "zone", part->zone);
		COPY_TEXT(item, "quality", quality);
		part->is_rest = flag(item, "rest");
		part->is_estimated = strcmp(quality, "measured") != 0;
		part->watts = number(item, "watts");
	}
}

static void read_row(const json_t *item, struct now_row *row)
{
	row->pid = integer(item, "pid");
	COPY_TEXT(item, "command", row->command);
	COPY_TEXT(item, "owner", row->owner);
	row->cpu_percent = number(item, "cpu_percent");
	row->watts = number(item, "watts");
	row->joules = number(item, "joules");
	row->is_other = !row->pid && !row->owner[0] && strcmp(row->command, "other") == 0;
}

static int read_rows(const json_t *array, struct now_reading *reading)
{
	size_t count = json_array_size(array);

	if (count > NOW_ROWS_MAX)
		count = NOW_ROWS_MAX;
	reading->rows = calloc(count + 1, sizeof(*reading->rows));
	if (!reading->rows)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		read_row(json_array_get(array, i), &reading->rows[i]);
	reading->row_count = count;
	return 0;
}

/* An older exporter has none. */
static void read_rates(const json_t *object, struct now_rates *rates)
{
	rates->price_per_kwh = number(object, "price_per_kwh");
	COPY_TEXT(object, "currency", rates->currency);
	rates->carbon_g_per_kwh = number(object, "carbon_grams_per_kwh");
	COPY_TEXT(object, "carbon_kind", rates->carbon_kind);
	rates->pue = number(object, "pue");
}

static int read_root(const json_t *root, struct now_reading *reading, struct diag *diag)
{
	const json_t *rows = json_object_get(root, "rows");

	if (!json_is_array(rows) || !json_is_number(json_object_get(root, "time")))
		return diag_set(diag, -EINVAL,
				"the answer is not one of /api/v1/now: it has no rows and time");
	reading->time_s = number(root, "time");
	COPY_TEXT(root, "node", reading->node);
	COPY_TEXT(root, "version", reading->version);
	COPY_TEXT(root, "level", reading->level);
	reading->total_watts = number(root, "total_watts");
	reading->error_watts = number(root, "error_watts");
	reading->idle_watts = number(root, "idle_watts");
	reading->unattributed_watts = number(root, "unattributed_watts");
	reading->is_estimated = flag(root, "estimated");
	reading->idle_is_bound = flag(root, "idle_provisional");
	reading->is_complete = !json_is_false(json_object_get(root, "complete"));
	reading->left_out = integer(root, "left_out");
	read_rates(json_object_get(root, "rates"), &reading->rates);
	read_parts(json_object_get(root, "parts"), reading);
	return read_rows(rows, reading);
}

int now_reading_parse(const char *text, size_t len, struct now_reading *ret, struct diag *diag)
{
	struct now_reading reading = { 0 };
	json_error_t error;
	json_t *root;
	int r;

	if (json_is_too_deep(text, len))
		return diag_set(diag, -EINVAL, "the answer is nested too deeply");
	root = json_loadb(text, len, 0, &error);
	if (!root)
		return diag_set(diag, -EINVAL, "the answer is not JSON: line %d: %s", error.line,
				error.text);
	r = read_root(root, &reading, diag);
	json_decref(root);
	if (r < 0) {
		now_reading_release(&reading);
		return r;
	}
	now_reading_release(ret);
	*ret = reading;
	return 0;
}

void now_reading_release(struct now_reading *reading)
{
	free(reading->rows);
	*reading = (struct now_reading){ 0 };
}
