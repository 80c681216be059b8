/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How noisy is a counter of energy? Pure: readings that follow each other closely in; the counter's
 * resolution, its update period and the spread of power by window length out.
 *
 * Power over a window is what a reader with this interval computes: the energy between the first
 * readings at or after the window's ends, by the time between them. A window without a reading near
 * one of its ends is left out.
 * Allan deviation at a window length: √(½ mean((Pᵢ₊₁ − Pᵢ)²)) over adjacent windows (Allan,
 * "Statistics of atomic frequency standards", 1966). Noise of the counter itself falls with the
 * window length; real changes of power do not.
 * Resolution: the largest 10⁶/2ⁿ µJ such that all increments are multiples of it, to within the
 * 1 µJ that sysfs shows. MSR_RAPL_POWER_UNIT has units of this form (Intel SDM volume 3B, "RAPL
 * interfaces").
 * Noise of the counter: an error that one update has and the next one does not makes neighbouring
 * increments correlate by −½, so the noise is √(−covariance) of neighbouring increments. Uneven
 * update times have the same effect; so the noise is also computed from the differences between
 * increments and mean power × time, and the lower of the two counts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NOISE_WINDOWS       4   /* 1, 10, 100 ms and 1 s */
#define NOISE_ALLAN_MAX     24  /* window lengths, each twice the one before */
#define NOISE_UPDATES_LEAST 100 /* with fewer, update period and noise are not known */

struct noise_reading {
	double time_s, joules;
	float read_s; /* the time that the reading took */
};

/* Power over windows of one length, in W; NAN with fewer than two windows. */
struct noise_spread {
	double window_s;
	size_t count;
	double mean_w, sd_w, allan_w;
	double min_w, low_w, median_w, high_w, max_w; /* low, high: 5th and 95th percentile */
};

struct noise {
	size_t readings, updates;
	double span_s, power_w;
	double resolution_uj;                         /* NAN: not known, at most 4 µJ */
	double update_s, update_low_s, update_high_s; /* median, 5th and 95th percentile */
	/* False: it changes with nearly each reading, so that it may change more often. */
	bool update_is_resolved;
	double read_s, read_high_s; /* median and 99th percentile of a reading's time */
	double interval_s;          /* median time between readings */
	double counter_noise_j;     /* standard deviation; NAN: not known */
	/* More than three times what resolution and reading interval explain. */
	bool is_randomised;
	struct noise_spread windows[NOISE_WINDOWS];
	double allan_window_s[NOISE_ALLAN_MAX], allan_w[NOISE_ALLAN_MAX];
	size_t allan_count;
};

/* Readings in the order of their time. 0, -EINVAL with fewer than two, or -ENOMEM. */
int noise_measure(const struct noise_reading *readings, size_t count, struct noise *ret);
