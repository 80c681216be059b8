/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what a pass of activity has seen to the parties of its interval: each process that ran, or
 * caused something that is counted, with its row of the ledger and that of its owner. What has no
 * process of its own, such as a cgroup's dropped run time, is a party by its owner.
 */
#pragma once

#include <stdbool.h>

#include "activity/activity.h"
#include "attribution/ledger.h"
#include "attribution/parties.h"
#include "workload/identity.h"

/* Where parties are entered; all is borrowed. */
struct party_entry {
	struct ledger *ledger;
	struct identity_resolver *identities;
	struct parties *parties;
	bool has_begun;      /* the baseline is over: before it each owner gets a row */
	bool sleepers_count; /* idle energy is shared equally: what sleeps gets its row, too */
};

/* Parties of the interval, in place of those before. 0 or -ENOMEM: then they are unknown. */
int party_entry_take(const struct party_entry *entry, const struct activity *activity);
/* Rows for what has slept since the start, which has a part of idle energy that all share. */
void party_entry_take_sleepers(const struct party_entry *entry, struct activity_reader *activity);
/*
 * What sleeps, or ended, before its names come has no sample: it is looked up by its id, and its
 * row gets the names.
 */
void party_entry_name_waiting(const struct party_entry *entry);
/* Rows of processes that ended in the pass, once it is booked. */
void party_entry_end_processes(struct ledger *ledger, const struct activity *activity);
