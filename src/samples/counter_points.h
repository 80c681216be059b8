/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the points of a series into the amounts between them. Counters may begin again, and points
 * may be missing, doubled or not a number. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Steps without a point after which nothing is assumed of the time between two. */
#define POINTS_GAP_STEPS 5

/* The meaning of a falling counter. */
enum points_kind {
	POINTS_ENERGY,  /* it began again, and what flowed until then is unknown */
	POINTS_COUNTER, /* it began again at 0 */
	POINTS_LEVEL,   /* a gauge: it holds from the point before; a fall is nothing special */
	POINTS_SIZE,    /* a size that is called a counter: after a fall nothing is added */
};

/* All zero at the beginning of a series. */
struct counter_points {
	int64_t last_us;
	double last;
	bool has_last;
};

/* Events that cost something, added up. */
struct points_faults {
	uint64_t resets, gaps, disorder, not_numbers;
};

struct points_flow {
	int64_t from_us, to_us;
	double amount; /* a counter's increase, or a level's value times seconds */
};

/*
 * Takes a point. True with what flowed since the one before. @step_us is the usual time between two
 * points, @value may be NAN.
 */
bool counter_points_take(struct counter_points *points, enum points_kind kind, int64_t step_us,
			 int64_t time_us, double value, struct points_flow *ret,
			 struct points_faults *faults);
