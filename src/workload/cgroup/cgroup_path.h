/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owner of a cgroup, from its path alone. Pure. docs/design/owners.md says which places count
 * and why.
 *
 * Containers are recognised only where runtimes, or processes with the same rights, put them. Where
 * an unprivileged user or a container names cgroups, the key of the owner has that user or
 * container as a suffix, so that no owner can be charged for the work of another:
 *
 *     <id>            made by the system
 *     <id>@1000       by user 1000's own systemd (rootless)
 *     <id>@<outer>    inside a container: the outermost one's first 12 digits, or its name
 */
#pragma once

#include "workload/cgroup/cgroup_path_pod.h"
#include "workload/identity.h"

#define OWNER_POD_ID_MAX 64

struct cgroup_owner {
	enum owner_kind kind;
	const char *runtime;    /* static; of containers and jobs, else "" */
	const char *hypervisor; /* static; of VMs, else "" */
	char id[IDENTITY_NAME_MAX];
	char name[IDENTITY_NAME_MAX];  /* its name as long as no better one is known */
	char pod_id[OWNER_POD_ID_MAX]; /* of the outermost pod around it; "" none */
	/*
	 * The id to look up in the directory: its own, or the id of the container of its pod; ""
	 * for an owner that the directory cannot know.
	 */
	char names_id[IDENTITY_NAME_MAX];
	bool is_nested;     /* a container inside another */
	bool is_nested_pod; /* its pod lies inside a container: not one of this host's */
	uint32_t depth;     /* of the deciding component: the deeper, the more specific */
	/* Its own cgroup, a beginning of the path that was read, borrowed; NULL: not known. */
	const char *path;
	size_t path_len;
};

void cgroup_owner_kernel(struct cgroup_owner *ret);
void cgroup_owner_system(struct cgroup_owner *ret);
/* A virtual machine; id and name are cut to size. */
void cgroup_owner_vm(struct cgroup_owner *ret, const char *hypervisor, const char *id,
		     const char *name);
/*
 * Never fails: a cgroup in no known place belongs to the rest of the system. @root belongs to the
 * machine's own systemd, see cgroup_unit_find(); without it any tree of slices is taken for it.
 */
void cgroup_owner_from_path_below(const char *root, const char *path, size_t len,
				  struct cgroup_owner *ret);
void cgroup_owner_from_path(const char *path, size_t len, struct cgroup_owner *ret);
/*
 * From the text of /proc/PID/cgroup, a line a hierarchy. Hierarchies may disagree (v2's line may
 * say "/" on a hybrid system): a container, VM or job in any of them counts before a unit, a unit
 * before nothing, then the deeper one.
 */
void cgroup_owner_from_proc_below(const char *root, const char *text, struct cgroup_owner *ret);
void cgroup_owner_from_proc(const char *text, struct cgroup_owner *ret);
