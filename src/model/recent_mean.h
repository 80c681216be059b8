/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recent mean of a feature: an exponential window over the time before a row and the row itself
 * (a low-pass filter of first order). It shows a model how long a load has lasted. A
 * processor draws more power at first than its limit permits in the long run, so equal loads draw
 * different power in the tenth second and in the hundredth. Pure.
 *
 * A recent mean is a feature with a name of its own, which says everything: the mean of
 * bpf_cpu_time_ms with a time constant of 30 s is bpf_cpu_time_ms_mean_30s. Training and estimates
 * both compute it here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define RECENT_MEAN_SECONDS_MAX 3600

struct recent_mean {
	double value;  /* in the feature's unit */
	double time_s; /* of the last value */
	bool has_value;
};

/*
 * The length of the feature's own name in @name, and the time constant, 1 to
 * RECENT_MEAN_SECONDS_MAX, into @ret_seconds, which may be NULL. 0: @name is not a recent mean's.
 */
size_t recent_mean_parse(const char *name, unsigned *ret_seconds);
/*
 * Adds the feature's mean @value over the time since the last one, which ends at @time_s, and
 * returns the recent mean at that time. The first value, or the first after a step back in time,
 * also stands for the time before it. A time that has been added already, or a value that is not
 * finite, changes nothing.
 */
double recent_mean_add(struct recent_mean *mean, unsigned seconds, double time_s, double value);
