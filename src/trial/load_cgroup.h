/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cgroup of the load's own, system.slice/kepler-validator-load.service in each hierarchy that can
 * be written, so that exporters show it as one container or service.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define LOAD_CGROUP      "kepler-validator-load.service"
#define LOAD_CGROUPS_MAX 16
#define LOAD_CGROUP_PATH 256

struct load_cgroup {
	char paths[LOAD_CGROUPS_MAX][LOAD_CGROUP_PATH]; /* none: no cgroup could be made */
	int locks[LOAD_CGROUPS_MAX];                    /* held as long as it is ours */
	bool parent_is_ours[LOAD_CGROUPS_MAX];
	size_t count;
};

/*
 * In the hierarchies of @mounts_path ("/proc/self/mounts"), as far as they let a process in: with
 * none, the load stays where this program is. 0, or -EBUSY: the load of another validator is in
 * one, with which this one's would be confused; nothing is made then.
 */
int load_cgroup_make(const char *mounts_path, struct load_cgroup *ret);
/* Moves the calling process there. */
void load_cgroup_join(const struct load_cgroup *cgroup);
/* Removes what was made. No process may be in it any more. */
void load_cgroup_remove(struct load_cgroup *cgroup);
