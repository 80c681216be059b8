/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The readings of one zone as they come in, in a pass and between two passes, and when the next
 * must come so that no wrap of the counter goes unseen. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "energy/span.h"
#include "meter/counter_wrap.h"
#include "meter/meter.h"
#include "meter/power_integral.h"

/* Zeroed but for max_power_uw and bridge_ns: no reading yet. */
struct zone_samples {
	uint64_t max_power_uw; /* the most that the zone can draw; > 0 */
	uint64_t bridge_ns; /* of power: a hole that is longer is not bridged; 0: there is none */
	struct energy_counter counter;
	uint64_t idle_raw_uj; /* of the counter's baseline */
	uint64_t idle_uj;     /* in the span that is going on */
	struct power_integral power;
	uint64_t power_uw; /* of the last reading, where that is a power */
	uint64_t tried_ns; /* MONOTONIC begin of the last attempt, good or not */
	uint64_t reads;    /* attempts */
	uint64_t from_ns;  /* MONOTONIC; the end of the last span; 0: none yet */
	uint64_t since_ns; /* of the span that is going on: as it has it */
	/* In the span that is going on: a reading was a new baseline, or was refused. */
	bool restarted, refused;
};

/*
 * Takes the result of an attempt: @error (0 or -errno) and, if 0, @raw, read at @when. Returns the
 * error, or -ERANGE if the value is outside its own range, -ENODATA if it is a power that its
 * source does not know, or -EAGAIN if it is not newer than the last one. Text that is not a number
 * is counted as dropped.
 */
int zone_samples_take(struct zone_samples *samples, int error, const struct raw_reading *raw,
		      const struct reading_time *when);
/* After a good reading: the span that ends with it, without its zone. The next one begins. */
struct energy_span zone_samples_span(struct zone_samples *samples);
/* MONOTONIC time by which the zone must be read again; UINT64_MAX: there is nothing to lose. */
uint64_t zone_samples_due_ns(const struct zone_samples *samples);
/*
 * True if the zone should be read at @now_ns when some other is due: half of the time is over, so
 * that zones that were read together stay together and cost one wake-up.
 */
bool zone_samples_may_join(const struct zone_samples *samples, uint64_t now_ns);
