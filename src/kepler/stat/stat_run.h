/* SPDX-License-Identifier: Apache-2.0 */
/* One run of the measured command. */
#pragma once

#include "kepler/stat/stat_child.h"
#include "kepler/stat/stat_source.h"
#include "stat/stat_phases.h"
#include "stat/stat_text.h"

struct stat_run {
	struct stat_source *source;
	struct stat_child *child;
	char *const *argv; /* the command and its arguments, then NULL */
	uint64_t interval_ns;
	struct phase_pipes *pipes; /* NULL: there are no phases */
	struct stat_phases *phases;
	bool with_idle; /* in their energy */
};

/*
 * Runs the command and measures it: fills in the reading, the times and the exit status of @ret. 0;
 * the exit status (STAT_NOT_FOUND, …) of a command that cannot be run, or 1, with a diagnosis.
 */
int stat_run_measured(const struct stat_run *run, struct stat_result *ret, struct diag *diag);
/* Runs @argv unmeasured: its exit status, or as above for one that cannot be run. */
int stat_run_unmeasured(const struct stat_run *run, char *const *argv, struct diag *diag);
