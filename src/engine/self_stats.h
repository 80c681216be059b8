/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of Kepler itself: CPU time, memory, descriptors, threads, duration of its intervals.
 *
 * Descriptors are opened once, so that reading costs two small system calls an interval.
 */
#pragma once

#include <stdint.h>

#include "activity/activity.h"
#include "engine/machine_reads.h"
#include "host/host.h"
#include "snapshot/snapshot.h"
#include "workload/identity.h"

struct self_stats {
	int stat_fd; /* /proc/self/stat, or -1 */
	struct snapshot_cpu *cpus;
	struct snapshot_self self;
};

/*
 * Reads from the running kernel's own /proc, regardless of --host.procfs. Never fails: values that
 * cannot be read stay 0.
 */
void self_stats_open(struct self_stats *stats, const struct host_info *host, double start_time_s);
/* To be closed when no snapshot with its `self` is left. */
void self_stats_close(struct self_stats *stats);
/* Once: which CPUs PROCFS/cpuinfo has now. None where it cannot be read. */
void self_stats_cpus(struct self_stats *stats, const char *procfs);
/* Fills the costs into stats->self. */
void self_stats_update(struct self_stats *stats);
/* Takes the state of the reader of processes and of its last pass. */
void self_stats_activity(struct snapshot_self *self, const struct activity_info *info);
/* Takes the state of the resolver of owners; logs once that a read hangs. */
void self_stats_identities(struct snapshot_self *self, const struct identity_resolver *identities);
/* Takes the time of CPUs in idle states. */
void self_stats_idle_states(struct snapshot_self *self, const struct machine_reads *reads);
/* Counts one interval that took @ns of the loop's time. */
void self_stats_interval(struct self_stats *stats, uint64_t ns);
