// SPDX-License-Identifier: Apache-2.0
/* Sums and solutions of power_fit_sums.h. */
#include "attribution/learning/power_fit_sums.h"

#include <math.h>
#include <string.h>

#include "attribution/learning/nnls.h"

#define BASE     POWER_FIT_BASE
#define MIN_LEFT 1e-9 /* of the mean square: meters have steps, and sums are rounded */

_Static_assert(POWER_FIT_TERMS <= NNLS_MAX, "variables");

double power_fit_product(const double *a, const double *b, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

void power_fit_sums_forget(struct power_fit_sums *sums, double keep)
{
	for (size_t i = 0; i < POWER_FIT_PAIRS; i++)
		sums->xx[i] *= keep;
	for (size_t i = 0; i < POWER_FIT_TERMS; i++)
		sums->xy[i] *= keep;
	sums->yy *= keep;
}

void power_fit_sums_read(struct power_fit_sums *sums, const struct power_fit_reading *reading)
{
	for (size_t i = 0; i < POWER_FIT_TERMS; i++) {
		double x = reading->weight * reading->x[i];

		sums->xy[i] += x * reading->power_w;
		for (size_t j = 0; j <= i; j++)
			sums->xx[nnls_at(i, j)] += x * reading->x[j];
	}
	sums->yy += reading->weight * reading->power_w * reading->power_w;
}

void power_fit_sums_add(struct power_fit_sums *sums, const struct power_fit_sums *other)
{
	for (size_t i = 0; i < POWER_FIT_PAIRS; i++)
		sums->xx[i] += other->xx[i];
	for (size_t i = 0; i < POWER_FIT_TERMS; i++)
		sums->xy[i] += other->xy[i];
	sums->yy += other->yy;
}

double power_fit_sums_weight(const struct power_fit_sums *sums)
{
	return sums->xx[POWER_FIT_PAIRS - 1];
}

/* Mean amount per second of a term. */
static double mean_of(const struct power_fit_sums *sums, size_t term)
{
	return sums->xx[nnls_at(BASE, term)] / power_fit_sums_weight(sums);
}

static double mean_w(const struct power_fit_sums *sums)
{
	return sums->xy[BASE] / power_fit_sums_weight(sums);
}

/* Σ a[i] a[j] xx[i][j] over the first @terms. */
static double quadratic(const struct power_fit_sums *sums, const double *a, size_t terms)
{
	double sum = 0;

	for (size_t i = 0; i < terms; i++)
		for (size_t j = 0; j <= i; j++)
			sum += (i == j ? 1 : 2) * a[i] * a[j] * sums->xx[nnls_at(i, j)];
	return sum;
}

/*
 * Subtracts the base, if it is @idle_w, from Σ amount × power. Returns the variables to be found:
 * without the base, if that is known.
 */
static uint32_t hold_base(const struct power_fit_sums *sums, double idle_w,
			  double xy[POWER_FIT_TERMS])
{
	uint32_t features = (1U << BASE) - 1;

	memcpy(xy, sums->xy, sizeof(sums->xy));
	if (!(idle_w >= 0))
		return features | 1U << BASE;
	for (size_t i = 0; i < POWER_FIT_TERMS; i++)
		xy[i] -= idle_w * sums->xx[nnls_at(BASE, i)];
	return features;
}

void power_fit_solve_ratio(const struct power_fit_sums *sums, double idle_w,
			   const double unit[POWER_FIT_FEATURES], double ret[POWER_FIT_TERMS])
{
	double a[3], b[2], line[2] = { 0 }, xy[POWER_FIT_TERMS];
	uint32_t mask = hold_base(sums, idle_w, xy) & 1U << BASE ? 3 : 1;

	a[0] = quadratic(sums, unit, BASE);
	a[1] = power_fit_product(unit, &sums->xx[nnls_at(BASE, 0)], BASE);
	a[2] = power_fit_sums_weight(sums);
	b[0] = power_fit_product(unit, xy, BASE);
	b[1] = xy[BASE];
	/* Refused sums leave a line of 0, which explains nothing. */
	(void)nnls_solve(a, b, 2, mask, line);
	for (size_t i = 0; i < BASE; i++)
		ret[i] = unit[i] * line[0];
	ret[BASE] = idle_w >= 0 ? idle_w : line[1];
}

void power_fit_solve_drawn(const struct power_fit_sums *sums, double idle_w,
			   const double prior[POWER_FIT_TERMS], double strength, double noise_w2,
			   double coefficient[POWER_FIT_TERMS])
{
	double work_w = fmax(mean_w(sums) - prior[BASE], 0.01 * mean_w(sums));
	double xy[POWER_FIT_TERMS];
	struct power_fit_sums drawn = *sums;
	uint32_t mask = hold_base(sums, idle_w, xy);

	for (size_t i = 0; i < BASE; i++) {
		double width = work_w > 0 ? mean_of(sums, i) / work_w : 0;
		double ridge = strength * noise_w2 * width * width;

		drawn.xx[nnls_at(i, i)] += ridge;
		xy[i] += ridge * prior[i];
	}
	(void)nnls_solve(drawn.xx, xy, POWER_FIT_TERMS, mask, coefficient);
	if (idle_w >= 0)
		coefficient[BASE] = idle_w;
}

double power_fit_solve_smt_factor(const struct power_fit_sums *sums, double idle_w)
{
	uint32_t mask = 1U << POWER_FIT_ALONE | 1U << POWER_FIT_PAIRED |
			1U << POWER_FIT_ALONE_FAST | 1U << POWER_FIT_PAIRED_FAST |
			1U << POWER_FIT_AWAKE | 1U << BASE;
	double x[POWER_FIT_TERMS] = { 0 }, xy[POWER_FIT_TERMS], fast, alone, cycles;

	mask &= hold_base(sums, idle_w, xy);
	cycles = mean_of(sums, POWER_FIT_ALONE) + mean_of(sums, POWER_FIT_PAIRED);
	if (cycles <= 0 || !nnls_solve(sums->xx, xy, POWER_FIT_TERMS, mask, x))
		return 0;
	fast = mean_of(sums, POWER_FIT_ALONE_FAST) + mean_of(sums, POWER_FIT_PAIRED_FAST);
	fast /= cycles;
	alone = x[POWER_FIT_ALONE] + fast * x[POWER_FIT_ALONE_FAST];
	return alone > 0 ? (x[POWER_FIT_PAIRED] + fast * x[POWER_FIT_PAIRED_FAST]) / alone : 0;
}

double power_fit_variance_w2(const struct power_fit_sums *sums)
{
	double mean = mean_w(sums);

	return fmax(sums->yy / power_fit_sums_weight(sums) - mean * mean, 0);
}

double power_fit_left_w2(const struct power_fit_sums *sums, const double *coefficient)
{
	double left = sums->yy - 2 * power_fit_product(coefficient, sums->xy, POWER_FIT_TERMS) +
		      quadratic(sums, coefficient, POWER_FIT_TERMS);

	return fmax(left, MIN_LEFT * sums->yy) / power_fit_sums_weight(sums);
}

double power_fit_explained_w2(const struct power_fit_sums *sums, const double *coefficient)
{
	double mean = 0;

	for (size_t i = 0; i < BASE; i++)
		mean += coefficient[i] * mean_of(sums, i);
	return fmax(quadratic(sums, coefficient, BASE) / power_fit_sums_weight(sums) - mean * mean,
		    0);
}
