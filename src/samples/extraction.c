// SPDX-License-Identifier: Apache-2.0
#include "samples/extraction.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"

#define USEC_PER_SEC 1e6

/* Indices of columns in the table, or SAMPLE_COLUMN_NONE. */
struct places {
	size_t feature[EXTRACT_FEATURES_MAX][2]; /* the second of the background */
	size_t frequency, node_type, steal;
	size_t power[POWER_COMPONENTS_MAX];
};

struct work {
	const struct extract_options *options;
	struct series_sums sums;
	struct extraction *result;
	struct diag *diag;
	struct places places;
	struct power_component components[POWER_COMPONENTS_MAX];
	size_t component_count;
	size_t owner_at_size; /* of result->owner_at */
	/* The step before had power; or its counters stood still after a step with power. */
	bool was_counted, stood_still;
};

static int add_column(struct sample_table *table, size_t *ret, const char *before, const char *name,
		      const char *behind)
{
	char text[SAMPLE_NAME_MAX];
	int len = snprintf(text, sizeof(text), "%s%s%s", before, name, behind);

	return len > 0 && (size_t)len < sizeof(text) ? sample_table_add_column(table, text, ret)
						     : -ENOSPC;
}

static bool is_wanted(const struct work *work, const char *name)
{
	const char *const *wanted = work->options->features;

	for (; wanted && *wanted; wanted++) {
		if (strcmp(*wanted, name) == 0)
			return true;
	}
	return !work->options->features;
}

/* Refuses series that lack a wanted feature. */
static int check_wanted(const struct work *work)
{
	for (const char *const *wanted = work->options->features; wanted && *wanted; wanted++) {
		if (sample_table_find(&work->result->table, *wanted) == SAMPLE_COLUMN_NONE)
			return diag_set(work->diag, -ENODATA, "the series have no feature %s",
					*wanted);
	}
	return 0;
}

/* A feature can have several names; the one with the lowest rank is used. */
static bool is_best(const struct work *work, size_t column)
{
	for (size_t i = 0; i < work->sums.feature_count; i++) {
		if (strcmp(work->sums.features[i].name, work->sums.features[column].name) == 0 &&
		    work->sums.features[i].rank < work->sums.features[column].rank)
			return false;
	}
	return true;
}

static int compare_columns(const void *a, const void *b)
{
	const struct feature_sums *const *first = a, *const *second = b;

	return strcmp((*first)->name, (*second)->name);
}

static int add_features(struct work *work)
{
	static const char *const before[] = { "", "background_" };
	const struct feature_sums *sorted[EXTRACT_FEATURES_MAX];
	struct sample_table *table = &work->result->table;
	size_t count = work->sums.feature_count;
	int r = 0;

	for (size_t i = 0; i < count; i++)
		sorted[i] = &work->sums.features[i];
	if (count)
		qsort(sorted, count, ARRAY_ELEMENT(sorted), compare_columns);
	for (size_t side = 0; side < ARRAY_SIZE(before); side++) {
		for (size_t n = 0; r == 0 && n < count; n++) {
			size_t i = (size_t)(sorted[n] - work->sums.features);

			work->places.feature[i][side] = SAMPLE_COLUMN_NONE;
			if (sorted[n]->amounts[side] && is_best(work, i) &&
			    is_wanted(work, sorted[n]->name))
				r = add_column(table, &work->places.feature[i][side], before[side],
					       sorted[n]->name, "");
		}
	}
	return r;
}

static int add_columns(struct work *work)
{
	struct sample_table *table = &work->result->table;
	size_t timestamp;
	int r = sample_table_add_column(table, "timestamp", &timestamp);

	if (r == 0)
		r = add_features(work);
	work->places.frequency = work->places.node_type = work->places.steal = SAMPLE_COLUMN_NONE;
	if (r == 0 && work->sums.frequency.covered &&
	    is_wanted(work, "cpu_scaling_frequency_hertz"))
		r = add_column(table, &work->places.frequency, "", "cpu_scaling_frequency_hertz",
			       "");
	if (r == 0 && work->sums.steal.covered && is_wanted(work, "cpu_steal_seconds"))
		r = add_column(table, &work->places.steal, "", "cpu_steal_seconds", "");
	if (r == 0 && work->sums.node_type.covered)
		r = add_column(table, &work->places.node_type, "", "node_type", "");
	for (size_t i = 0; r == 0 && i < work->component_count; i++)
		r = add_column(table, &work->places.power[i], "", work->components[i].name,
			       "_power");
	return r;
}

