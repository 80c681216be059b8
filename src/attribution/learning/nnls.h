/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Non-negative least squares on normal equations: the x >= 0 with the least x'Ax − 2x'b, for a few
 * variables. Active set after C. L. Lawson and R. J. Hanson, "Solving Least Squares Problems"
 * (1974), ch. 23, on X'X and X'y after R. Bro and S. de Jong, J. Chemometrics 11 (1997).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NNLS_MAX 25 /* variables */

/* The index of row @i and column @j <= i in a lower triangle that is stored by rows. */
static inline size_t nnls_at(size_t i, size_t j)
{
	return i * (i + 1) / 2 + j;
}

/*
 * @a is such a triangle of @n rows, NNLS_MAX at most: X'X, symmetric, without negative eigenvalues
 * except for rounding; @b is X'y. Only variables of @mask (bit i) may be above 0, and none that has
 * 0 in the diagonal.
 * @x is where the search begins, the solution of similar equations or zeros, and is the solution
 * in the end. Variables are scaled inside, so units do not matter; columns that are nearly the same
 * share what they explain. False, with @x as it was, when a number is not finite.
 */
bool nnls_solve(const double *a, const double *b, size_t n, uint32_t mask, double *x);

/*
 * @gradient' A⁻¹ @gradient over the variables of @mask that are above 0 in the solution @x: the
 * variance of a sum with the gradient @gradient, if errors of A's readings have the variance 1.
 * Negative when a number is not finite.
 */
double nnls_variance(const double *a, size_t n, uint32_t mask, const double *x,
		     const double *gradient);
