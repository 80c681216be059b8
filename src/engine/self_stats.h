/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of Kepler itself: CPU time, memory, descriptors, threads.
 *
 * Descriptors are opened once, so that reading costs three small system calls an interval.
 */
#pragma once

#include <stdint.h>

#include "base/health.h"

struct self_health {
	double cpu_seconds;
	uint64_t wakeups; /* of all threads, including those that have ended */
	uint64_t rss_bytes, max_rss_bytes, open_fds, threads;
	uint64_t log_lost_lines;
};
extern const struct health_part self_health_part; /* of a struct self_stats */

struct self_stats {
	int statm_fd; /* /proc/self/statm, or -1 */
	int task_fd;  /* /proc/self/task, or -1 */
	unsigned updates;
	struct self_health health;
};

/*
 * Reads from the running kernel's own /proc, regardless of --host.procfs. Never fails: values that
 * cannot be read stay 0.
 */
void self_stats_open(struct self_stats *stats);
void self_stats_close(struct self_stats *stats);
/* Once an interval: reads the costs. */
void self_stats_update(struct self_stats *stats);
