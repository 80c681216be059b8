// SPDX-License-Identifier: Apache-2.0
/*
 * Schedulers run as root and delegate only cgroups below a job, so the component that names the job
 * is theirs. Slurm: /slurm[_NODE]/uid_U/job_N on v1, [NODE_]slurmstepd.scope/job_N on v2, and
 * …/SLUID from 26.05 on. PBS: pbs_jobs.service/jobid/N.SERVER, on v2 …/jobs/…, or a slice
 * pbspro-N.SERVER.slice. HTCondor: htcondor/condor_SLOT, on v2 below condor.service.
 */
#include "workload/cgroup/cgroup_path_job.h"

#include <string.h>

#define SLUID_DIGITS 13

static bool is_slurm_directory(struct part part)
{
	return part_is(part, "slurm") || part_starts(part, "slurm_");
}

static bool is_slurm_scope(struct part part)
{
	return part_is(part, "slurmstepd.scope") || part_ends(part, "_slurmstepd.scope");
}

static bool is_pbs_service(struct part part)
{
	return part_is(part, "pbs_jobs.service") || part_is(part, "pbspro.service");
}

bool cgroup_job_is_unit(struct part unit)
{
	return is_slurm_scope(unit) || is_pbs_service(unit) || part_is(unit, "condor.service");
}

/* Slurm's id of a job in all clusters: "s" and 13 digits of Crockford's base 32. */
static bool is_sluid(struct part part)
{
	static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

	if (part.len != 1 + SLUID_DIGITS || part.text[0] != 's')
		return false;
	for (size_t i = 1; i < part.len; i++) {
		if (!memchr(digits, part.text[i], sizeof(digits) - 1))
			return false;
	}
	return true;
}

static bool is_slurm_job(struct part part, struct part parent, struct part grandparent,
			 struct part *ret)
{
	*ret = part;
	if (!is_sluid(part) && (!part_between(part, "job_", "", ret) || !part_is_decimal(*ret)))
		return false;
	return is_slurm_scope(parent) || is_slurm_directory(parent) ||
	       (part_starts(parent, "uid_") && is_slurm_directory(grandparent));
}

static bool is_pbs_job(struct part part, struct part parent, struct part grandparent,
		       struct part *ret)
{
	if (is_pbs_service(grandparent) && (part_is(parent, "jobid") || part_is(parent, "jobs"))) {
		*ret = part;
		return true;
	}
	return (part_is(parent, "pbspro.slice") && part_between(part, "pbspro-", ".slice", ret)) ||
	       (part_is(parent, "pbs_jobs.slice") &&
		part_between(part, "pbs_jobs-", ".slice", ret));
}

/* "/oar/USER_N", "oar.slice/oar-uU.slice/oar-uU-jN.slice" */
static bool is_oar_job(struct part part, struct part parent, struct part *ret)
{
	struct part before, rest = part;
	char separator = part_is(parent, "oar") ? '_' : '-';

	if (separator == '-' && !(part_starts(parent, "oar-u") && part_ends(parent, ".slice") &&
				  part_starts(part, "oar-u")))
		return false;
	if (!part_split(rest, separator, &before, &rest))
		return false;
	*ret = rest;
	while (part_split(rest, separator, &before, &rest))
		*ret = rest;
	return separator == '_' ? part_is_decimal(*ret)
				: part_between(*ret, "j", ".slice", ret) && part_is_decimal(*ret);
}

/* "/lsf/CLUSTER/job.N.…" */
static bool is_lsf_job(struct part part, struct part grandparent, struct part *ret)
{
	struct part rest;

	if (!part_is(grandparent, "lsf") || !part_between(part, "job.", "", ret))
		return false;
	(void)part_split(*ret, '.', ret, &rest);
	return part_is_decimal(*ret);
}

bool cgroup_job_find(struct part part, struct part parent, struct part grandparent,
		     struct cgroup_job *ret)
{
	ret->scheduler = "slurm";
	if (is_slurm_job(part, parent, grandparent, &ret->id))
		return true;
	ret->scheduler = "pbs";
	if (is_pbs_job(part, parent, grandparent, &ret->id))
		return true;
	ret->scheduler = "oar";
	if (is_oar_job(part, parent, &ret->id))
		return true;
	ret->scheduler = "lsf";
	if (is_lsf_job(part, grandparent, &ret->id))
		return true;
	ret->id = part;
	ret->scheduler = "torque";
	if (part_is(parent, "torque"))
		return true;
	ret->scheduler = "htcondor";
	return part_is(parent, "htcondor") && part_starts(part, "condor_");
}
