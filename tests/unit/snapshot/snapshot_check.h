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
/*
 * What is wrong with @snapshot, published under @options, or NULL. @cpu_ns: all CPU time that was
 * ever charged. Every snapshot must be shown, in order.
 */
const char *snapshot_check_next(struct snapshot_check *check, const struct snapshot *snapshot,
				const struct publisher_options *options, uint64_t cpu_ns);
/* A number made of all that @snapshot shows, labels included: equal later if nothing changed. */
uint64_t snapshot_digest(const struct snapshot *snapshot);
