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
 * Finds the bound with the least geometric mean of widths. If errors grow with power, its width
 * grows in proportion, so large predictions lie within it as often as small ones; the bound with
 * the least arithmetic mean would miss the large ones. With few rows it is a constant. @rows is at
 * least 1. 0 or -ENOMEM.
 */
int bounds_find(const double *watts, const double *predicted, size_t rows, struct error_bound *ret);
double bounds_at(const struct error_bound *bound, double predicted);
