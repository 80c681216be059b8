/* SPDX-License-Identifier: Apache-2.0 */
/* Shows an interval that has been booked to the trees of processes (process_trees.h). */
#pragma once

#include "activity/activity_reader.h"
#include "attribution/books.h"
#include "snapshot/snapshot.h"
#include "stat/process_trees.h"

/*
 * Before the ends of processes are entered. @zones: [ledger_zones()] as published; @elapsed_ns: of
 * the interval, 0: not known. Ends the rows of processes that were kept for energy that has come;
 * process_trees_hold() says which of those that have ended now are to be kept. Without a tree it
 * costs nothing.
 */
void tree_follow(struct process_trees *trees, const struct books *books,
		 const struct snapshot_zone *zones, const struct activity *activity,
		 uint64_t elapsed_ns);
