/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much did the machine run that no sample tells of? Pure: readings come in, no clock is asked.
 *
 * The machine's account, less what samples tell, is added up over all intervals; what comes above a
 * bound is time that was not seen: of processes that a reader cannot see, and of interrupts where
 * the kernel counts them apart from the task that they interrupt. Differences of both signs cancel,
 * but not without end: more than the bound below zero is not kept, so that ticks which miss short
 * work, as they may for hours, do not hide what is unseen later.
 *
 * What a reader tells late, as the end of a task that left the list of tasks long before, was given
 * out by then unless it was known to come. So what both witnesses forget is owed, up to what was
 * found in all, and is taken from what is found next.
 *
 * Busy time is sampled at ticks. A tick that finds a CPU busy counts all of it: where a part p of
 * it was, the error has a variance of p (1 - p) ticks², at most the lesser of the busy and the idle
 * time in ticks. The bound is five standard deviations of their sum since the start; and what does
 * not add up: two ticks for each CPU, by which a task's run time lags, and the cut of five numbers.
 *
 * Work may also run in step with the ticks, which then see it always. So there is a second witness:
 * time that has passed on all CPUs, less idle time, which the kernel takes at the moments where
 * idling begins and ends. What is unseen is the lesser of the two.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "activity/machine_time.h"

struct unseen_time {
	uint64_t tick_ns; /* of the kernel */
	bool has_last;
	bool is_static; /* the account stands still: a made-up file, as some containers have */
	struct machine_time last;
	uint64_t still_ns;     /* for so long it has not moved */
	int64_t busy_ahead_ns; /* of the samples, by busy time; less what was given out */
	int64_t idle_ahead_ns; /* the same by idle time */
	int64_t coming_ns;     /* as was said last */
	int64_t found_ns;      /* was found and not seen later; with what is owed: was given out */
	int64_t owed_ns;       /* was seen after it had been given out, and is not paid for yet */
	double variance_ns2;
};

/* @tick_ns: the kernel's 1/HZ. */
void unseen_time_init(struct unseen_time *unseen, uint64_t tick_ns);
/*
 * Takes the account @now, at the end of an interval whose samples sum up to @seen_ns, and returns
 * what of the interval, and of those before, is found to be unseen. The account may be of a moment
 * before the pass. @coming_ns, at most, was run until then and will be in samples of later passes:
 * so much is not given out yet. An interval says nothing when the machine slept, a CPU came or
 * went, or the account went back; nor does a static one.
 */
uint64_t unseen_time_add(struct unseen_time *unseen, const struct machine_time *now,
			 uint64_t seen_ns, uint64_t coming_ns);
