/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cgroup of the load's own in each hierarchy that can be written, so that exporters show the load
 * as one owner. As a service it is system.slice/kepler-validator-load.service. As a container of a
 * pod it is kepler-validator/kubepods/burstable/podUID/ID with a new UID and ID: a tree of its own,
 * because a kubelet ends what it finds in its own kubepods and has not started.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define LOAD_CGROUP      "kepler-validator-load.service"
#define LOAD_CGROUP_PODS "kepler-validator"
#define LOAD_CGROUPS_MAX 16
#define LOAD_CGROUP_PATH 512

enum load_cgroup_shape { LOAD_CGROUP_SERVICE, LOAD_CGROUP_POD };

struct load_cgroup {
	char container[80]; /* the name of the service, or the container's id */
	char pod[40];       /* the pod's uid; "": none */
	char paths[LOAD_CGROUPS_MAX][LOAD_CGROUP_PATH]; /* none: no cgroup could be made */
	int locks[LOAD_CGROUPS_MAX];                    /* held as long as it is ours */
	size_t made[LOAD_CGROUPS_MAX]; /* how many components of the path did not exist before */
	size_t count;
};

/*
 * In the hierarchies of @mounts_path ("/proc/self/mounts"), as far as they let a process in: with
 * none, the load stays where this program is. 0, or -EBUSY: the load of another validator is in
 * one, with which this one's would be confused; nothing is made then.
 */
int load_cgroup_make(const char *mounts_path, enum load_cgroup_shape shape,
		     struct load_cgroup *ret);
/* Moves the calling process there. */
void load_cgroup_join(const struct load_cgroup *cgroup);
/* The CPU time of all processes that were ever in it; NAN: not known. */
double load_cgroup_cpu_s(const struct load_cgroup *cgroup);
/* To all processes in it. */
void load_cgroup_signal(const struct load_cgroup *cgroup, int number);
/* Removes what was made. No process may be in it any more. */
void load_cgroup_remove(struct load_cgroup *cgroup);
