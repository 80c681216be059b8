// SPDX-License-Identifier: Apache-2.0
#include "training/bounds.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/macro.h"
#include "base/num.h"

#define COVERAGE   0.9
#define ROWS_RATIO 50  /* of fewer rows no ratio is found */
#define RATIO_MAX  0.5 /* ratios that are tried, in steps, and near the last one in finer ones */
#define RATIO_STEP 0.02
#define STEP_LEAST 0.002
#define LEAST      0.01 /* of the mean prediction: no width is compared below its own */

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

/* The logarithm of the geometric mean; a prediction below @least counts as that. */
static double mean_width(const struct error_bound *bound, const double *predicted, size_t rows,
			 double least)
{
	double sum = 0;

	for (size_t i = 0; i < rows; i++)
		sum += log(bounds_at(bound, fmax(predicted[i], least)));
	return sum / (double)rows;
}

static double mean(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum / (double)count;
}

int bounds_find(const double *watts, const double *predicted, size_t rows, struct error_bound *ret)
{
	CLEANUP_FREE double *errors = calloc(rows, sizeof(*errors));
	double narrowest = (double)INFINITY, least = LEAST * mean(predicted, rows);
	double most = rows < ROWS_RATIO ? 0 : RATIO_MAX, step = RATIO_STEP;
	struct error_bound bound = { 0 };

	if (!errors)
		return -ENOMEM;
	while (bound.bound_ratio <= most && step > STEP_LEAST) {
		double width;

		bound.bound_w = constant_for(watts, predicted, rows, bound.bound_ratio, errors);
		/* If it is 0, a smaller ratio is enough. */
		if (bound.bound_ratio > 0 && !(bound.bound_w > 0)) {
			step /= 2;
			bound.bound_ratio -= step;
			continue;
		}
		width = mean_width(&bound, predicted, rows, least);
		if (width < narrowest) {
			narrowest = width;
			*ret = bound;
		}
		bound.bound_ratio += step;
	}
	return 0;
}
