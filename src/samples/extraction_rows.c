// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "samples/extraction_parts.h"

#define USEC_PER_SEC 1e6
#define ALL_PACKAGES UINT32_MAX

/* Places of columns in the table, or SAMPLE_COLUMN_NONE. */
struct places {
	size_t feature[EXTRACT_FEATURES_MAX][2]; /* and of the background */
	size_t frequency, node_type, steal;
	size_t power[POWER_COMPONENTS_MAX];
	size_t package_power[POWER_COMPONENTS_MAX][POWER_PACKAGES_MAX];
	size_t ratio[EXTRACT_PACKAGES_MAX];
};

static int add_column(struct sample_table *table, size_t *ret, const char *before, const char *name,
		      const char *behind)
{
	char text[SAMPLE_NAME_MAX];
	int len = snprintf(text, sizeof(text), "%s%s%s", before, name, behind);

	return len > 0 && (size_t)len < sizeof(text) ? sample_table_add_column(table, text, ret)
						     : -ENOSPC;
}

static bool is_wanted(const struct extract_work *work, const char *name)
{
	const char *const *wanted = work->options->features;

	for (; wanted && *wanted; wanted++) {
		if (strcmp(*wanted, name) == 0)
			return true;
	}
	return !work->options->features;
}

/* Each feature that is wanted is among the columns. */
static int check_wanted(const struct extract_work *work)
{
	for (const char *const *wanted = work->options->features; wanted && *wanted; wanted++) {
		if (sample_table_find(&work->result->table, *wanted) == SAMPLE_COLUMN_NONE)
			return diag_set(work->diag, -ENODATA, "the series have no feature %s",
					*wanted);
	}
	return 0;
}

/* The name with the lowest rank, if a feature has several. */
static bool is_best(const struct extract_work *work, size_t column)
{
	for (size_t i = 0; i < work->column_count; i++) {
		if (strcmp(work->columns[i].name, work->columns[column].name) == 0 &&
		    work->columns[i].rank < work->columns[column].rank)
			return false;
	}
	return true;
}

static int compare_columns(const void *a, const void *b)
{
	const struct feature_column *const *first = a, *const *second = b;

	return strcmp((*first)->name, (*second)->name);
}

static int add_features(struct extract_work *work, struct places *places)
{
	static const char *const before[] = { "", "background_" };
	const struct feature_column *sorted[EXTRACT_FEATURES_MAX];
	struct sample_table *table = &work->result->table;
	size_t count = work->column_count;
	int r = 0;

	for (size_t i = 0; i < count; i++)
		sorted[i] = &work->columns[i];
	if (count)
		qsort(sorted, count, ARRAY_ELEMENT(sorted), compare_columns);
	for (size_t side = 0; side < ARRAY_SIZE(before); side++) {
		for (size_t n = 0; r == 0 && n < count; n++) {
			size_t i = (size_t)(sorted[n] - work->columns);

			places->feature[i][side] = SAMPLE_COLUMN_NONE;
			if (sorted[n]->amounts[side] && is_best(work, i) &&
			    is_wanted(work, sorted[n]->name))
				r = add_column(table, &places->feature[i][side], before[side],
					       sorted[n]->name, "");
		}
	}
	return r;
}

static int add_package_columns(struct extract_work *work, struct places *places,
			       const struct power_component *components, size_t count)
{
	struct sample_table *table = &work->result->table;
	char before[32];
	int r = 0;

	for (size_t i = 0; i < count; i++) {
		for (size_t p = 0; r == 0 && p < components[i].package_count; p++) {
			(void)snprintf(before, sizeof(before), "package_%u_",
				       components[i].packages[p]);
			r = add_column(table, &places->package_power[i][p], before,
				       components[i].name, "_power");
		}
	}
	for (unsigned p = 0; count && r == 0 && p < components[0].package_count; p++) {
		(void)snprintf(before, sizeof(before), "package_ratio_%u",
			       components[0].packages[p]);
		r = add_column(table, &places->ratio[p], before, "", "");
	}
	return r;
}

static int add_columns(struct extract_work *work, struct places *places,
		       const struct power_component *components, size_t count)
{
	struct sample_table *table = &work->result->table;
	size_t timestamp;
	int r = sample_table_add_column(table, "timestamp", &timestamp);

	if (r == 0)
		r = add_features(work, places);
	places->frequency = places->node_type = places->steal = SAMPLE_COLUMN_NONE;
	if (r == 0 && work->frequency.covered && is_wanted(work, "cpu_scaling_frequency_hertz"))
		r = add_column(table, &places->frequency, "", "cpu_scaling_frequency_hertz", "");
	if (r == 0 && work->steal.covered && is_wanted(work, "cpu_steal_seconds"))
		r = add_column(table, &places->steal, "", "cpu_steal_seconds", "");
	if (r == 0 && work->node_type.covered)
		r = add_column(table, &places->node_type, "", "node_type", "");
	for (size_t i = 0; r == 0 && i < count; i++)
		r = add_column(table, &places->power[i], "", components[i].name, "_power");
	if (r == 0 && work->options->by_package)
		r = add_package_columns(work, places, components, count);
	return r;
}

