/* SPDX-License-Identifier: Apache-2.0 */
/* The systemd unit that a cgroup path runs through. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Points into the path; not terminated. */
struct cgroup_unit {
	const char *unit; /* "nginx.service" */
	size_t unit_len;
	/* The user's slice (or manager), for a unit of a user's own systemd; else NULL. */
	const char *scope;
	size_t scope_len;
	size_t depth; /* of the unit in the path: the deeper, the more specific */
};

/*
 * Looks at path[0..len). @root: the cgroup below which the machine's own systemd has its slices, ""
 * for the root of all; NULL: it is unknown. false when no unit is named: the root, slices only, or
 * a tree that is not the machine's systemd's.
 */
bool cgroup_unit_find(const char *root, const char *path, size_t len, struct cgroup_unit *ret);
/*
 * The root of the machine's own systemd, for cgroup_unit_find(), from the text of /proc/1/cgroup:
 * systemd puts itself into "init.scope" below its root. false: PID 1 is not systemd, or its place
 * cannot be named from our cgroup namespace.
 */
bool cgroup_unit_root(const char *text, char *buf, size_t size);
