/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What time of day was it when a series was born, as the clock is set now? Births are kept as
 * CLOCK_BOOTTIME, which no change of the clock moves. It counts on while the machine sleeps, as the
 * time of day does: births kept as CLOCK_MONOTONIC would move with each suspend. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct birth_clock {
	bool known;
	int64_t offset_ms; /* time of day less CLOCK_BOOTTIME, as births are shown by */
};

/*
 * Takes both clocks at one moment, and returns the offset in use. It stays until the time of day is
 * off by more than a second: the two clocks are read a little apart, and a birth that was shown
 * should not move with that.
 */
int64_t birth_clock_follow(struct birth_clock *clock, int64_t boottime_ms, int64_t realtime_ms);
/* The time of day of a birth at @born_ms (CLOCK_BOOTTIME); never later than @now_ms. */
static inline int64_t birth_time_ms(int64_t born_ms, int64_t offset_ms, int64_t now_ms)
{
	return born_ms + offset_ms < now_ms ? born_ms + offset_ms : now_ms;
}
