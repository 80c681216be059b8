/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exp() of eight numbers at once, for sums of many exponentials: by vector instructions it takes a
 * third of the time of eight calls of the C library (docs/design/training-speed.md).
 *
 * exp(x) = 2^k exp(r), k = x / ln 2 rounded, |r| <= ln 2 / 2, and the series of exp(r) up to r^12
 * (W. J. Cody and W. Waite, "Software Manual for the Elementary Functions", 1980, chapter 6, for
 * the two parts of ln 2). The result is within 1e-15 of exp(), relatively.
 */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#define EXP_BLOCK       8
#define EXP_BLOCK_LIMIT 700.0 /* beyond it, in both directions, the C library is asked */

typedef double exp_block_numbers __attribute__((vector_size(EXP_BLOCK * sizeof(double))));
typedef uint64_t exp_block_bits __attribute__((vector_size(EXP_BLOCK * sizeof(uint64_t))));

/* exp() of EXP_BLOCK values within the limit. */
static inline void exp_block_within(double *values)
{
	/* Added to a number it leaves the integer next to it in the lowest bits. */
	const double magic = 6755399441055744.0;
	exp_block_numbers x, whole, k, r, series, power;

	memcpy(&x, values, sizeof(x));
	whole = x * 1.4426950408889634 + magic;
	k = whole - magic;
	r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
	series = r * (1.0 / 479001600) + 1.0 / 39916800;
	series = series * r + 1.0 / 3628800;
	series = series * r + 1.0 / 362880;
	series = series * r + 1.0 / 40320;
	series = series * r + 1.0 / 5040;
	series = series * r + 1.0 / 720;
	series = series * r + 1.0 / 120;
	series = series * r + 1.0 / 24;
	series = series * r + 1.0 / 6;
	series = series * r + 0.5;
	series = series * r + 1.0;
	series = series * r + 1.0;
	/* 2^k: k plus the bias, in the place of the exponent. */
	power = (exp_block_numbers)(((exp_block_bits)whole + 1023) << 52);
	series *= power;
	memcpy(values, &series, sizeof(series));
}

/* Replaces EXP_BLOCK values by exp() of them. */
static inline void exp_block(double *values)
{
	unsigned inside = 0;

	for (unsigned i = 0; i < EXP_BLOCK; i++)
		inside += fabs(values[i]) < EXP_BLOCK_LIMIT;
	if (inside == EXP_BLOCK) {
		exp_block_within(values);
		return;
	}
	for (unsigned i = 0; i < EXP_BLOCK; i++)
		values[i] = exp(values[i]);
}
