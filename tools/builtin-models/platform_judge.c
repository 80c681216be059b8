// SPDX-License-Identifier: Apache-2.0
#include "tools/builtin-models/platform_judge.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "training/random.h"

#define COVERAGE 0.9
#define DRAWS    10U

/* ---- groups ---- */

static bool are_kin(const struct platform_type *a, const struct platform_type *b,
		    enum platform_kinship kinship)
{
	if (kinship == PLATFORM_CPU)
		return strcmp(a->group, b->group) == 0;
	return kinship == PLATFORM_GENERATION && platform_same_generation(&a->facts, &b->facts);
}

uint32_t platform_groups(const struct platform_type *const *types, size_t count,
			 enum platform_kinship kinship, uint32_t *ret)
{
	uint32_t groups = 0;

	for (size_t i = 0; i < count; i++) {
		size_t first = 0;

		while (first < i && !are_kin(types[first], types[i], kinship))
			first++;
		ret[i] = first < i ? ret[first] : groups++;
	}
	return groups;
}

int platform_deal(uint32_t *group, size_t count, uint32_t groups, uint64_t seed)
{
	CLEANUP_FREE uint32_t *order = calloc(groups, sizeof(*order));
	CLEANUP_FREE uint32_t *fold = calloc(groups, sizeof(*fold));
	struct random random = { seed };

	if (!order || !fold)
		return -ENOMEM;
	random_order(&random, order, groups);
	for (uint32_t i = 0; i < groups; i++)
		fold[order[i]] = i % PLATFORM_FOLDS;
	for (size_t i = 0; i < count; i++)
		group[i] = fold[group[i]];
	return 0;
}

/* ---- errors ---- */

size_t platform_row_count(const struct platform_type *const *types, size_t count)
{
	size_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += types[i]->row_count;
	return sum;
}

/* Watts at a load 0..1: linear between levels, and never falling. */
static double watts_at(const double ln_w[static POWER_LEVELS], double load)
{
	double position = load * (POWER_LEVELS - 1), low = exp(ln_w[0]), high = low;
	size_t level = 0;

	while (level < POWER_LEVELS - 1 && (level == 0 || position >= (double)level)) {
		low = high;
		high = fmax(low, exp(ln_w[++level]));
	}
	return low + (high - low) * (position - (double)(level - 1));
}

void platform_row_watts(const struct platform_type *const *types, size_t count, const double *ln_w,
			double *ret)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t row = 0; row < types[i]->row_count; row++)
			*ret++ = watts_at(ln_w + i * POWER_LEVELS, types[i]->rows[row].load);
	}
}

static int compare_values(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare_values);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

int platform_judge(const struct platform_type *const *types, size_t count, const double *watts,
		   struct platform_errors *ret)
{
	CLEANUP_FREE double *own_w = calloc(count, sizeof(*own_w));
	CLEANUP_FREE double *own_percent = calloc(count, sizeof(*own_percent));
	struct platform_errors errors = { 0 };

	if (!own_w || !own_percent)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		double rows = (double)types[i]->row_count;

		for (size_t row = 0; row < types[i]->row_count; row++) {
			double measured = types[i]->rows[row].watts;
			double error = fabs(*watts++ - measured);

			own_w[i] += error / rows;
			own_percent[i] += 100 * error / measured / rows;
		}
		errors.mean_w += own_w[i] / (double)count;
		errors.mean_percent += own_percent[i] / (double)count;
	}
	errors.median_w = median(own_w, count);
	errors.median_percent = median(own_percent, count);
	*ret = errors;
	return 0;
}

/* ---- bounds ---- */

struct relative_error {
	size_t level; /* the nearest */
	double error; /* as a share of the prediction */
	double weight;
	size_t type;
};

static int compare_errors(const void *a, const void *b)
{
	const struct relative_error *x = a, *y = b;

	return (x->error > y->error) - (x->error < y->error);
}

