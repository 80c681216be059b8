// SPDX-License-Identifier: Apache-2.0
/*
 * Student's t by the regularised incomplete beta function, P(|T| > t) = I_x(v/2, 1/2) with
 * x = v / (v + t²) (Abramowitz and Stegun 26.7.1), which is evaluated by its continued fraction
 * (26.5.8, with the method of Lentz). The quantile is found by bisection.
 */
#include "stat/run_series.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

#define FAR          14.826 /* median absolute deviations */
#define CONFIDENCE   0.05   /* what is left outside of an interval */
#define TINY         1e-300
#define ROUNDS       500
#define PRECISION    1e-14
#define QUANTILE_MAX 1e9

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Sorts @values. */
static double median_of(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void find_outliers(const double *values, double *scratch, struct run_summary *ret)
{
	double usual;

	for (size_t i = 0; i < ret->count; i++)
		scratch[i] = fabs(values[i] - ret->median);
	usual = median_of(scratch, ret->count);
	for (size_t i = 0; usual > 0 && i < ret->count; i++) {
		bool is_far = fabs(values[i] - ret->median) > FAR * usual;

		ret->outliers += is_far;
		ret->first_is_outlier |= is_far && i == 0;
	}
}

int run_summary_of(const double *values, size_t count, struct run_summary *ret)
{
	CLEANUP_FREE double *scratch = malloc(count * sizeof(*scratch));
	struct run_summary summary = { .count = count };
	double sum = 0, squares = 0;

	if (!scratch)
		return -ENOMEM;
	memcpy(scratch, values, count * sizeof(*scratch));
	for (size_t i = 0; i < count; i++)
		sum += values[i];
	summary.mean = sum / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += (values[i] - summary.mean) * (values[i] - summary.mean);
	summary.deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
	summary.median = median_of(scratch, count);
	summary.min = scratch[0];
	summary.max = scratch[count - 1];
	find_outliers(values, scratch, &summary);
	*ret = summary;
	return 0;
}

static double not_zero(double value)
{
	return fabs(value) < TINY ? TINY : value;
}

/* The continued fraction of the incomplete beta function. */
static double fraction(double a, double b, double x)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), result = d;

	for (int m = 1; m <= ROUNDS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), change;

		d = 1 / not_zero(1 + even * d);
		c = not_zero(1 + even / c);
		result *= d * c;
		d = 1 / not_zero(1 + odd * d);
		c = not_zero(1 + odd / c);
		change = d * c;
		result *= change;
		if (fabs(change - 1) < PRECISION)
			break;
	}
	return result;
}

/* I_x(a, b); the fraction converges fast on one side of the mean. */
static double beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * fraction(a, b, x) / a;
	return 1 - front * fraction(b, a, 1 - x) / b;
}

double student_probability(double t, double degrees)
{
	return beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double student_quantile(double probability, double degrees)
{
	double low = 0, high = 1;

	while (high < QUANTILE_MAX && student_probability(high, degrees) > probability)
		high *= 2;
	for (int i = 0; i < 200; i++) {
		double middle = (low + high) / 2;

		if (student_probability(middle, degrees) > probability)
			low = middle;
		else
			high = middle;
	}
	return high;
}

bool run_difference_of(const struct run_summary *before, const struct run_summary *after,
		       struct run_difference *ret)
{
	double nb = (double)before->count, na = (double)after->count;
	double vb, va, error, degrees, reach;

	if (before->count < 2 || after->count < 2)
		return false;
	vb = before->deviation * before->deviation / nb;
	va = after->deviation * after->deviation / na;
	error = sqrt(vb + va);
	ret->difference = ret->low = ret->high = after->mean - before->mean;
	ret->probability = fabs(ret->difference) > 0 ? 0 : 1;
	if (error <= 0)
		return true;
	degrees = (vb + va) * (vb + va) / (vb * vb / (nb - 1) + va * va / (na - 1));
	reach = student_quantile(CONFIDENCE, degrees) * error;
	ret->low -= reach;
	ret->high += reach;
	ret->probability = student_probability(ret->difference / error, degrees);
	return true;
}
