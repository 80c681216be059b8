/* SPDX-License-Identifier: Apache-2.0 */
/* A batch job in a component of a cgroup path: Slurm, PBS, Torque, OAR, LSF, HTCondor. Pure. */
#pragma once

#include <stdbool.h>

#include "workload/cgroup/cgroup_path_part.h"

struct cgroup_job {
	const char *scheduler; /* static */
	struct part id;        /* "42", "1234.server" */
};

/*
 * True if the scheduler made @part, which lies in @parent in @grandparent; a length of 0 is above
 * the root. All steps of a job, and all that they make, belong to the job.
 */
bool cgroup_job_find(struct part part, struct part parent, struct part grandparent,
		     struct cgroup_job *ret);
/* A unit that holds jobs: those below it are looked for. */
bool cgroup_job_is_unit(struct part unit);
