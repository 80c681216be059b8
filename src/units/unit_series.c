// SPDX-License-Identifier: Apache-2.0
#include "units/unit_series.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"

#define MICRO     1e6
#define VALUE_MAX 1e12 /* so that millionths fit, and doubles have them whole up to 9e9 */

void unit_series_release(struct unit_series *series)
{
	free(series->values);
	*series = (struct unit_series){ .count = 0 };
}

void unit_series_begin(struct unit_series *series)
{
	for (size_t i = 0; i < series->count; i++)
		series->values[i].is_seen = false;
	series->seen = 0;
	series->increase_micro = 0;
}

/* Series that have disappeared make room for new ones. */
static void forget_unseen(struct unit_series *series)
{
	size_t kept = 0;

	for (size_t i = 0; i < series->count; i++) {
		if (series->values[i].is_seen)
			series->values[kept++] = series->values[i];
	}
	series->count = kept;
}

static struct unit_value *find(const struct unit_series *series, uint64_t key)
{
	for (size_t i = 0; i < series->count; i++) {
		if (series->values[i].key == key)
			return &series->values[i];
	}
	return NULL;
}

static int fail(struct unit_series *series, int error)
{
	series->has_begun = false;
	series->count = 0;
	return error;
}

/* Whole numbers are exact. */
static uint64_t micro_of(double value)
{
	double whole = floor(value);

	return (uint64_t)whole * 1000000 + (uint64_t)((value - whole) * MICRO);
}

int unit_series_add(struct unit_series *series, uint64_t key, double value)
{
	struct unit_value *known = find(series, key);
	uint64_t value_micro;

	if (!(value >= 0 && value <= VALUE_MAX))
		return fail(series, -ERANGE);
	if (known && known->is_seen)
		return fail(series, -EEXIST);
	if (!known && series->count == UNIT_SERIES_MAX)
		forget_unseen(series);
	if (!known && series->count == UNIT_SERIES_MAX)
		return fail(series, -E2BIG);
	if (!known && ARRAY_RESERVE(series->values, series->size, series->count + 1) < 0)
		return fail(series, -ENOMEM);
	value_micro = micro_of(value);
	if (!known) {
		known = &series->values[series->count++];
		*known = (struct unit_value){ .key = key };
	}
	series->increase_micro +=
		value_micro >= known->value_micro ? value_micro - known->value_micro : value_micro;
	known->value_micro = value_micro;
	known->is_seen = true;
	series->seen++;
	return 0;
}

int unit_series_end(struct unit_series *series, uint64_t *ret_increase_micro, bool *ret_is_first)
{
	if (!series->seen)
		return fail(series, -ENODATA);
	*ret_is_first = !series->has_begun;
	*ret_increase_micro = series->has_begun ? series->increase_micro : 0;
	series->has_begun = true;
	return 0;
}
