/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A series: the mean rate of something (W, or any unit per second) over windows of time.
 *
 * A gauge's sample is the mean of the window that ends with it, so one that is not a number leaves
 * its time uncovered. Two samples of a counter are a window with the mean between them. Windows are
 * in order, do not overlap, and touch each other unless there is a gap. A gauge says nothing of a
 * gap, so its window there is one usual step long; a counter's window covers the gap, because its
 * energy is known.
 *
 * A series has at most SERIES_WINDOWS_MAX windows: beyond, each two neighbours become one, which
 * keeps every energy and coarsens the shape. So a file of any length can be read as it comes.
 * Each sample that is left out is counted with its reason.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERIES_WINDOWS_MAX 262144 /* 6 MiB */
#define SERIES_TEXT_MAX    512

struct window {
	double start_s, end_s; /* of any epoch, the same for all series of a comparison */
	double rate;           /* mean; finite; in W unless the unit is another */
};

/* Samples that became no window, by reason. */
struct series_dropped {
	uint64_t not_finite;   /* NaN, infinite, or beyond 1e60; or of a time that cannot be */
	uint64_t duplicate;    /* of the same time as the one before */
	uint64_t out_of_order; /* earlier than the one before */
	uint64_t reset;        /* a counter below the one before: the energy between is not known */
	uint64_t first;        /* a counter's first, or a gauge's only sample */
};

struct series {
	char name[SERIES_TEXT_MAX];   /* as the reader of a report knows it */
	char source[SERIES_TEXT_MAX]; /* file, URL or device that it was read from; "" */
	char query[SERIES_TEXT_MAX];  /* query or metric with its labels; "" */
	char unit[16];                /* of the rate: "W" */
	struct window *windows;
	size_t count;
	size_t size;
	uint32_t merged;   /* how many windows at most became one: 1 unless there were too many */
	uint64_t samples;  /* added, those that were dropped included */
	uint64_t negative; /* samples with a rate below 0; they are kept */
	uint64_t gaps;
	struct series_dropped dropped;
	double error; /* of the source itself, as a ratio, such as 0.01; NAN: not known */
	/* State while samples are added. */
	double last_s, last_value, value_sum; /* value_sum: of a counter's values */
	double sample_step_s; /* usual length of a sample's window, once they are merged */
	uint32_t in_last;     /* samples in the last window */
	bool has_last;
	bool is_counter;
};

/* @unit of the rate ("W"); name, source and query are set by the caller. NULL without memory. */
struct series *series_new(const char *name, const char *unit);
void series_free(struct series *series);
/*
 * A new finished series with the windows of @series between two times, cut there. NULL without
 * memory.
 */
struct series *series_cut(const struct series *series, double start_s, double end_s);

/*
 * Adds a sample; all samples of a series are of one kind. 0, also when it is dropped; -ENOMEM, or
 * -ENOSPC for more than SERIES_WINDOWS_MAX windows with gaps between most of them.
 * series_add_gauge: @value is a mean rate. series_add_counter: @value is cumulative, in units whose
 * rate per second is the series' unit (J for W).
 */
int series_add_gauge(struct series *series, double time_s, double value);
int series_add_counter(struct series *series, double time_s, double value);
/* A window as it is; it begins where the one before ends, or later (else it is out of order). */
int series_add_window(struct series *series, double start_s, double end_s, double rate);
/* To be called once, after the last sample: finds the gaps. */
void series_finish(struct series *series);

/* From the start of the first window to the end of the last; 0 for none. */
double series_start_s(const struct series *series);
double series_end_s(const struct series *series);
/* The median length of its windows, in seconds; NAN for none. */
double series_step_s(const struct series *series);

/* The unit of an amount that flows with a rate in @unit: J for W. */
const char *amount_unit(const char *unit);

/* The amount between two times, in unit × s (J), and how much of the time was covered. */
struct amount {
	double amount;
	double covered_s;
};
struct amount series_amount(const struct series *series, double start_s, double end_s);
