/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energy of a zone from one good reading to the next: the only form in which energy leaves the
 * meters. The status of a zone is separate: it describes the reading and not the energy.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "energy/zone.h"

/*
 * The spans of a zone follow each other without a hole: each begins where the last one ended. A
 * span that is not known ends with a reading that only sets a new baseline: the zone's first one,
 * the first one of a counter that was opened again, or a refused one.
 */
struct energy_span {
	uint32_t zone; /* its index, which it keeps */
	bool known;
	uint64_t from_ns;   /* MONOTONIC; 0: there was no reading before */
	uint64_t to_ns;     /* > from_ns */
	uint64_t since_ns;  /* < from_ns: it is a mean of the time since then; 0: of the span */
	uint64_t energy_uj; /* 0 unless it is known */
	uint64_t idle_uj;   /* only where the zone knows_idle; <= energy_uj */
};

struct zone_status {
	enum zone_state state;
	int error;         /* -errno of the last failure, 0 when up */
	uint64_t refusals; /* in a row, up to the last reading */
	uint64_t reads;    /* attempts, those between two passes included */
	uint64_t errors;   /* passes without a good reading */
	uint64_t dropped;  /* readings refused: above the power limit, reset, garbage */
	uint64_t wraps;
	enum zone_caveat caveat; /* of the last good reading */
};
