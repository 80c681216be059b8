// SPDX-License-Identifier: Apache-2.0
/*
 * A cgroup path, and the same bytes as a /proc/PID/cgroup, also as that of PID 1: names are chosen
 * by any user that may make a cgroup.
 */
#include <stdlib.h>
#include <string.h>

#include "workload/cgroup/cgroup_path.h"
#include "workload/cgroup/cgroup_path_unit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All that labels need is there; digits and uids are nothing else. */
static void check(const struct cgroup_owner *owner)
{
	const char *end = owner->pod_id + strcspn(owner->pod_id, "@");

	if (!owner->id[0] || !owner->name[0] || !owner->runtime || !owner->hypervisor ||
	    strnlen(owner->id, sizeof(owner->id)) == sizeof(owner->id) ||
	    strnlen(owner->name, sizeof(owner->name)) == sizeof(owner->name) ||
	    strnlen(owner->names_id, sizeof(owner->names_id)) == sizeof(owner->names_id) ||
	    (owner->pod_id[0] && owner->kind != OWNER_CONTAINER) ||
	    strspn(owner->pod_id, "0123456789abcdef-") != (size_t)(end - owner->pod_id))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct cgroup_owner owner;
	char root[64];

	if (!text)
		return 0;
	memcpy(text, data, size);
	cgroup_owner_from_path(text, size, &owner);
	check(&owner);
	text[size] = '\0';
	cgroup_owner_from_proc(text, &owner);
	check(&owner);
	if (cgroup_unit_root(text, root, sizeof(root))) {
		cgroup_owner_from_proc_below(root, text, &owner);
		check(&owner);
	}
	free(text);
	return 0;
}
