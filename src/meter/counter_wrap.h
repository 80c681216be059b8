/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the raw readings of a counter that wraps into an energy that never falls. Pure.
 *
 * A hardware counter runs from 0 to its range and starts again. Two readings less than one range
 * apart give the energy between them exactly: (new - old) mod (range + 1). Two kinds of reading are
 * refused: the reading is dropped and counted, and its value is the next baseline.
 *
 * - A change that looks like a wrap, or a step, but would need more power than the zone can draw:
 *   the counter was reset or jumped.
 * - A change that may hide a whole wrap: at the zone's greatest power the counter could have
 *   wrapped once more since the last reading. Which of the two it was cannot be known, so neither
 *   is counted. Readings no further apart than energy_counter_period_ns() are never ambiguous.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "meter/meter.h"

/*
 * A reading lags the counter by its update period (about 1 ms for RAPL), so the energy of two
 * readings may belong to slightly more time than lies between them.
 */
#define COUNTER_SLACK_NS 100000000ULL
/* At most a hundred readings a second, however small the range or great the power. */
#define COUNTER_PERIOD_MIN_NS 10000000ULL

/* When a reading was made. The value is of some time from the first to the second. */
struct reading_time {
	uint64_t begun_ns;    /* CLOCK_MONOTONIC */
	uint64_t time_ns;     /* CLOCK_MONOTONIC */
	uint64_t boottime_ns; /* CLOCK_BOOTTIME at time_ns: it goes on while the machine sleeps */
};

/* Zeroed: no reading yet. */
struct energy_counter {
	uint64_t energy_uj; /* counted since the first reading, or since it was taken (set to 0) */
	uint64_t raw_uj;    /* last accepted reading, the baseline of the next */
	uint64_t range_uj;
	uint64_t unread_max_uj; /* struct raw_reading */
	struct reading_time when;
	uint32_t generation;
	bool has_baseline;
	bool restarted;    /* the last reading is a new baseline; energy_uj lacks earlier energy */
	bool refused;      /* ... because the reading was refused */
	uint64_t refusals; /* in a row; 0 after a reading that counts */
	uint64_t wraps;
	uint64_t dropped;
};

/*
 * Takes a reading made at @when. 0, or -ERANGE when the raw value is outside its own range
 * (refused, counted in dropped, nothing else changes). A new generation or range is a new baseline:
 * the energy goes on where it stopped.
 */
int energy_counter_advance(struct energy_counter *counter, const struct raw_reading *reading,
			   const struct reading_time *when, uint64_t max_power_uw);

/*
 * Half of the time in which the counter, or one that feeds it, wraps at @max_power_uw; UINT64_MAX
 * while there is no baseline.
 */
uint64_t energy_counter_period_ns(const struct energy_counter *counter, uint64_t max_power_uw);