/* By rising error. */
static void find_errors(const struct platform_type *const *types, size_t count, const double *watts,
			struct relative_error *ret)
{
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		for (size_t row = 0; row < types[i]->row_count; row++, at++) {
			const struct platform_row *measured = &types[i]->rows[row];

			ret[at] = (struct relative_error){
				.level = (size_t)rint(measured->load * (POWER_LEVELS - 1)),
				.error = fabs(measured->watts - watts[at]) / watts[at],
				.weight = 1 / (double)types[i]->row_count,
				.type = i,
			};
		}
	}
	qsort(ret, at, sizeof(*ret), compare_errors);
}

/*
 * At each level the error that nine of ten are up to, of the types that @uses has (NULL: all);
 * conformal: of n types, the (n + 1) × 0.9-th.
 */
static void find_bounds(const struct relative_error *errors, size_t rows, const bool *uses,
			size_t types, double ret[static POWER_LEVELS])
{
	double share = fmin(1, COVERAGE * (1 + 1 / (double)types));
	double total[POWER_LEVELS] = { 0 }, sum[POWER_LEVELS] = { 0 };
	bool found[POWER_LEVELS] = { false };

	for (size_t i = 0; i < rows; i++) {
		if (!uses || uses[errors[i].type])
			total[errors[i].level] += errors[i].weight;
	}
	for (size_t level = 0; level < POWER_LEVELS; level++)
		ret[level] = 0;
	for (size_t i = 0; i < rows; i++) {
		size_t level = errors[i].level;

		if (found[level] || (uses && !uses[errors[i].type]))
			continue;
		sum[level] += errors[i].weight;
		ret[level] = errors[i].error;
		found[level] = sum[level] >= total[level] * share;
	}
}

int platform_bounds(const struct platform_type *const *types, size_t count, const double *watts,
		    double ret[static POWER_LEVELS])
{
	size_t rows = platform_row_count(types, count);
	CLEANUP_FREE struct relative_error *errors = calloc(rows ? rows : 1, sizeof(*errors));

	if (!errors)
		return -ENOMEM;
	find_errors(types, count, watts, errors);
	find_bounds(errors, rows, NULL, count, ret);
	return 0;
}

/* Adds to @ret those rows within the bounds of @uses whose type is not in it. */
static void add_covered(const struct relative_error *errors, size_t rows, const bool *uses,
			size_t types, double *ret)
{
	double bound[POWER_LEVELS];

	find_bounds(errors, rows, uses, types, bound);
	for (size_t i = 0; i < rows; i++) {
		if (!uses[errors[i].type] && errors[i].error <= bound[errors[i].level])
			ret[errors[i].type] += errors[i].weight / DRAWS;
	}
}

int platform_coverage(const struct platform_type *const *types, size_t count, const double *watts,
		      const uint32_t *bound_group, uint32_t groups, double *ret)
{
	size_t rows = platform_row_count(types, count);
	CLEANUP_FREE struct relative_error *errors = calloc(rows ? rows : 1, sizeof(*errors));
	CLEANUP_FREE uint32_t *fold = calloc(count, sizeof(*fold));
	CLEANUP_FREE bool *uses = calloc(count, sizeof(*uses));

	if (!errors || !fold || !uses)
		return -ENOMEM;
	find_errors(types, count, watts, errors);
	memset(ret, 0, count * sizeof(*ret));
	for (uint64_t draw = 0; draw < DRAWS; draw++) {
		memcpy(fold, bound_group, count * sizeof(*fold));
		if (platform_deal(fold, count, groups, draw) < 0)
			return -ENOMEM;
		for (uint32_t half = 0; half < 2; half++) {
			size_t used = 0;

			for (size_t i = 0; i < count; i++) {
				uses[i] = fold[i] % 2 == half;
				used += uses[i];
			}
			if (used)
				add_covered(errors, rows, uses, used, ret);
		}
	}
	return 0;
}
