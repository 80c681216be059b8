/* SPDX-License-Identifier: Apache-2.0 */
/* Shows an interval that has been booked to the trees of processes (process_trees.h). */
#pragma once

#include "activity/activity_reader.h"
#include "snapshot/snapshot.h"
#include "stat/process_trees.h"

/*
 * Before any row is released. @zones: [ledger_zones()] as published; @elapsed_ns: of the interval,
 * 0: not known. Without a tree it costs nothing.
 */
void tree_follow(struct process_trees *trees, const struct ledger *ledger,
		 const struct snapshot_zone *zones, const struct activity *activity,
		 uint64_t elapsed_ns);
