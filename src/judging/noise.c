// SPDX-License-Identifier: Apache-2.0
#include "judging/noise.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

#define LATE_MOST        0.5  /* of a window: how late after its end a reading still ends it */
#define UNIT_EXPONENTS   18   /* the finest unit that differs from 1 µJ: 10⁶/2¹⁷ = 7.6 µJ */
#define ROUNDING_UJ      1.01 /* of two readings that sysfs has cut to whole µJ */
#define RESOLVED_MOST    0.8  /* updates per reading, above which some may have been missed */
#define EXPLAINED_FACTOR 3
#define MISSED_FACTOR    1.5 /* a span of more median spans has missed updates in it */

static const double window_lengths_s[NOISE_WINDOWS] = { 0.001, 0.01, 0.1, 1 };

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Returns the value below which @part (0..1) of the sorted values lie; NAN for none. */
static double percentile(const double *sorted, size_t count, double part)
{
	return count > 0 ? sorted[(size_t)(part * (double)(count - 1) + 0.5)] : (double)NAN;
}

/* Powers of windows in a row; NAN where a window is left out. Returns their number. */
static size_t window_powers(const struct noise_reading *readings, size_t count, double window_s,
			    double *ret)
{
	const struct noise_reading *before = &readings[0];
	size_t at = 0, windows = 0;
	bool has_before = true;

	for (size_t n = 1;; n++) {
		double end_s = readings[0].time_s + (double)n * window_s;

		/* Half a nanosecond forgives the rounding of times. */
		while (at < count && readings[at].time_s < end_s - 5e-10)
			at++;
		if (at == count || windows == count)
			return windows;
		bool has_end = readings[at].time_s - end_s <= LATE_MOST * window_s;
		double span_s = readings[at].time_s - before->time_s;
		ret[windows++] = has_before && has_end && span_s > 0
					 ? (readings[at].joules - before->joules) / span_s
					 : (double)NAN;
		before = &readings[at];
		has_before = has_end;
	}
}

static double allan_deviation(const double *powers, size_t count)
{
	double sum = 0;
	size_t pairs = 0;

	for (size_t i = 1; i < count; i++) {
		double step = powers[i] - powers[i - 1];

		if (isnan(step))
			continue;
		sum += step * step;
		pairs++;
	}
	return pairs > 0 ? sqrt(sum / 2 / (double)pairs) : (double)NAN;
}

static size_t keep_numbers(double *values, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!isnan(values[i]))
			values[kept++] = values[i];
	return kept;
}

/* Changes @powers. */
static void spread_of(double *powers, size_t windows, double window_s, struct noise_spread *ret)
{
	double sum = 0, squares = 0;

	*ret = (struct noise_spread){ .window_s = window_s };
	ret->allan_w = allan_deviation(powers, windows);
	size_t count = ret->count = keep_numbers(powers, windows);
	qsort(powers, count, sizeof(*powers), compare_doubles);
	for (size_t i = 0; i < count; i++)
		sum += powers[i];
	ret->mean_w = count > 0 ? sum / (double)count : (double)NAN;
	for (size_t i = 0; i < count; i++)
		squares += (powers[i] - ret->mean_w) * (powers[i] - ret->mean_w);
	ret->sd_w = count > 1 ? sqrt(squares / (double)(count - 1)) : (double)NAN;
	ret->min_w = percentile(powers, count, 0);
	ret->low_w = percentile(powers, count, 0.05);
	ret->median_w = percentile(powers, count, 0.5);
	ret->high_w = percentile(powers, count, 0.95);
	ret->max_w = percentile(powers, count, 1);
}

static bool are_multiples(const struct noise_reading *readings, size_t count, double unit_uj)
{
	for (size_t i = 1; i < count; i++) {
		double step_uj = 1e6 * (readings[i].joules - readings[i - 1].joules);

		if (fabs(step_uj - round(step_uj / unit_uj) * unit_uj) > ROUNDING_UJ)
			return false;
	}
	return true;
}

static double find_resolution(const struct noise_reading *readings, size_t count)
{
	for (int n = 0; n < UNIT_EXPONENTS; n++) {
		/* The kernel has the unit in whole nanojoules (drivers/powercap/intel_rapl). */
		double unit_uj = floor(ldexp(1e9, -n)) / 1e3;

		if (are_multiples(readings, count, unit_uj))
			return unit_uj;
	}
	return NAN;
}

/*
 * √(−covariance) of neighbouring values; 0 if they do not correlate negatively. A value with a span
 * of more than @most_s has updates in it that were not seen, so it is left out.
 */
