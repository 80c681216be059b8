// SPDX-License-Identifier: Apache-2.0
/*
 * systemd's tree is slices, and in a slice units: "*.service" and "*.scope". A unit manages the
 * groups below it (delegated sub-groups, the whole tree of a container with units of its own), so
 * the walk ends at the first unit, with one exception: user@UID.service is a user's own systemd,
 * and its slices and units follow in it. A path that leaves the slices without a unit (the tree of
 * a container runtime, LXC) has none: units inside it belong to another systemd. "..": the path of
 * a process outside our cgroup namespace; it leads to where slices may follow.
 */
#include "workload/cgroup_unit.h"

#include "workload/path_part.h"

static bool is_unit(struct part part)
{
	return part_ends(part, ".service") || part_ends(part, ".scope");
}

static bool is_user_manager(struct part part)
{
	return part_starts(part, "user@") && part_ends(part, ".service");
}

static bool is_passage(struct part part)
{
	return part_ends(part, ".slice") || part_is(part, "..");
}

bool cgroup_unit_find(const char *path, size_t len, struct cgroup_unit *ret)
{
	const char *at = path, *end = path + path_without_deleted(path, len);
	struct part part, user_slice = { 0 }, manager = { 0 };
	struct cgroup_unit found = { 0 };
	size_t depth = 0;

	while (part_next(&at, end, &part)) {
		depth++;
		if (is_unit(part)) {
			found.unit = part.text;
			found.unit_len = part.len;
			found.depth = depth;
			if (manager.text || !is_user_manager(part))
				break;
			manager = part;
		} else if (!is_passage(part)) {
			break;
		} else if (!manager.text && part_starts(part, "user-")) {
			user_slice = part;
		}
	}
	if (!found.unit)
		return false;
	if (manager.text && manager.text != found.unit) {
		struct part scope = user_slice.text ? user_slice : manager;

		found.scope = scope.text;
		found.scope_len = scope.len;
	}
	*ret = found;
	return true;
}
