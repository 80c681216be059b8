/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events that samples are taken by, and which of them the energy of a process follows. A sample
 * stands for as many events as were counted since the one before it. So samples by cache misses say
 * which functions miss, even if these use little CPU time, and samples by cycles cannot say that.
 *
 * The energy of a zone is divided among processes by a rule (attribution/share_rule.h). Within a
 * process it follows the samples of what that rule weighs:
 *
 *   cache misses, memory traffic   samples by cache misses
 *   instructions                   samples by instructions
 *   cycles and instructions        each of them for its part of the process's weight
 *   all others                     samples by time
 *
 * Without samples by an event, its energy follows those by time. Pure.
 */
#pragma once

#include <stdint.h>

#include "attribution/share_rule.h"

enum sample_clock {
	SAMPLED_BY_TIME, /* by cycles or, without a counter of these, by time */
	SAMPLED_BY_INSTRUCTIONS,
	SAMPLED_BY_MISSES,
	SAMPLE_CLOCKS,
};

#define SAMPLE_CLOCK_BIT(clock) (1U << (clock))

/* The work of a process in an interval, as rules weigh it; 0: none, or not known. */
struct clock_work {
	uint64_t cycles, instructions;
};

/* "cycles or time", "instructions", "cache misses" */
const char *sample_clock_name(enum sample_clock clock);
/*
 * Adds the parts of @energy_uj, which was charged to the process by @rule, to @ret by the samples
 * that they follow; they sum to it. @clocks: SAMPLE_CLOCK_BIT()s of those that samples are taken
 * by.
 */
void sample_clock_divide(enum share_rule rule, const struct clock_work *work, uint32_t clocks,
			 uint64_t energy_uj, uint64_t ret[static SAMPLE_CLOCKS]);
