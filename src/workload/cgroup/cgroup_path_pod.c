// SPDX-License-Identifier: Apache-2.0
#include "workload/cgroup/cgroup_path_pod.h"

#include <string.h>

#include "base/macro.h"

#define STATIC_POD_UID_LEN 32 /* hash of its manifest */

bool cgroup_is_kubepods(struct part part)
{
	return part_is(part, "kubepods") || part_ends(part, "-kubepods");
}

static bool copy_uid(struct part part, char dash, char ret_uid[POD_UID_MAX])
{
	if (!part_is_uuid(part, dash) && !part_is_hex(part, STATIC_POD_UID_LEN))
		return false;
	memcpy(ret_uid, part.text, part.len);
	ret_uid[part.len] = '\0';
	for (char *c = ret_uid; *c; c++)
		if (*c == '_')
			*c = '-';
	return true;
}

/* Returns true if "kubepods" is one of the words of a slice, separated by dashes. */
static bool names_kubepods(struct part slice)
{
	struct part word, rest = slice;

	while (part_split(rest, '-', &word, &rest))
		if (part_is(word, "kubepods"))
			return true;
	return false;
}

/* The uid after the last "-pod" of a slice. */
static bool uid_of_slice(struct part slice, struct part *ret)
{
	struct part word, rest = slice;

	while (part_split(rest, '-', &word, &rest))
		;
	return part_between(rest, "pod", ".slice", ret);
}

bool cgroup_pod_find(struct part part, bool in_kubepods, char ret_uid[POD_UID_MAX])
{
	struct part uid;

	if (in_kubepods && part_between(part, "pod", "", &uid) && copy_uid(uid, '-', ret_uid))
		return true;
	return names_kubepods(part) && uid_of_slice(part, &uid) && copy_uid(uid, '_', ret_uid);
}
