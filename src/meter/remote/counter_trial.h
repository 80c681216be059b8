/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides if a counter of energy advances finely enough to be read instead of the power.
 * Some controllers count in hundredths of a kilowatt hour: 36 kJ, two minutes of a server. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* So many readings in a row must agree, each to a part of so much of what the power says. */
#define COUNTER_TRIAL_READINGS 6
#define COUNTER_TRIAL_PART     4

/* Zeroed: nothing was read. */
struct counter_trial {
	uint64_t time_ns, energy_uj, power_uw; /* of the last reading; 0: none */
	unsigned agreed;                       /* in a row */
};

/*
 * Takes a counter and a power that were read together at @time_ns, which grows. True once the
 * counter has advanced as the power says, again and again.
 */
bool counter_trial_take(struct counter_trial *trial, uint64_t time_ns, uint64_t energy_uj,
			uint64_t power_uw);
