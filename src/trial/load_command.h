/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command of the user as the load of a phase, by /bin/sh, in a session and a cgroup of its own.
 * Its output goes to standard error. Its CPU time is counted by the cgroup or, without one, by the
 * processes that have been waited for.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "trial/load_cgroup.h"
#include "trial/load_kind.h"
#include "trial/load_result.h"

#define LOAD_COMMAND_PATIENCE_S 5.0 /* from SIGTERM to SIGKILL */

/* The kinds of the phase; they have no workers. The second is judged by its GPUs' energy. */
extern const struct load_kind load_command, load_gpu_command;

struct command_load {
	pid_t pid; /* 0: not started, or waited for */
	int status;
	double cgroup_before_s; /* NAN: it has no cgroup */
};

/* 0 or -errno. */
int command_load_start(const char *command, const struct load_cgroup *cgroup,
		       struct command_load *ret);
/* Has the command ended by itself? False of one that was not started. */
bool command_load_has_ended(struct command_load *load);
/*
 * Ends the command and all that is left in @cgroup, and sets @ret's CPU time and outcome. It had
 * run for @ran_s. Does nothing to one that was not started.
 */
void command_load_stop(struct command_load *load, const struct load_cgroup *cgroup, double ran_s,
		       double patience_s, struct load_result *ret);
