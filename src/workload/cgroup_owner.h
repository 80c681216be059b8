/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose is a cgroup? From its path alone; pure. docs/design/owners.md says which places count and
 * why.
 *
 * Containers are looked for only where their runtimes, or who holds the same rights, put them.
 * Where an unprivileged user or a container names cgroups, what is found carries that user or
 * container in its key, so that nobody can be charged to somebody else:
 *
 *     <id>            made by the system
 *     <id>@1000       by user 1000's own systemd (rootless)
 *     <id>@<outer>    inside a container: the outermost one's first 12 digits, or its name
 */
#pragma once

#include "workload/cgroup_pod.h"
#include "workload/identity.h"

#define OWNER_POD_ID_MAX 64

struct cgroup_owner {
	enum owner_kind kind;
	const char *runtime;    /* static; of containers and jobs, else "" */
	const char *hypervisor; /* static; of VMs, else "" */
	char id[IDENTITY_NAME_MAX];
	char name[IDENTITY_NAME_MAX];  /* what to call it as long as nothing better is known */
	char pod_id[OWNER_POD_ID_MAX]; /* of the outermost pod around it; "" none */
	/*
	 * Whom to ask the directory for: itself, or the container of the pod that it lies in; ""
	 * who cannot be known there.
	 */
	char names_id[IDENTITY_NAME_MAX];
	bool is_nested;     /* a container inside another */
	bool is_nested_pod; /* its pod lies inside a container: not one of this host's */
	uint32_t depth;     /* of the component that said so: the deeper, the more specific */
	/* Its own cgroup, a beginning of the path that was read, borrowed; NULL: not known. */
	const char *path;
	size_t path_len;
};

void cgroup_owner_kernel(struct cgroup_owner *ret);
void cgroup_owner_system(struct cgroup_owner *ret);
/* A virtual machine; id and name are cut to size. */
void cgroup_owner_vm(struct cgroup_owner *ret, const char *hypervisor, const char *id,
		     const char *name);
/* Never fails: what is in no place that we know is the rest of the system. */
void cgroup_owner_from_path(const char *path, size_t len, struct cgroup_owner *ret);
/*
 * From the text of /proc/PID/cgroup, a line a hierarchy. Hierarchies may disagree (v2's line may
 * say "/" on a hybrid system): a container, VM or job in any of them counts before a unit, a unit
 * before nothing, then the deeper one.
 */
void cgroup_owner_from_proc(const char *text, struct cgroup_owner *ret);
