/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error bounds: how wide an interval around predictions must be, so that nine of ten measured
 * values lie in it. It is found from the errors of rows that the models had not seen
 * (cross-conformal: Vovk, Annals of Mathematics and Artificial Intelligence 74, 2015).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Half of the interval is the larger one of @bound_w and @bound_ratio × prediction. */
struct error_bound {
	double bound_w;
	double bound_ratio;
};

/*
 * The bound whose geometric mean of widths is least: where errors grow with power it has as many of
 * the large predictions within it as of the small ones, as its width grows in proportion. That with
 * the least mean would spare the large ones. Of few rows it is a constant. @rows is at least 1.
 * 0 or -ENOMEM.
 */
int bounds_find(const double *watts, const double *predicted, size_t rows, struct error_bound *ret);
double bounds_at(const struct error_bound *bound, double predicted);
/* 0 … 1 of the rows lie within the bound. */
double bounds_coverage(const struct error_bound *bound, const double *watts,
		       const double *predicted, size_t rows);
