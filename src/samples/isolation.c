// SPDX-License-Identifier: Apache-2.0
#include "samples/isolation.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

static bool is_power(const char *name)
{
	static const char end[] = "_power";
	size_t len = strlen(name);

	return len > sizeof(end) - 1 && strcmp(name + len - (sizeof(end) - 1), end) == 0;
}

const char *isolation_load(const struct sample_table *table)
{
	static const char *const names[] = { "bpf_cpu_time_ms", "bpf_cpu_time_us", "cpu_cycles",
					     "cpu_instructions", "cgroupfs_cpu_usage_us" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (sample_table_find(table, names[i]) != SAMPLE_COLUMN_NONE)
			return names[i];
	}
	return NULL;
}

static double minimum_of(const struct sample_table *table, size_t column)
{
	double lowest = (double)INFINITY;

	for (size_t i = 0; i < table->rows; i++)
		lowest = fmin(lowest, table->columns[column][i]);
	return lowest;
}

static double maximum_of(const struct sample_table *table, size_t column)
{
	double highest = 0;

	for (size_t i = 0; i < table->rows; i++)
		highest = fmax(highest, table->columns[column][i]);
	return highest;
}

/* Sums of rows with at most this load. */
struct line_sums {
	double count, load, power, load_load, load_power;
};

static struct line_sums add_up(const struct sample_table *table, size_t load, size_t power,
			       double highest)
{
	struct line_sums sums = { 0 };

	for (size_t i = 0; i < table->rows; i++) {
		double x = table->columns[load][i], y = table->columns[power][i];

		if (isnan(x) || isnan(y) || x > highest)
			continue;
		sums.count++;
		sums.load += x;
		sums.power += y;
		sums.load_load += x * x;
		sums.load_power += x * y;
	}
	return sums;
}

/* Power at no load of the line through rows with at most @highest; NAN where there is none. */
static double intercept(const struct sample_table *table, size_t load, size_t power, double highest)
{
	struct line_sums sums = add_up(table, load, power, highest);
	double spread = sums.count * sums.load_load - sums.load * sums.load;

	if (sums.count < 3 || !(spread > 0))
		return (double)NAN;
	return (sums.power * sums.load_load - sums.load * sums.load_power) / spread;
}

static void find_idle(const struct sample_table *table, size_t load, struct isolated_power *ret)
{
	double highest = maximum_of(table, load), lowest_w = ret->idle_w, watts;
	struct line_sums idle = add_up(table, load, ret->column, highest * ISOLATION_IDLE_SHARE);

	if (idle.count >= ISOLATION_IDLE_ROWS) {
		ret->way = ISOLATION_IDLE_ROWS_FOUND;
		ret->idle_w = fmin(idle.power / idle.count, lowest_w * 1.25);
		return;
	}
	watts = intercept(table, load, ret->column, highest / 2);
	if (isnan(watts))
		return;
	ret->way = ISOLATION_INTERCEPT;
	ret->idle_w = fmax(0, fmin(watts, lowest_w));
}

size_t isolation_find(const struct sample_table *table, const char *load,
		      struct isolated_power ret[static ISOLATION_COLUMNS_MAX])
{
	size_t by = load ? sample_table_find(table, load) : SAMPLE_COLUMN_NONE;
	size_t count = 0;

	for (size_t i = 0; i < table->column_count && count < ISOLATION_COLUMNS_MAX; i++) {
		struct isolated_power power = { .column = i, .way = ISOLATION_MINIMUM };

		if (!is_power(table->names[i]))
			continue;
		power.idle_w = minimum_of(table, i);
		if (!isfinite(power.idle_w))
			continue;
		if (by != SAMPLE_COLUMN_NONE)
			find_idle(table, by, &power);
		ret[count++] = power;
	}
	return count;
}

void isolation_subtract(struct sample_table *table, size_t column, double watts)
{
	for (size_t i = 0; i < table->rows; i++) {
		double *cell = &table->columns[column][i];

		if (!isnan(*cell))
			*cell = *cell > watts ? *cell - watts : 0;
	}
}
