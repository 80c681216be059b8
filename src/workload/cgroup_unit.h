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
 * Looks at path[0..len). false when no unit is named: the root, slices only, or a tree that is not
 * systemd's.
 */
bool cgroup_unit_find(const char *path, size_t len, struct cgroup_unit *ret);
