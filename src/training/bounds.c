// SPDX-License-Identifier: Apache-2.0
#include "training/bounds.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/macro.h"

#define COVERAGE   0.9
#define ROWS_RATIO 50   /* of fewer rows no ratio is found */
#define RATIO_STEP 0.02 /* ratios that are tried: up to a half */
#define RATIOS     25

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The constant that, with @ratio, makes the interval wide enough; @errors is scratch. */
static double constant_for(const double *watts, const double *predicted, size_t rows, double ratio,
			   double *errors)
{
	size_t rank = (size_t)ceil(COVERAGE * (double)(rows + 1));

	for (size_t i = 0; i < rows; i++) {
		double error = fabs(predicted[i] - watts[i]);

		errors[i] = error <= ratio * predicted[i] ? 0 : error;
	}
	qsort(errors, rows, sizeof(*errors), compare_doubles);
	return errors[(rank < rows ? rank : rows) - 1];
}

double bounds_at(const struct error_bound *bound, double predicted)
{
	return fmax(bound->bound_w, bound->bound_ratio * predicted);
}

static double mean_width(const struct error_bound *bound, const double *predicted, size_t rows)
{
	double sum = 0;

	for (size_t i = 0; i < rows; i++)
		sum += bounds_at(bound, predicted[i]);
	return sum / (double)rows;
}

int bounds_find(const double *watts, const double *predicted, size_t rows, struct error_bound *ret)
{
	CLEANUP_FREE double *errors = calloc(rows, sizeof(*errors));
	unsigned ratios = rows < ROWS_RATIO ? 1 : RATIOS;
	double narrowest = (double)INFINITY;

	if (!errors)
		return -ENOMEM;
	for (unsigned i = 0; i < ratios; i++) {
		struct error_bound bound = { .bound_ratio = i * RATIO_STEP };
		double width;

		bound.bound_w = constant_for(watts, predicted, rows, bound.bound_ratio, errors);
		/* Where it is 0 a smaller ratio would have been enough. */
		if (i > 0 && !(bound.bound_w > 0))
			break;
		width = mean_width(&bound, predicted, rows);
		if (width < narrowest) {
			narrowest = width;
			*ret = bound;
		}
	}
	return 0;
}

double bounds_coverage(const struct error_bound *bound, const double *watts,
		       const double *predicted, size_t rows)
{
	size_t inside = 0;

	for (size_t i = 0; i < rows; i++)
		inside += fabs(predicted[i] - watts[i]) <= bounds_at(bound, predicted[i]);
	return (double)inside / (double)rows;
}
