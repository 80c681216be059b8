/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run time of the machine that is in no sample. Pure: readings are passed in, no clock is read.
 *
 * The machine's account, less the time of samples, is added up over all intervals; the part above a
 * bound is unseen time: of processes that a reader cannot see, and of interrupts where the kernel
 * counts them apart from the task that they interrupt. Differences of both signs cancel, but not
 * without limit: a sum further below zero than the bound is cut, so that ticks that miss short
 * work, possibly for hours, do not hide later unseen time.
 *
 * Time that a reader reports late, such as the end of a task that left the list of tasks long
 * before, has been counted as unseen by then, unless it was known to come. So the part that both
 * estimates discard is owed, up to the total that was found, and is subtracted from the time that
 * is found next.
 *
 * Busy time is sampled at ticks. A tick that finds a CPU busy counts all of it: if only a part p of
 * it was busy, the error has a variance of p (1 - p) ticks², at most the lesser of the busy and the
 * idle time in ticks. The bound is five standard deviations of their sum since the start, plus the
 * constant errors: two ticks for each CPU, by which a task's run time lags, and the cut of five
 * numbers.
 *
 * Work may also run in step with the ticks, which then always see it. So there is a second
 * estimate: the time that has passed on all CPUs, less idle time, which the kernel takes when
 * idling begins and ends. Unseen time is the lesser of the two.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "activity/machine_time.h"

struct unseen_time {
	uint64_t tick_ns; /* of the kernel */
	bool has_last;
	bool is_static; /* the account does not change: an emulated file, as in some containers */
	struct machine_time last;
	uint64_t still_ns;     /* for how long it has not changed */
	int64_t busy_ahead_ns; /* of the samples, by busy time; less the reported unseen time */
	int64_t idle_ahead_ns; /* the same by idle time */
	int64_t coming_ns;     /* of the last call */
	int64_t found_ns;      /* found and not seen later; with owed_ns: reported as unseen */
	int64_t owed_ns;       /* seen after it was reported as unseen, and not compensated yet */
	double variance_ns2;
};

/* @tick_ns: the kernel's 1/HZ. */
void unseen_time_init(struct unseen_time *unseen, uint64_t tick_ns);
/*
 * Takes the account @now, at the end of an interval with samples that add up to @seen_ns, and
 * returns the unseen time that is found for this interval and those before. The account may have
 * been read before the pass. At most @coming_ns was run until then and will be in samples of later
 * passes: so much is not reported yet. An interval is not compared when the machine slept, a CPU
 * came or went, or the account went back, nor with a static account.
 */
uint64_t unseen_time_add(struct unseen_time *unseen, const struct machine_time *now,
			 uint64_t seen_ns, uint64_t coming_ns);
