/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a zone has come between two intervals: with this, and with its learned idle power, a
 * second set of books can continue the zone from here. A recording that begins while the exporter
 * runs has it for each zone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "energy/rank.h"

struct zone_progress {
	bool has_span, late, has_begun, held; /* as in struct zone_account (attribution) */
	uint64_t count_from_ns, split_from_ns;
	enum standing standing; /* as in struct contender, as all that follows */
	bool rank_begun, was_read, is_due, is_ready;
};
