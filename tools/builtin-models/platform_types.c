// SPDX-License-Identifier: Apache-2.0
#include "tools/builtin-models/platform_types.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"

#define LEVEL_SLACK 0.35 /* of the distance of two levels: rows further off are of no level */

/* Years of processors whose names have no model, as their frequencies and cores suggest. */
static const struct {
	const char *processor;
	unsigned year;
} years[] = { { "amd_epyc", 2023 }, { "intel_xeon", 2005 } };

/* ---- rows ---- */

static unsigned year_of(const char *processor, const struct cpu_name *cpu)
{
	for (size_t i = 0; !cpu->year && i < ARRAY_SIZE(years); i++) {
		if (strcmp(years[i].processor, processor) == 0)
			return years[i].year;
	}
	return cpu->year;
}

static const char *vendor_of(const char *processor)
{
	if (strstr(processor, "amd"))
		return "amd";
	return strstr(processor, "ampere") ? "arm" : "intel";
}

static int set_facts(struct platform_type *type, const struct platform_measurement *row,
		     struct diag *diag)
{
	struct machine_facts *facts = &type->facts;

	cpu_name_read(row->processor, &facts->cpu);
	facts->cores = (unsigned)lround(row->cores);
	facts->sockets = (unsigned)lround(row->sockets);
	facts->memory_gib = row->memory_gib;
	facts->frequency_ghz = row->frequency_mhz / 1000;
	facts->year = year_of(row->processor, &facts->cpu);
	(void)snprintf(facts->vendor, sizeof(facts->vendor), "%s", vendor_of(row->processor));
	if (!facts->cores || !facts->sockets)
		return diag_set(diag, -EINVAL, "a machine has less than one core or socket");
	if (!facts->year)
		return diag_set(diag, -EINVAL,
				"the year of the processor \"%.60s\" is not known: "
				"src/model/processor/cpu_name.c needs its family",
				row->processor);
	if (facts->cpu.key[0])
		(void)snprintf(type->group, sizeof(type->group), "%s", facts->cpu.key);
	else
		(void)snprintf(type->group, sizeof(type->group), "%.40s %g", row->processor,
			       facts->frequency_ghz);
	return 0;
}

/* NULL: out of memory, or as set_facts() has it. */
static struct platform_type *find_type(struct platform_types *types,
				       const struct platform_measurement *row, struct diag *diag)
{
	struct platform_type type = { .number = row->type };

	for (size_t i = types->count; i > 0; i--) {
		if (types->types[i - 1].number == row->type)
			return &types->types[i - 1];
	}
	if (ARRAY_RESERVE(types->types, types->size, types->count + 1) < 0) {
		(void)diag_set(diag, -ENOMEM, "out of memory");
		return NULL;
	}
	if (set_facts(&type, row, diag) < 0)
		return NULL;
	types->types[types->count] = type;
	return &types->types[types->count++];
}

int platform_types_add(struct platform_types *types, const struct platform_measurement *row,
		       struct diag *diag)
{
	struct platform_type *type = find_type(types, row, diag);

	if (!type)
		return -EINVAL;
	if (ARRAY_RESERVE(type->rows, type->row_size, type->row_count + 1) < 0)
		return diag_set(diag, -ENOMEM, "out of memory");
	type->rows[type->row_count++] = (struct platform_row){ row->cpu_time_ms, row->watts };
	types->row_count++;
	return 0;
}

void platform_types_release(struct platform_types *types)
{
	for (size_t i = 0; i < types->count; i++)
		free(types->types[i].rows);
	free(types->types);
	*types = (struct platform_types){ 0 };
}

/* ---- levels ---- */

static int compare_rows(const void *a, const void *b)
{
	const struct platform_row *x = a, *y = b;

	if (x->load < y->load || x->load > y->load)
		return x->load < y->load ? -1 : 1;
	return (x->watts > y->watts) - (x->watts < y->watts);
}

