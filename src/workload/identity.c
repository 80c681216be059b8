// SPDX-License-Identifier: Apache-2.0
#include "workload/identity.h"

const char *owner_kind_name(enum owner_kind kind)
{
	static const char *const names[OWNER_KIND_COUNT] = {
		[OWNER_SYSTEM] = "system",       [OWNER_KERNEL] = "kernel", [OWNER_UNIT] = "unit",
		[OWNER_CONTAINER] = "container", [OWNER_VM] = "vm",         [OWNER_JOB] = "job",
	};

	return kind < OWNER_KIND_COUNT ? names[kind] : "";
}
