/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that outlives the one that stresses a machine, however that ends, SIGKILL included: it
 * then kills the load that still runs and restores the frequencies. It waits at a pipe whose only
 * write end is held by the other process, and so learns of any end.
 */
#pragma once

#include <sys/types.h>

#include "workbench/frequency_limits.h"

struct stress_guard {
	pid_t pid;
	int fd; /* to write to */
};

/* 0 or -errno. @limits are copied with the process. */
int stress_guard_start(const struct cpu_limits *limits, struct stress_guard *ret);
/* The process group of the load that runs from now on; 0 none. */
void stress_guard_watch(struct stress_guard *guard, pid_t group);
/* Ends it: 0, or -EIO if a frequency could not be restored. */
int stress_guard_end(struct stress_guard *guard);
