/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of a run: the wall clock's when it began, and from then on as the time since boot
 * passes. So a wall clock that is set meanwhile distorts nothing that is measured.
 */
#pragma once

#include <time.h>

#include "base/clock.h"

struct run_clock {
	double boot_s; /* the time of the run at boot */
};

static inline double run_clock_read_s(clockid_t id)
{
	return (double)clock_ns(id) / (double)NSEC_PER_SEC;
}

static inline void run_clock_start(struct run_clock *clock)
{
	clock->boot_s = run_clock_read_s(CLOCK_REALTIME) - run_clock_read_s(CLOCK_BOOTTIME);
}

static inline double run_clock_now_s(const struct run_clock *clock)
{
	return clock->boot_s + run_clock_read_s(CLOCK_BOOTTIME);
}

/* How far the wall clock, by which exporters name times, is ahead of the time of the run now. */
static inline double run_clock_wall_ahead_s(const struct run_clock *clock)
{
	return run_clock_read_s(CLOCK_REALTIME) - run_clock_now_s(clock);
}