static double returned_noise(const double *values, const double *spans, size_t count, double most_s)
{
	double mean = 0, sum = 0;
	size_t kept = 0, pairs = 0;

	for (size_t i = 0; i < count; i++)
		if (spans[i] <= most_s) {
			mean += values[i];
			kept++;
		}
	mean /= (double)kept;
	for (size_t i = 1; i < count; i++)
		if (spans[i] <= most_s && spans[i - 1] <= most_s) {
			sum += (values[i] - mean) * (values[i - 1] - mean);
			pairs++;
		}
	return pairs > 0 ? sqrt(fmax(0, -sum / (double)pairs)) : 0;
}

/* Spans and increments from one change of the counter to the next, into @spans and @steps. */
static size_t find_updates(const struct noise_reading *readings, size_t count, double *spans,
			   double *steps)
{
	const struct noise_reading *last = NULL;
	size_t updates = 0;

	for (size_t i = 1; i < count; i++) {
		if (fabs(readings[i].joules - readings[i - 1].joules) < 1e-9)
			continue;
		if (last) {
			spans[updates] = readings[i].time_s - last->time_s;
			steps[updates++] = readings[i].joules - last->joules;
		}
		last = &readings[i];
	}
	return updates;
}

/* @buf has room for three numbers for each reading. */
static void measure_updates(const struct noise_reading *readings, size_t count, double *buf,
			    struct noise *noise)
{
	double *spans = buf, *steps = buf + count, *sorted = buf + 2 * count;
	size_t updates = find_updates(readings, count, spans, steps);

	noise->updates = updates;
	noise->update_s = noise->update_low_s = noise->update_high_s = NAN;
	noise->counter_noise_j = NAN;
	if (updates < NOISE_UPDATES_LEAST)
		return;
	memcpy(sorted, spans, updates * sizeof(*sorted));
	qsort(sorted, updates, sizeof(*sorted), compare_doubles);
	noise->update_s = percentile(sorted, updates, 0.5);
	noise->update_low_s = percentile(sorted, updates, 0.05);
	noise->update_high_s = percentile(sorted, updates, 0.95);
	noise->update_is_resolved = (double)updates <= RESOLVED_MOST * (double)(count - 1);
	double most_s = MISSED_FACTOR * noise->update_s;
	double plain = returned_noise(steps, spans, updates, most_s);
	for (size_t i = 0; i < updates; i++)
		steps[i] -= noise->power_w * spans[i];
	noise->counter_noise_j = fmin(plain, returned_noise(steps, spans, updates, most_s));
	double unit_j = isnan(noise->resolution_uj) ? 4e-6 : 1e-6 * noise->resolution_uj;
	double explained_j = (unit_j + noise->power_w * noise->interval_s) / sqrt(12);
	noise->is_randomised = noise->counter_noise_j > EXPLAINED_FACTOR * explained_j;
}

static void measure_reads(const struct noise_reading *readings, size_t count, double *buf,
			  struct noise *noise)
{
	for (size_t i = 0; i < count; i++)
		buf[i] = (double)readings[i].read_s;
	qsort(buf, count, sizeof(*buf), compare_doubles);
	noise->read_s = percentile(buf, count, 0.5);
	noise->read_high_s = percentile(buf, count, 0.99);
	for (size_t i = 1; i < count; i++)
		buf[i - 1] = readings[i].time_s - readings[i - 1].time_s;
	qsort(buf, count - 1, sizeof(*buf), compare_doubles);
	noise->interval_s = percentile(buf, count - 1, 0.5);
}

int noise_measure(const struct noise_reading *readings, size_t count, struct noise *ret)
{
	if (count < 2)
		return -EINVAL;
	CLEANUP_FREE double *buf = calloc(3 * count, sizeof(*buf));
	if (!buf)
		return -ENOMEM;
	const struct noise_reading *last = &readings[count - 1];

	*ret = (struct noise){ .readings = count };
	ret->span_s = last->time_s - readings[0].time_s;
	ret->power_w = (last->joules - readings[0].joules) / ret->span_s;
	ret->resolution_uj = find_resolution(readings, count);
	measure_reads(readings, count, buf, ret);
	measure_updates(readings, count, buf, ret);
	for (size_t i = 0; i < NOISE_WINDOWS; i++) {
		size_t windows = window_powers(readings, count, window_lengths_s[i], buf);

		spread_of(buf, windows, window_lengths_s[i], &ret->windows[i]);
	}
	for (double window_s = window_lengths_s[0];
	     window_s <= ret->span_s / 4 && ret->allan_count < NOISE_ALLAN_MAX; window_s *= 2) {
		size_t windows = window_powers(readings, count, window_s, buf);

		ret->allan_window_s[ret->allan_count] = window_s;
		ret->allan_w[ret->allan_count++] = allan_deviation(buf, windows);
	}
	return 0;
}
