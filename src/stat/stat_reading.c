// SPDX-License-Identifier: Apache-2.0
#include "stat/stat_reading.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/text/json_scan.h"

static double number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static double known(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static uint32_t integer(const json_t *object, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* An exporter that does not report it has no late meters that it knows of. */
static uint64_t time_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) && json_integer_value(value) >= 0
		       ? (uint64_t)json_integer_value(value)
		       : UINT64_MAX;
}

static bool flag(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

static void copy_text(const json_t *object, const char *key, char *ret, size_t size)
{
	const char *text = json_string_value(json_object_get(object, key));

	(void)snprintf(ret, size, "%s", text ? text : "");
	for (char *c = ret; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	}
}

#define COPY_TEXT(object, key, member) copy_text(object, key, member, sizeof(member))

static void read_zones(const json_t *array, struct stat_reading *ret)
{
	for (size_t i = 0; i < json_array_size(array) && ret->zone_count < STAT_ZONES_MAX; i++) {
		const json_t *item = json_array_get(array, i);
		struct stat_zone *zone = &ret->zones[ret->zone_count++];
		char quality[16];

		COPY_TEXT(item, "zone", zone->zone);
		COPY_TEXT(item, "mode", zone->mode);
		COPY_TEXT(item, "source", zone->source);
		COPY_TEXT(item, "quality", quality);
		zone->is_estimated = strcmp(quality, "measured") != 0;
		zone->is_idle = strcmp(zone->mode, "idle") == 0;
		zone->is_of_node = flag(item, "of_node");
		zone->in_total = flag(item, "in_total");
		zone->is_late = flag(item, "late");
		zone->read_ns = time_of(item, "read_ns");
		zone->joules = number(item, "joules");
		zone->error_joules = number(item, "error_joules");
	}
}

static int by_joules(const void *a, const void *b)
{
	const struct stat_command *x = a, *y = b;

	if (x->joules < y->joules || x->joules > y->joules)
		return x->joules < y->joules ? 1 : -1;
	if (x->cpu_seconds < y->cpu_seconds || x->cpu_seconds > y->cpu_seconds)
		return x->cpu_seconds < y->cpu_seconds ? 1 : -1;
	return strcmp(x->command, y->command);
}

static void read_commands(const json_t *array, struct stat_reading *ret)
{
	size_t count = json_array_size(array);

	for (size_t i = 0; i < count && ret->command_count < STAT_COMMANDS_MAX; i++) {
		const json_t *item = json_array_get(array, i);
		struct stat_command *command = &ret->commands[ret->command_count++];

		COPY_TEXT(item, "command", command->command);
		command->joules = number(item, "joules");
		command->cpu_seconds = number(item, "cpu_seconds");
		command->processes = integer(item, "processes");
	}
	qsort(ret->commands, ret->command_count, sizeof(*ret->commands), by_joules);
}

static void read_left(const json_t *array, struct stat_reading *ret)
{
	for (size_t i = 0; i < json_array_size(array) && ret->left_named < STAT_LEFT_MAX; i++) {
		const json_t *item = json_array_get(array, i);

		ret->left[ret->left_named].pid = integer(item, "pid");
		COPY_TEXT(item, "command", ret->left[ret->left_named].command);
		ret->left_named++;
	}
}

static void read_rates(const json_t *rates, struct stat_rates *ret)
{
	ret->price_per_kwh = known(rates, "price_per_kwh");
	COPY_TEXT(rates, "currency", ret->currency);
	ret->carbon_g_per_kwh = known(rates, "carbon_grams_per_kwh");
	COPY_TEXT(rates, "carbon_kind", ret->carbon_kind);
	ret->pue = known(rates, "pue");
}

int stat_reading_parse(const char *text, size_t len, struct stat_reading *ret, struct diag *diag)
{
	json_error_t error;
	json_t *root = NULL;
	const json_t *zones;

	if (!json_is_too_deep(text, len))
		root = json_loadb(text, len, 0, &error);
	zones = json_object_get(root, "zones");
	if (!json_is_array(zones)) {
		json_decref(root);
		return diag_set(diag, -EINVAL,
				"the answer is not one of " STAT_PAGE_PATH ": it has no zones");
	}
	*ret = (struct stat_reading){
		.cpu_seconds = number(root, "cpu_seconds"),
		.processes = integer(root, "processes"),
		.short_processes = integer(root, "short_processes"),
		.missed = integer(root, "missed"),
		.left_count = integer(root, "left_count"),
	};
	read_zones(zones, ret);
	read_commands(json_object_get(root, "commands"), ret);
	read_left(json_object_get(root, "left"), ret);
	read_rates(json_object_get(root, "rates"), &ret->rates);
	json_decref(root);
	return 0;
}

double stat_reading_joules(const struct stat_reading *reading, bool with_idle)
{
	double sum = 0;

	for (size_t i = 0; i < reading->zone_count; i++) {
		const struct stat_zone *zone = &reading->zones[i];

		if (zone->in_total && (with_idle || !zone->is_idle))
			sum += zone->joules;
	}
	return sum;
}

double stat_reading_error(const struct stat_reading *reading)
{
	double sum = 0;

	for (size_t i = 0; i < reading->zone_count; i++) {
		if (reading->zones[i].in_total)
			sum += reading->zones[i].error_joules;
	}
	return sum;
}

bool stat_reading_is_estimated(const struct stat_reading *reading)
{
	bool any = false;

	for (size_t i = 0; i < reading->zone_count; i++)
		any |= reading->zones[i].in_total && reading->zones[i].is_estimated;
	return any;
}

bool stat_reading_is_behind(const struct stat_reading *reading, uint64_t time_ns,
			    uint64_t patience_ns)
{
	for (size_t i = 0; i < reading->zone_count; i++) {
		const struct stat_zone *zone = &reading->zones[i];

		if (zone->in_total && zone->read_ns < time_ns &&
		    time_ns - zone->read_ns <= patience_ns)
			return true;
	}
	return false;
}

void stat_reading_mark_late(struct stat_reading *reading, uint64_t time_ns)
{
	for (size_t i = 0; i < reading->zone_count; i++)
		reading->zones[i].is_late |= reading->zones[i].read_ns < time_ns;
}
