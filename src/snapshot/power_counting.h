/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sums from which a picture of power (power_picture.h) is made: what the accounts of the node's
 * total used in an interval, and what a row has of it. Private to pictures of power.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attribution/ledger.h"

struct snapshot_zone;

/* An account that is in the total. */
struct counted_account {
	const struct account *account;
	uint64_t span_ns;          /* 0: its power is not known, or it does not count now */
	uint64_t node[MODE_COUNT]; /* its energy of the interval */
	uint64_t rows[MODE_COUNT]; /* and what owners were charged of it */
};

struct counting {
	const struct ledger *ledger;
	const struct snapshot_zone *zones;
	struct counted_account *accounts;
	uint32_t count;
	uint32_t *places; /* of rows in the picture, level by level: place_of() */
	bool is_known;    /* the power of each account that counts is */
	bool is_late;     /* it is not, but only because a source has no new reading */
	uint64_t rows_uj; /* all that rows got since the start */
	uint64_t cpu_ns;  /* of all owners in the interval */
};

/* The mean power of @energy_uj in @span_ns, rounded down; 0 where that is 0. */
uint64_t counting_power_uw(uint64_t energy_uj, uint64_t span_ns);
const struct layout *counting_layout(const struct counting *counting);
/* Looks at the energy of the total's accounts; @counting->accounts has room for all. */
void counting_look_at_accounts(struct counting *counting);
/* Looks at the part of it that all owners were charged. */
void counting_look_at_owners(struct counting *counting);
/* The power of a row with these deltas; 0 while the total is not known. */
uint64_t counting_row_power_uw(const struct counting *counting, const uint64_t *deltas);
/* Its energy of the zones of the total since the row began. */
uint64_t counting_row_energy_uj(const struct counting *counting, const uint64_t *values);