enum step_powers { POWERS_UNKNOWN, POWERS_ZERO, POWERS_KNOWN };

/* Powers of a step: none is known, all that are known are 0, or some are above 0. */
static enum step_powers find_powers(const struct extract_work *work,
				    const struct power_component *components, size_t count,
				    size_t step, double powers[static POWER_COMPONENTS_MAX])
{
	enum step_powers found = POWERS_UNKNOWN;

	for (size_t i = 0; i < count; i++) {
		powers[i] = power_accounts_watts(&work->power, &components[i], ALL_PACKAGES,
						 &work->grid, step);
		if (powers[i] > 0)
			found = POWERS_KNOWN;
		else if (powers[i] <= 0 && found == POWERS_UNKNOWN)
			found = POWERS_ZERO;
	}
	return found;
}

static void put(struct sample_table *table, size_t column, double value)
{
	if (column != SAMPLE_COLUMN_NONE)
		table->columns[column][table->rows - 1] = value;
}

static void put_fact(struct sample_table *table, size_t place, const struct feature_column *fact,
		     const struct sample_grid *grid, size_t step)
{
	double seconds = (double)grid_step_us(grid, step) / USEC_PER_SEC;

	if (place != SAMPLE_COLUMN_NONE && fact->covered[step] > 0)
		put(table, place, fact->amounts[0][step] / seconds / fact->covered[step]);
}

/* Shares of packages in what ran, which add up to 1; alike where nothing says them. */
static void put_ratios(struct extract_work *work, const struct places *places,
		       const struct power_component *component, size_t step)
{
	double sum = 0;

	for (size_t p = 0; p < component->package_count; p++) {
		const double *ratios = work->ratios[component->packages[p] % EXTRACT_PACKAGES_MAX];

		sum += ratios ? ratios[step] : 0;
	}
	for (size_t p = 0; p < component->package_count; p++) {
		const double *ratios = work->ratios[component->packages[p] % EXTRACT_PACKAGES_MAX];
		double own = ratios ? ratios[step] : 0;

		put(&work->result->table, places->ratio[p],
		    sum > 0 ? own / sum : 1 / (double)component->package_count);
	}
}

static void put_packages(struct extract_work *work, const struct places *places,
			 const struct power_component *components, size_t count, size_t step)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t p = 0; p < components[i].package_count; p++)
			put(&work->result->table, places->package_power[i][p],
			    power_accounts_watts(&work->power, &components[i],
						 components[i].packages[p], &work->grid, step));
	}
	if (count)
		put_ratios(work, places, &components[0], step);
}

/* All of a row but its features. */
static int begin_row(struct extract_work *work, const struct places *places,
		     const struct power_component *components, size_t count, size_t step,
		     const double *powers)
{
	struct sample_table *table = &work->result->table;
	int r = sample_table_add_row(table);

	if (r < 0)
		return r;
	put(table, 0, (double)work->grid.edges_us[step + 1] / USEC_PER_SEC);
	put_fact(table, places->frequency, &work->frequency, &work->grid, step);
	put_fact(table, places->steal, &work->steal, &work->grid, step);
	put_fact(table, places->node_type, &work->node_type, &work->grid, step);
	for (size_t i = 0; i < count; i++)
		put(table, places->power[i], powers[i]);
	if (work->options->by_package)
		put_packages(work, places, components, count, step);
	return 0;
}

static void put_features(struct extract_work *work, const struct places *places, size_t step)
{
	double seconds = (double)grid_step_us(&work->grid, step) / USEC_PER_SEC;

	for (size_t i = 0; i < work->column_count; i++) {
		for (size_t side = 0; side < 2; side++) {
			if (places->feature[i][side] != SAMPLE_COLUMN_NONE)
				put(&work->result->table, places->feature[i][side],
				    work->columns[i].amounts[side][step] / seconds);
		}
	}
}

/* Whether the owner ran in the step; a row of its own then. */
static int put_owner(struct extract_work *work, const struct places *places,
		     const struct extract_owner *owner, size_t step)
{
	double seconds = (double)grid_step_us(&work->grid, step) / USEC_PER_SEC;
	struct extraction *result = work->result;

	for (size_t i = 0; i < work->column_count; i++) {
		const double *amounts = owner->amounts[i];
		size_t place = places->feature[i][owner->background];

		put(&result->table, place, amounts ? amounts[step] / seconds : 0);
	}
	result->owner_at[result->table.rows - 1] = owner->name_at;
	return 0;
}

