// SPDX-License-Identifier: Apache-2.0
/*
 * systemd's tree is slices, and in a slice units: "*.service" and "*.scope". What lies below a unit
 * is the unit's own business (delegated sub-groups, a container's whole tree with units of its
 * own), so the walk ends at the first unit, with one exception: user@UID.service is a user's own
 * systemd, whose slices and units follow in it. A path that leaves the slices without a unit (a
 * container runtime's own tree, LXC) names none: units inside it belong to another systemd. "..":
 * the path of a process outside our cgroup namespace; it leads to where slices may follow.
 */
#include "workload/cgroup_unit.h"

#include <string.h>

struct part {
	const char *text;
	size_t len;
};

static bool ends_with(struct part part, const char *suffix)
{
	size_t len = strlen(suffix);

	return part.len > len && memcmp(part.text + part.len - len, suffix, len) == 0;
}

static bool starts_with(struct part part, const char *prefix)
{
	size_t len = strlen(prefix);

	return part.len > len && memcmp(part.text, prefix, len) == 0;
}

static bool is_unit(struct part part)
{
	return ends_with(part, ".service") || ends_with(part, ".scope");
}

static bool is_user_manager(struct part part)
{
	return starts_with(part, "user@") && ends_with(part, ".service");
}

static bool is_passage(struct part part)
{
	return ends_with(part, ".slice") || (part.len == 2 && memcmp(part.text, "..", 2) == 0);
}

/* The next component, without its slashes; false at the end. */
static bool next_part(const char **at, const char *end, struct part *ret)
{
	const char *slash;

	while (*at < end && **at == '/')
		(*at)++;
	if (*at == end)
		return false;
	slash = memchr(*at, '/', (size_t)(end - *at));
	*ret = (struct part){ *at, (size_t)((slash ? slash : end) - *at) };
	*at += ret->len;
	return true;
}

/* What the kernel appends to the path of a removed cgroup. */
static size_t without_deleted(const char *path, size_t len)
{
	static const char mark[] = " (deleted)";
	size_t mark_len = sizeof(mark) - 1;

	if (len >= mark_len && memcmp(path + len - mark_len, mark, mark_len) == 0)
		return len - mark_len;
	return len;
}

bool cgroup_unit_find(const char *path, size_t len, struct cgroup_unit *ret)
{
	const char *at = path, *end = path + without_deleted(path, len);
	struct part part, user_slice = { 0 }, manager = { 0 };
	struct cgroup_unit found = { 0 };
	size_t depth = 0;

	while (next_part(&at, end, &part)) {
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
		} else if (!manager.text && starts_with(part, "user-")) {
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
