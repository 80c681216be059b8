/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power over time, as energy in whole µJ. A remainder of less than a µJ is carried in µW·ns, so
 * nothing drifts however short the steps are. Pure.
 */
#pragma once

#include <stdint.h>

/* Zeroed: nothing is carried. */
struct power_integral {
	uint64_t carry_uw_ns; /* < NSEC_PER_SEC */
};

/*
 * How long a measured power may stand for the time after it, in periods of its source: a longer
 * hole is not bridged, and the energy in it is not known.
 */
#define POWER_BRIDGE_PERIODS 3

/* An estimate in whole µW; what is not above 0 is 0. */
uint64_t power_microwatts(double watts);
/* The energy of @dt_ns at @power_uw on average, with the carried remainder. */
uint64_t power_integral_add(struct power_integral *integral, uint64_t power_uw, uint64_t dt_ns);
