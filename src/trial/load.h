/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts and ends the load of a phase: processes whose work is counted, in a cgroup of their own
 * where one can be made. They end with the program, however it ends.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "trial/load_cgroup.h"
#include "trial/load_result.h"
#include "trial/plan.h"

/* The names of the load's processes, which exporters show. */
#define LOAD_COMM        "kv-load"
#define LOAD_NEIGHBOUR   "kv-other"

#define LOAD_WORKERS_MAX 1024

struct load {
	pid_t pids[LOAD_WORKERS_MAX];
	size_t count;
	size_t own;               /* the first workers are the load, the others its neighbour */
	struct load_works *works; /* shared with the workers */
};

/* Starts the load of @phase. 0 or -errno; nothing runs then. @cgroup may have none. */
int load_start(const struct plan_phase *phase, const struct load_cgroup *cgroup, struct load *ret);
/* Ends it after @ran_s and waits for it. Does nothing to a load that was not started. */
void load_stop(struct load *load, double ran_s, struct load_result *ret);
