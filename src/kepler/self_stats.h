/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Kepler itself costs: CPU time, memory, descriptors, threads, how long its intervals take.
 *
 * Descriptors are opened once, so that reading costs two small system calls an interval.
 */
#pragma once

#include <stdint.h>

#include "activity/activity.h"
#include "host/host.h"
#include "snapshot/snapshot.h"
#include "workload/identity.h"

struct self_stats {
	int stat_fd; /* /proc/self/stat, or -1 */
	struct snapshot_self self;
};

/*
 * Reads from the running kernel's own /proc, wherever --host.procfs points. Never fails: what
 * cannot be read stays 0.
 */
void self_stats_open(struct self_stats *stats, const struct host_info *host, double start_time_s);
void self_stats_close(struct self_stats *stats);
/* Fills the costs into stats->self. */
void self_stats_update(struct self_stats *stats);
/* What the reader of processes says of itself and of its last pass. */
void self_stats_activity(struct snapshot_self *self, const struct activity_info *info);
/* What the resolver of owners says of itself; logs once that a read hangs. */
void self_stats_identities(struct snapshot_self *self, const struct identity_resolver *identities);
/* Counts one interval that took @ns of the loop's time. */
void self_stats_interval(struct self_stats *stats, uint64_t ns);
