/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power over time, as energy in whole µJ. What does not make a µJ is carried in µW·ns, so nothing
 * drifts however short the steps are. Pure.
 */
#pragma once

#include <stdint.h>

/* Zeroed: nothing is carried. */
struct power_integral {
	uint64_t carry_uw_ns; /* < NSEC_PER_SEC */
};

/*
 * How long a measured power may stand for what follows it, in periods of its source: a hole that is
 * longer is not bridged, what flowed in it is not known.
 */
#define POWER_BRIDGE_PERIODS 3

/* The energy of @dt_ns at @power_uw on average, with what was carried. */
uint64_t power_integral_add(struct power_integral *integral, uint64_t power_uw, uint64_t dt_ns);
