/* SPDX-License-Identifier: Apache-2.0 */
/* The values of a zone in a snapshot, from the state that the accounting keeps. */
#pragma once

#include "attribution/zone_account.h"
#include "snapshot/snapshot.h"

/*
 * At @now_ns (MONOTONIC), the end of the interval that was booked. @ended: another source has taken
 * over. What the ledger has of the zone is not filled in: the publisher does.
 */
void zone_picture(const struct zone_account *account, bool ended, uint64_t now_ns,
		  struct snapshot_zone *ret);
/* The power of a zone in all modes that it has; NaN while it is not known. */
double snapshot_zone_watts(const struct snapshot_zone *zone);
