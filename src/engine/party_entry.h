/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the parties of an interval from a pass of activity: each process that ran, or caused
 * something that is counted, with its row of the ledger and the row of its owner. Work without a
 * process, such as a cgroup's dropped run time, is a party by its owner.
 */
#pragma once

#include <stdbool.h>

#include "activity/activity.h"
#include "attribution/ledger.h"
#include "attribution/parties.h"
#include "snapshot/process_users.h"
#include "stat/process_trees.h"
#include "workload/identity.h"

/* Where parties are entered; all is borrowed. */
struct party_entry {
	struct ledger *ledger;
	struct identity_resolver *identities;
	struct parties *parties;
	struct process_users *users; /* NULL: not asked for */
	bool has_begun;              /* the baseline is over: before it each owner gets a row */
	bool sleepers_count; /* idle energy is shared equally: sleepers get their row, too */
};

/* Enters the parties of this interval in place of the last. 0 or -ENOMEM: they are unknown. */
int party_entry_take(const struct party_entry *entry, const struct activity *activity);
/* Makes rows for processes asleep since the start, which get a part of equal idle energy. */
void party_entry_take_sleepers(const struct party_entry *entry, struct activity_reader *activity);
/*
 * Owners that sleep, or ended, before their names come have no sample: they are looked up by id,
 * and their rows get the names.
 */
void party_entry_name_waiting(const struct party_entry *entry);
/* Rows of processes that ended in the pass, once it is booked; @trees may hold some, or be NULL. */
void party_entry_end_processes(struct ledger *ledger, const struct activity *activity,
			       struct process_trees *trees);