enum step_powers { POWERS_UNKNOWN, POWERS_ZERO, POWERS_KNOWN };

/* The powers of a step: none is known, all known ones are 0, or some are above 0. */
static enum step_powers find_powers(const struct work *work, size_t step,
				    double powers[static POWER_COMPONENTS_MAX])
{
	enum step_powers found = POWERS_UNKNOWN;

	for (size_t i = 0; i < work->component_count; i++) {
		powers[i] = power_accounts_watts(&work->sums.power, &work->components[i],
						 &work->sums.grid, step);
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

static void put_fact(struct work *work, size_t place, const struct feature_sums *fact, size_t step)
{
	double seconds = (double)grid_step_us(&work->sums.grid, step) / USEC_PER_SEC;

	if (place != SAMPLE_COLUMN_NONE && fact->covered[step] > 0)
		put(&work->result->table, place,
		    fact->amounts[0][step] / seconds / fact->covered[step]);
}

/* Adds a row with everything except its features. */
static int begin_row(struct work *work, size_t step, const double *powers)
{
	struct sample_table *table = &work->result->table;
	int r = sample_table_add_row(table);

	if (r < 0)
		return r;
	put(table, 0, (double)work->sums.grid.edges_us[step + 1] / USEC_PER_SEC);
	put_fact(work, work->places.frequency, &work->sums.frequency, step);
	put_fact(work, work->places.steal, &work->sums.steal, step);
	put_fact(work, work->places.node_type, &work->sums.node_type, step);
	for (size_t i = 0; i < work->component_count; i++)
		put(table, work->places.power[i], powers[i]);
	return 0;
}

static void put_features(struct work *work, size_t step)
{
	double seconds = (double)grid_step_us(&work->sums.grid, step) / USEC_PER_SEC;

	for (size_t i = 0; i < work->sums.feature_count; i++) {
		for (size_t side = 0; side < 2; side++) {
			if (work->places.feature[i][side] != SAMPLE_COLUMN_NONE)
				put(&work->result->table, work->places.feature[i][side],
				    work->sums.features[i].amounts[side][step] / seconds);
		}
	}
}

static void put_owner(struct work *work, const struct owner_sums *owner, size_t step)
{
	double seconds = (double)grid_step_us(&work->sums.grid, step) / USEC_PER_SEC;
	struct extraction *result = work->result;

	for (size_t i = 0; i < work->sums.feature_count; i++) {
		const double *amounts = owner->amounts[i];
		size_t place = work->places.feature[i][owner->background];

		put(&result->table, place, amounts ? amounts[step] / seconds : 0);
	}
	result->owner_at[result->table.rows - 1] = owner->name_at;
}

static bool ran(const struct owner_sums *owner, size_t step)
{
	for (size_t i = 0; owner->amounts && i < EXTRACT_FEATURES_MAX; i++) {
		if (owner->amounts[i] && owner->amounts[i][step] > 0)
			return true;
	}
	return false;
}

static int add_rows_by_owner(struct work *work, size_t step, const double *powers)
{
	struct extraction *result = work->result;
	int r = 0;

	for (size_t i = 0; r == 0 && i < work->sums.owner_count; i++) {
		if (!ran(&work->sums.owners[i], step))
			continue;
		r = ARRAY_RESERVE(result->owner_at, work->owner_at_size, result->table.rows + 1);
		if (r == 0)
			r = begin_row(work, step, powers);
		if (r == 0)
			put_owner(work, &work->sums.owners[i], step);
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

/* Replaces each row by the mean of it and the rows before it, except for the time. */
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

static void begin_result(struct work *work)
{
	struct extraction *result = work->result;

	result->component_count = work->component_count;
	for (size_t i = 0; i < work->component_count; i++) {
		result->components[i] =
			(struct extraction_component){ .minimum_w = (double)INFINITY,
						       .maximum_w = 0 };
		memcpy(result->components[i].name, work->components[i].name,
		       sizeof(work->components[i].name));
	}
}

/*
 * Counters that stand still for a step were not read in it, for example if the exporter's interval
 * is as long as a step. Their next increase belongs to both steps, and no row is made of it.
 */
static int add_step(struct work *work, size_t step)
{
	double powers[POWER_COMPONENTS_MAX];
	enum step_powers found = find_powers(work, step, powers);
	bool is_late = work->stood_still && found == POWERS_KNOWN;
	int r;

	work->stood_still = found == POWERS_ZERO && work->was_counted;
	work->was_counted = found == POWERS_KNOWN;
	work->result->steps_late += is_late;
	if (found != POWERS_KNOWN || is_late) {
		work->result->steps_left_out++;
		return 0;
	}
	note_powers(work->result, &work->sums.grid, step, powers, work->component_count);
	if (work->options->by_owner)
		return add_rows_by_owner(work, step, powers);
	r = begin_row(work, step, powers);
	if (r == 0)
		put_features(work, step);
	return r;
}

static int make_rows(struct work *work)
{
	int r;

	work->component_count = power_accounts_components(&work->sums.power, work->components);
	r = add_columns(work);
	if (r == 0)
		r = check_wanted(work);
	begin_result(work);
	for (size_t step = 0; r == 0 && step < grid_steps(&work->sums.grid); step++)
		r = add_step(work, step);
	if (r == 0 && !work->options->by_owner)
		r = smooth(&work->result->table, work->options->smooth);
	if (r == -ENOSPC)
		(void)diag_set(work->diag, r, "more than %d columns", SAMPLE_COLUMNS_MAX);
	return r;
}

/* The counts of the series, and the names of their owners. */
static void take_counts(struct series_sums *sums, struct extraction *ret)
{
	ret->step_us = sums->step_us;
	ret->series = sums->series;
	ret->points = sums->points;
	ret->duplicates = sums->duplicates;
	ret->implausible = sums->power.implausible;
	ret->faults = sums->faults;
	ret->owners = sums->owner_names;
	sums->owner_names = (struct strbuf)STRBUF_INIT;
}

int extraction_run(const struct extract_options *options, extract_source_fn *source, void *userdata,
		   struct extraction *ret, struct diag *diag)
{
	CLEANUP_FREE struct work *work = calloc(1, sizeof(*work));
	CLEANUP(extraction_release) struct extraction result = { .step_us = 0 };
	struct diag why = { "" };
	int r;

	if (!work)
		return diag_set(diag, -ENOMEM, "out of memory");
	work->options = options;
	work->result = &result;
	work->diag = diag ? diag : &why;
	r = series_sums_read(options, source, userdata, &work->sums, work->diag);
	if (r == 0)
		r = make_rows(work);
	if (r == 0)
		take_counts(&work->sums, &result);
	series_sums_release(&work->sums);
	if (r == -ENOMEM)
		(void)diag_set(work->diag, r, "out of memory");
	if (r < 0)
		return r;
	*ret = result;
	result = (struct extraction){ .step_us = 0 };
	return 0;
}

static int read_file(void *userdata, const struct series_sink *sink, struct diag *diag)
{
	return series_read_file(userdata, sink, diag);
}

int extraction_of_file(const struct extract_options *options, const char *path,
		       struct extraction *ret, struct diag *diag)
{
	CLEANUP_FREE char *own = strdup(path);
	struct diag why = { "" };
	int r = own ? extraction_run(options, read_file, own, ret, &why) : -ENOMEM;

	if (r < 0 && strncmp(why.text, path, strlen(path)) == 0)
		return diag_set(diag, r, "%s", why.text);
	return r < 0 ? diag_set(diag, r, "%s: %.400s", path, why.text) : 0;
}

int extraction_write_csv(const struct extraction *extraction, struct strbuf *out)
{
	const struct sample_table *table = &extraction->table;

	if (!extraction->owner_at)
		return sample_table_write_csv(table, out);
	strbuf_add_str(out, "timestamp,owner");
	for (size_t i = 1; i < table->column_count; i++) {
		strbuf_add_char(out, ',');
		strbuf_add_csv(out, table->names[i]);
	}
	for (size_t row = 0; row < table->rows; row++) {
		strbuf_add_char(out, '\n');
		sample_csv_add_number(table->columns[0][row], out);
		strbuf_add_char(out, ',');
		strbuf_add_csv(out, extraction->owners.data + extraction->owner_at[row]);
		for (size_t i = 1; i < table->column_count; i++) {
			strbuf_add_char(out, ',');
			sample_csv_add_number(table->columns[i][row], out);
		}
	}
	strbuf_add_char(out, '\n');
	return strbuf_error(out);
}

void extraction_release(struct extraction *extraction)
{
	sample_table_release(&extraction->table);
	strbuf_release(&extraction->owners);
	free(extraction->owner_at);
	*extraction = (struct extraction){ .step_us = 0 };
}
