/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energy of pods while units of their work (requests, tokens, jobs) were counted. Pure.
 *
 * A round of readings begins with a mark: each account takes the ledger's values of its pod as they
 * are. The count of units up to then is known when the round is over. If this reading and the one
 * before succeeded, the energy between the two marks and the units between the two readings are
 * added together, else neither is. So energy and units are of the same time, and an account has, to
 * the microjoule, the energy that its pod was charged between its readings.
 *
 * An account is shown while its last reading succeeded. It ends with its pod's row of the ledger.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/ledger.h"

#define UNITS_MAX         8
#define UNIT_NAME_MAX     31
#define UNIT_ACCOUNTS_MAX 512
#define UNIT_DECIMALS     6 /* amounts are millionths of a unit */

struct unit_account {
	uint32_t unit; /* its number */
	uint32_t row;  /* of the pod in the ledger */
	uint64_t serial;
	bool is_marked;
	bool is_read;     /* in this round */
	bool is_shown;    /* the last round had a reading: `base` is of that time */
	uint32_t columns; /* of the values */
	int64_t born_ms;  /* BOOTTIME of its first reading */
	uint64_t amount_micro;
	uint64_t *values; /* [3][columns]: its sums, its base, its mark */
};

struct unit_accounts {
	char names[UNITS_MAX][UNIT_NAME_MAX + 1];
	struct unit_account *accounts;
	size_t count, size;
	size_t limit;    /* on new ones, at most UNIT_ACCOUNTS_MAX; 0: that */
	uint64_t beyond; /* readings of pods for which there was no room */
};

/* A reading that succeeded. */
struct unit_reading {
	uint32_t unit;
	bool is_first;           /* there is no earlier one to which the increase refers */
	uint64_t increase_micro; /* since the reading before */
	const char *pod_id;      /* "": a pod of that namespace and name */
	const char *namespace_, *pod;
};

void unit_accounts_release(struct unit_accounts *accounts);
/* Marks all accounts, of a ledger that is closed; those of pods that it no longer has end. */
void unit_accounts_mark(struct unit_accounts *accounts, const struct ledger *ledger);
/*
 * A reading of the round, at @boottime_ms. One of a pod that is not in the ledger is left out, and
 * so is a second one of the same unit and pod.
 */
void unit_accounts_read(struct unit_accounts *accounts, const struct ledger *ledger,
			const struct unit_reading *reading, int64_t boottime_ms);
/* The round is over: what was not read in it is not shown, and counts from its next reading. */
void unit_accounts_end(struct unit_accounts *accounts);
/* Accounts of @unit that are shown. */
size_t unit_accounts_shown(const struct unit_accounts *accounts, uint32_t unit);
