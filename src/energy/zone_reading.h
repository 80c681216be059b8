/* SPDX-License-Identifier: Apache-2.0 */
/* What a meter says of a zone: the only form in which energy leaves the meters. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "energy/zone.h"

/* One zone at one time. */
struct zone_reading {
	enum zone_state state;
	int error;               /* -errno of the last failure, 0 when up */
	uint64_t energy_uj;      /* cumulative since the program started; never decreases */
	uint64_t idle_energy_uj; /* cumulative, only where the zone knows_idle; <= energy_uj */
	/* CLOCK_MONOTONIC when energy_uj was read; unchanged while the zone is not up. */
	uint64_t time_ns;
	/*
	 * With ZONE_UP: what flowed between the last good reading and this one is not known (the
	 * counter was opened anew) and not in energy_uj, which goes on from here. Always with
	 * ZONE_REFUSED.
	 */
	bool restarted;
	uint64_t refusals; /* in a row, up to the last reading */
	uint64_t reads;    /* attempts, those between two passes included */
	uint64_t errors;   /* passes without a good reading */
	uint64_t dropped;  /* readings refused: above the power limit, reset, garbage */
	uint64_t wraps;
};
