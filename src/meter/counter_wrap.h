/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From raw readings of a counter that wraps to one that never falls. Pure.
 *
 * A hardware counter runs from 0 to its range and starts again. Two readings that are less than one
 * turn apart give the energy between them exactly: (new - old) mod (range + 1). What looks like a
 * turn but would need more power than the zone can draw is none: the counter was reset or jumped;
 * it is dropped, counted, and the new value is the next baseline.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "meter/meter.h"

/*
 * A reading lags the counter by its update period (about 1 ms for RAPL) and by the time that the
 * read itself took, so the energy of two readings may belong to slightly more time than lies
 * between their stamps.
 */
#define COUNTER_SLACK_NS 100000000ULL

/* Zeroed: no reading yet. */
struct energy_counter {
	uint64_t energy_uj; /* cumulative since the first reading; never decreases */
	uint64_t raw_uj;    /* last accepted reading, the baseline of the next */
	uint64_t range_uj;
	uint64_t time_ns;
	uint32_t generation;
	bool has_baseline;
	bool restarted; /* the last reading is a new baseline; energy_uj lacks what was before */
	uint64_t wraps;
	uint64_t dropped;
};

/*
 * Takes a reading made at @time_ns (MONOTONIC). 0, or -ERANGE when the raw value is outside its own
 * range (refused, counted in dropped, nothing else changes). A new generation or range is a new
 * baseline: the energy goes on where it stopped.
 */
int energy_counter_advance(struct energy_counter *counter, const struct raw_reading *reading,
			   uint64_t time_ns, uint64_t max_power_uw);
