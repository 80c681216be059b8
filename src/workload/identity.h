/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is that process? cgroup id → path → owner: a systemd unit, the kernel, or the rest of the
 * system.
 *
 * An identity is what labels say of an owner. Resolved once per cgroup and kept; a known cgroup
 * costs one map look-up and no system call. Strings are cleaned for export by the exporters, not
 * here: they are what the kernel said, cut to size.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDENTITY_NAME_MAX 128

enum owner_kind { OWNER_SYSTEM, OWNER_KERNEL, OWNER_UNIT };

struct identity {
	enum owner_kind kind;
	/* Stable key of the owner: "system_processes", "nginx.service". */
	char container_id[IDENTITY_NAME_MAX];
	char container_name[IDENTITY_NAME_MAX];
	char container_namespace[IDENTITY_NAME_MAX]; /* "system", "kernel" */
	/* As container_name where there is no pod (classic Kepler). */
	char pod_name[IDENTITY_NAME_MAX];
};

/*
 * Pure: the owner that a cgroup path names ("/system.slice/nginx.service" → the unit
 * nginx.service).
 */
void identity_from_path(const char *cgroup_path, struct identity *ret);
/*
 * Pure: the same from the text of a /proc/PID/cgroup: of all hierarchies, the most specific unit.
 */
void identity_from_proc_cgroup(const char *text, struct identity *ret);
void identity_kernel(struct identity *ret);
void identity_system(struct identity *ret);

struct cgroup_unit;
/* Pure: the owner that is this unit (workload/cgroup_unit.h). */
void identity_from_unit(const struct cgroup_unit *unit, struct identity *ret);

struct identity_resolver;

struct identity_options {
	const char *procfs;
	const char *cgroupfs; /* "/sys/fs/cgroup" */
	/* Cached; 0: 16,384. Beyond it the cache is emptied and refilled. */
	uint32_t max_cgroups;
};

int identity_resolver_open(const struct identity_options *options, struct identity_resolver **ret);
void identity_resolver_close(struct identity_resolver *resolver);
/* The hierarchy whose cgroup ids it can turn into paths: "" for v2, a controller's name for v1. */
const char *identity_resolver_controller(const struct identity_resolver *resolver);
/*
 * The owner of a process: by @cgroup_id (open_by_handle_at), else by PROCFS/@pid/cgroup. Never
 * fails: what cannot be known is system_processes. The pointer is valid until the next call.
 */
const struct identity *identity_resolve(struct identity_resolver *resolver, uint64_t cgroup_id,
					uint32_t pid, bool kthread);
