/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When is the next interval due? Pure: times are given.
 *
 * Intervals are due at start + n × interval. An interval that is late is run at once; missed ones
 * are counted and not made up. All times are CLOCK_MONOTONIC.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct schedule {
	uint64_t next_ns;     /* when the next interval is due */
	uint64_t interval_ns; /* above 0 */
};

/* The first interval is due one interval after @now_ns. */
void schedule_start(struct schedule *schedule, uint64_t now_ns, uint64_t interval_ns);
/*
 * After a reload. The same interval changes nothing; a new one is due one such interval from now,
 * or when the old one is, if that is earlier: however often it changes, intervals go on.
 */
void schedule_set_interval(struct schedule *schedule, uint64_t now_ns, uint64_t interval_ns);
bool schedule_is_due(const struct schedule *schedule, uint64_t now_ns);
/* Time until the next interval, 0 when it is due. */
uint64_t schedule_wait_ns(const struct schedule *schedule, uint64_t now_ns);
/*
 * Moves to the first due time after @now_ns, which must not be before the one that is due now.
 * Returns how many were missed on the way.
 */
uint64_t schedule_advance(struct schedule *schedule, uint64_t now_ns);
