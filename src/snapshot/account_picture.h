/* SPDX-License-Identifier: Apache-2.0 */
/* The values of each account in a snapshot, computed from the account's zones. Pure. */
#pragma once

#include <stdbool.h>

#include "attribution/layout.h"
#include "snapshot/snapshot.h"

/*
 * Time that the deltas of rows in @account took, both modes added up, so that a row's power is
 * delta / time: the mean of its zones' spans, by their energy, with which rows that have all energy
 * of the zones have all of their power. Each mode has a mean of its own (struct snapshot_account).
 * 0: not known, since a zone that counts has none, or theirs differ by more than a tenth, as after
 * a gap. @zones: those of @layout.
 */
uint64_t account_span_ns(const struct layout *layout, uint32_t account,
			 const struct snapshot_zone *zones);
/* Returns true if it draws power now; a zone that is gone or new draws nothing. */
bool snapshot_zone_draws(const struct snapshot_zone *zone);
/* Fills @ret with one picture for each account of @layout; @ret has room for them. */
void account_pictures(const struct layout *layout, const struct snapshot_zone *zones,
		      struct snapshot_account *ret);
