// SPDX-License-Identifier: Apache-2.0
/*
 * systemd's tree is slices, and in a slice units: "*.service" and "*.scope". A unit manages the
 * groups below it (delegated sub-groups, the whole tree of a container with units of its own), so
 * the walk ends at the first unit, with one exception: user@UID.service is a user's own systemd,
 * and its slices and units follow in it. A path that leaves the slices without a unit (the tree of
 * a container runtime, LXC) has none: units inside it belong to another systemd. "..": the path of
 * a process outside our cgroup namespace; it leads to where slices may follow. The tree begins at
 * the root of the machine's own systemd, which another init may have put into a directory; where
 * that root is unknown, it begins at the first slice that no unit has above it.
 */
#include "workload/cgroup/cgroup_path_unit.h"

#include <stdio.h>
#include <string.h>

#include "workload/cgroup/cgroup_path_part.h"

#define FIRST_UNIT "init.scope" /* systemd itself, as PID 1 */

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

static bool is_outside_namespace(const char *path, const char *end)
{
	struct part part;

	return part_next(&path, end, &part) && part_is(part, "..");
}

/* path[..end) from the first slice on; the whole path where a unit or nothing precedes it. */
static const char *find_tree(const char *path, const char *end, size_t *ret_depth)
{
	const char *at = path;
	struct part part;

	for (size_t depth = 0; part_next(&at, end, &part); depth++) {
		if (part_ends(part, ".slice") || part_is(part, FIRST_UNIT)) {
			*ret_depth = depth;
			return part.text;
		}
		if (is_unit(part))
			break;
	}
	*ret_depth = 0;
	return path;
}

/* The rest after @root, with the number of components passed; NULL: the path is not below it. */
static const char *skip_root(const char *root, const char *path, const char *end, size_t *ret_depth)
{
	const char *at = root;
	size_t len = strlen(root);
	struct part part;

	if (len > 0 &&
	    ((size_t)(end - path) <= len || memcmp(path, root, len) != 0 || path[len] != '/'))
		return NULL;
	*ret_depth = 0;
	while (part_next(&at, root + len, &part))
		++*ret_depth;
	return path + len;
}

bool cgroup_unit_find(const char *root, const char *path, size_t len, struct cgroup_unit *ret)
{
	const char *end = path + path_without_deleted(path, len), *at;
	struct part part, user_slice = { 0 }, manager = { 0 };
	struct cgroup_unit found = { 0 };
	size_t depth = 0;

	if (!root)
		at = find_tree(path, end, &depth);
	else
		at = is_outside_namespace(path, end) ? path : skip_root(root, path, end, &depth);
	if (!at)
		return false;
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

bool cgroup_unit_root(const char *text, char *buf, size_t size)
{
	static const char suffix[] = "/" FIRST_UNIT;

	for (const char *line = text; *line;) {
		const char *end = line + strcspn(line, "\n");
		const char *path = memchr(line, '/', (size_t)(end - line));
		size_t len = path ? (size_t)(end - path) : 0, root = len - (sizeof(suffix) - 1);

		if (len >= sizeof(suffix) - 1 && root < size &&
		    memcmp(path + root, suffix, sizeof(suffix) - 1) == 0 &&
		    !is_outside_namespace(path, end)) {
			(void)snprintf(buf, size, "%.*s", (int)root, path);
			return true;
		}
		line = end + (*end == '\n');
	}
	return false;
}