static bool ran(const struct extract_owner *owner, size_t step)
{
	for (size_t i = 0; owner->amounts && i < EXTRACT_FEATURES_MAX; i++) {
		if (owner->amounts[i] && owner->amounts[i][step] > 0)
			return true;
	}
	return false;
}

static int add_rows_by_owner(struct extract_work *work, const struct places *places,
			     const struct power_component *components, size_t count, size_t step,
			     const double *powers, size_t *size)
{
	struct extraction *result = work->result;
	int r = 0;

	for (size_t i = 0; r == 0 && i < work->owner_count; i++) {
		if (!ran(&work->owners[i], step))
			continue;
		r = ARRAY_RESERVE(result->owner_at, *size, result->table.rows + 1);
		if (r == 0)
			r = begin_row(work, places, components, count, step, powers);
		if (r == 0)
			r = put_owner(work, places, &work->owners[i], step);
	}
	return r;
}

static void note_powers(struct extraction *result, const struct sample_grid *grid, size_t step,
			const double *powers, size_t count)
{
	double seconds = (double)grid_step_us(grid, step) / USEC_PER_SEC;

	for (size_t i = 0; i < count; i++) {
		struct extraction_component *component = &result->components[i];

		if (isnan(powers[i]))
			continue;
		component->minimum_w = fmin(component->minimum_w, powers[i]);
		component->maximum_w = fmax(component->maximum_w, powers[i]);
		component->energy_j += powers[i] * seconds;
		component->seconds += seconds;
	}
}

/* A rolling mean over the rows before and each row, of all columns but the time. */
static int smooth(struct sample_table *table, size_t rows)
{
	CLEANUP_FREE double *mean = table->rows ? calloc(table->rows, sizeof(*mean)) : NULL;

	if (rows < 2 || table->rows < rows)
		return 0;
	if (!mean)
		return -ENOMEM;
	for (size_t c = 1; c < table->column_count; c++) {
		for (size_t i = 0; i < table->rows; i++) {
			double sum = 0;

			for (size_t back = 0; i + 1 >= rows && back < rows; back++)
				sum += table->columns[c][i - back];
			mean[i] = i + 1 >= rows ? sum / (double)rows : (double)NAN;
		}
		memcpy(table->columns[c], mean, table->rows * sizeof(*mean));
	}
	/* The first rows have no mean. */
	for (size_t c = 0; c < table->column_count; c++)
		memmove(table->columns[c], table->columns[c] + rows - 1,
			(table->rows - rows + 1) * sizeof(double));
	table->rows -= rows - 1;
	return 0;
}

static void begin_result(struct extract_work *work, const struct power_component *components,
			 size_t count)
{
	struct extraction *result = work->result;

	result->component_count = count;
	for (size_t i = 0; i < count; i++) {
		result->components[i] =
			(struct extraction_component){ .minimum_w = (double)INFINITY,
						       .maximum_w = 0 };
		memcpy(result->components[i].name, components[i].name, sizeof(components[i].name));
	}
}

/*
 * Counters that stand still for a step were not read in it, for example if the exporter's interval
 * is as long as a step. Their next increase belongs to both steps, and no row is made of it.
 */
static int add_step(struct extract_work *work, const struct places *places,
		    const struct power_component *components, size_t count, size_t step,
		    size_t *size)
{
	double powers[POWER_COMPONENTS_MAX];
	enum step_powers found = find_powers(work, components, count, step, powers);
	bool is_late = work->stood_still && found == POWERS_KNOWN;
	int r;

	work->stood_still = found == POWERS_ZERO && work->was_counted;
	work->was_counted = found == POWERS_KNOWN;
	work->result->steps_late += is_late;
	if (found != POWERS_KNOWN || is_late) {
		work->result->steps_left_out++;
		return 0;
	}
	note_powers(work->result, &work->grid, step, powers, count);
	if (work->options->by_owner)
		return add_rows_by_owner(work, places, components, count, step, powers, size);
	r = begin_row(work, places, components, count, step, powers);
	if (r == 0)
		put_features(work, places, step);
	return r;
}

int extract_rows(struct extract_work *work)
{
	struct power_component components[POWER_COMPONENTS_MAX];
	size_t count = power_accounts_components(&work->power, components);
	CLEANUP_FREE struct places *places = calloc(1, sizeof(*places));
	size_t size = 0;
	int r = places ? add_columns(work, places, components, count) : -ENOMEM;

	if (r == 0)
		r = check_wanted(work);
	begin_result(work, components, count);
	for (size_t step = 0; r == 0 && step < grid_steps(&work->grid); step++)
		r = add_step(work, places, components, count, step, &size);
	if (r == 0 && !work->options->by_owner)
		r = smooth(&work->result->table, work->options->smooth);
	if (r == -ENOSPC)
		(void)diag_set(work->diag, r, "more than %d columns", SAMPLE_COLUMNS_MAX);
	return r;
}
