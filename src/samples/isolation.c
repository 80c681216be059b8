// SPDX-License-Identifier: Apache-2.0
#include "samples/isolation.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "samples/power_column.h"

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

/* Sums of rows with little load. */
struct line_sums {
	double count, load, power, load_load, load_power;
};

/* Sums over the rows, by column of power. */
struct isolation_sums {
	size_t columns[ISOLATION_COLUMNS_MAX], count;
	size_t load; /* SAMPLE_COLUMN_NONE: it does not count */
	double lowest_w[ISOLATION_COLUMNS_MAX], highest_load;
	struct line_sums idle[ISOLATION_COLUMNS_MAX], half[ISOLATION_COLUMNS_MAX];
};

static void find_columns(const struct sample_table *table, const char *load,
			 struct isolation_sums *ret)
{
	char component[SAMPLE_NAME_MAX];

	*ret = (struct isolation_sums){ .load = SAMPLE_COLUMN_NONE };
	if (load)
		ret->load = sample_table_find(table, load);
	for (size_t i = 0; i < table->column_count && ret->count < ISOLATION_COLUMNS_MAX; i++) {
		if (!power_column_component(table->names[i], component))
			continue;
		ret->lowest_w[ret->count] = (double)INFINITY;
		ret->columns[ret->count++] = i;
	}
}

static void find_ends(struct isolation_sums *sums, const struct sample_table *table)
{
	for (size_t row = 0; row < table->rows; row++) {
		for (size_t i = 0; i < sums->count; i++)
			sums->lowest_w[i] =
				fmin(sums->lowest_w[i], table->columns[sums->columns[i]][row]);
		if (sums->load != SAMPLE_COLUMN_NONE)
			sums->highest_load =
				fmax(sums->highest_load, table->columns[sums->load][row]);
	}
}

/* A row with at most @highest. */
static void add_point(struct line_sums *sums, double x, double y, double highest)
{
	if (isnan(x) || isnan(y) || x > highest)
		return;
	sums->count++;
	sums->load += x;
	sums->power += y;
	sums->load_load += x * x;
	sums->load_power += x * y;
}

static void add_up(struct isolation_sums *sums, const struct sample_table *table, size_t row)
{
	double load = table->columns[sums->load][row];

	for (size_t i = 0; i < sums->count; i++) {
		double watts = table->columns[sums->columns[i]][row];

		add_point(&sums->idle[i], load, watts, sums->highest_load * ISOLATION_IDLE_SHARE);
		add_point(&sums->half[i], load, watts, sums->highest_load / 2);
	}
}

/* Power at no load of the line through the rows; NAN: there is no line. */
static double intercept(const struct line_sums *sums)
{
	double spread = sums->count * sums->load_load - sums->load * sums->load;

	if (sums->count < 3 || !(spread > 0))
		return (double)NAN;
	return (sums->power * sums->load_load - sums->load * sums->load_power) / spread;
}

static void find_idle(const struct isolation_sums *sums, size_t i, struct isolated_power *ret)
{
	const struct line_sums *idle = &sums->idle[i];
	double lowest_w = ret->idle_w, watts;

	if (idle->count >= ISOLATION_IDLE_ROWS) {
		ret->way = ISOLATION_IDLE_ROWS_FOUND;
		ret->idle_w = fmin(idle->power / idle->count, lowest_w * 1.25);
		return;
	}
	watts = intercept(&sums->half[i]);
	if (isnan(watts))
		return;
	ret->way = ISOLATION_INTERCEPT;
	ret->idle_w = fmax(0, fmin(watts, lowest_w));
}

size_t isolation_find(const struct sample_table *table, const char *load,
		      struct isolated_power ret[static ISOLATION_COLUMNS_MAX])
{
	struct isolation_sums sums;
	size_t count = 0;

	find_columns(table, load, &sums);
	find_ends(&sums, table);
	for (size_t row = 0; sums.load != SAMPLE_COLUMN_NONE && row < table->rows; row++)
		add_up(&sums, table, row);
	for (size_t i = 0; i < sums.count; i++) {
		struct isolated_power power = { .column = sums.columns[i],
						.way = ISOLATION_MINIMUM,
						.idle_w = sums.lowest_w[i] };

		if (!isfinite(power.idle_w))
			continue;
		if (sums.load != SAMPLE_COLUMN_NONE)
			find_idle(&sums, i, &power);
		ret[count++] = power;
	}
	return count;
}

double isolation_dynamic_w(double watts, double idle_w)
{
	if (isnan(watts))
		return watts;
	return watts > idle_w ? watts - idle_w : 0;
}

void isolation_subtract(struct sample_table *table, size_t column, double watts)
{
	for (size_t i = 0; i < table->rows; i++) {
		double *cell = &table->columns[column][i];

		*cell = isolation_dynamic_w(*cell, watts);
	}
}