static int compare_types(const void *a, const void *b)
{
	const struct platform_type *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* How far the rows are from even levels if the last one is @level. */
static double misfit(const struct platform_type *type, double level)
{
	double last = type->rows[type->row_count - 1].load, sum = (1 - level) * 0.5;

	for (size_t i = 0; i < type->row_count; i++) {
		double at = type->rows[i].load / last * level * (POWER_LEVELS - 1);

		sum += fabs(at - rint(at));
	}
	return sum;
}

/*
 * CPU time at full load. It is linear in the level of load, so that levels are evenly spaced: where
 * a type has one result only and the rows at its top are missing, the spacing shows it.
 */
static double full_load(const struct platform_type *type)
{
	static const double tops[] = { 1, 0.9, 0.8 };
	double last = type->rows[type->row_count - 1].load, best = tops[0];

	if (type->row_count > POWER_LEVELS)
		return last;
	for (size_t i = 1; i < ARRAY_SIZE(tops); i++)
		best = misfit(type, tops[i]) < misfit(type, best) ? tops[i] : best;
	return last / best;
}

/* The power at full load of a type without such rows, along its last two loads. */
static double extrapolate(const struct platform_type *type)
{
	const struct platform_row *b = &type->rows[type->row_count - 1], *a = b - 1;

	while (!(a->load < b->load))
		a--;
	return b->watts + (b->watts - a->watts) / (b->load - a->load) * (1 - b->load);
}

static void find_levels(struct platform_type *type)
{
	double sum[POWER_LEVELS] = { 0 }, full = full_load(type);
	size_t count[POWER_LEVELS] = { 0 };

	for (size_t i = 0; i < type->row_count; i++) {
		double at;
		size_t level;

		type->rows[i].load = fmin(1, type->rows[i].load / full);
		at = type->rows[i].load * (POWER_LEVELS - 1);
		level = (size_t)rint(at);
		if (fabs(at - rint(at)) < LEVEL_SLACK) {
			sum[level] += log(type->rows[i].watts);
			count[level]++;
		}
	}
	type->results = fmax(1, (double)type->row_count / POWER_LEVELS);
	for (size_t level = 0; level < POWER_LEVELS; level++)
		type->ln_w[level] = count[level] ? sum[level] / (double)count[level] : (double)NAN;
	if (isnan(type->ln_w[POWER_LEVELS - 1]))
		type->ln_w[POWER_LEVELS - 1] = log(extrapolate(type));
}

/* The mean curve, from full load on: 0, or -EINVAL. */
static int find_typical(const struct platform_types *types, double ret[static POWER_LEVELS],
			struct diag *diag)
{
	for (size_t level = 0; level < POWER_LEVELS; level++) {
		double sum = 0;
		size_t count = 0;

		for (size_t i = 0; i < types->count; i++) {
			const double *ln_w = types->types[i].ln_w;

			if (isnan(ln_w[level]))
				continue;
			sum += ln_w[level] - ln_w[POWER_LEVELS - 1];
			count++;
		}
		if (!count)
			return diag_set(diag, -EINVAL, "no machine has rows at %zu %% of its load",
					level * 10);
		ret[level] = sum / (double)count;
	}
	return 0;
}

/*
 * A level without rows is on the mean curve, moved to the type's nearest levels. The last level is
 * known.
 */
static void fill_levels(struct platform_type *type, const double typical[static POWER_LEVELS])
{
	size_t before = POWER_LEVELS; /* the last known level */

	for (size_t level = 0; level < POWER_LEVELS; level++) {
		size_t next = level;
		double high, low;

		while (isnan(type->ln_w[next]))
			next++;
		if (next == level) {
			before = level;
			continue;
		}
		high = type->ln_w[next] - typical[next];
		low = before < POWER_LEVELS ? type->ln_w[before] - typical[before] : high;
		if (before < POWER_LEVELS)
			low += (high - low) * (double)(level - before) / (double)(next - before);
		type->ln_w[level] = typical[level] + low;
		before = level; /* it is on the line to the next one */
	}
}

int platform_types_finish(struct platform_types *types, struct diag *diag)
{
	double typical[POWER_LEVELS] = { 0 };
	int r;

	if (!types->count)
		return diag_set(diag, -EINVAL, "there are no rows");
	qsort(types->types, types->count, sizeof(*types->types), compare_types);
	for (size_t i = 0; i < types->count; i++) {
		struct platform_type *type = &types->types[i];

		qsort(type->rows, type->row_count, sizeof(*type->rows), compare_rows);
		if (!(type->rows[0].load < type->rows[type->row_count - 1].load))
			return diag_set(diag, -EINVAL, "node type %u has rows of one load only",
					type->number);
		find_levels(type);
		if (!isfinite(type->ln_w[POWER_LEVELS - 1]))
			return diag_set(diag, -EINVAL,
					"node type %u has no rows near full load, and its power "
					"falls below 0 there by those that it has",
					type->number);
	}
	r = find_typical(types, typical, diag);
	for (size_t i = 0; r == 0 && i < types->count; i++)
		fill_levels(&types->types[i], typical);
	return r;
}
