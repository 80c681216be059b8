/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A watcher of snapshots: knows nothing of the publisher but its promises, and looks for one that
 * is broken, within a snapshot and from one to the next.
 */
#pragma once

#include "snapshot/publisher.h"

struct snapshot_check;

struct snapshot_check *snapshot_check_new(void);
void snapshot_check_free(struct snapshot_check *check);
#define CHECK_COLUMNS_MAX 16

/* The charged sums, as the accountant knows them. By level and column of the snapshot. */
struct snapshot_truth {
	/* All so far that the level has to account for; CPU time too. */
	uint64_t used[LEVEL_COUNT][CHECK_COLUMNS_MAX];
	/* This interval's energy of owners with a series: the sum of the rows' deltas. */
	uint64_t deltas[LEVEL_COUNT][CHECK_COLUMNS_MAX];
	/*
	 * All so far that was used while its owner waited, and is no longer pending for that: what
	 * series show beyond the sum of their deltas.
	 */
	uint64_t carried[LEVEL_COUNT][CHECK_COLUMNS_MAX];
};

/*
 * The fault of @snapshot, published under @options, or NULL. Every snapshot must be shown, in
 * order.
 */
const char *snapshot_check_next(struct snapshot_check *check, const struct snapshot *snapshot,
				const struct publisher_options *options,
				const struct snapshot_truth *truth);
/* A number made of all that @snapshot shows, labels included: equal later if nothing changed. */
uint64_t snapshot_digest(const struct snapshot *snapshot);
