/* SPDX-License-Identifier: Apache-2.0 */
/* When to ask the directory for an owner's names, and how long to wait for them. */
#pragma once

#include "workload/owner.h"

/* How long sources are notified, once per interval, that a container is unknown to them. */
#define NAME_LOOKUP_ASK_NS (10 * 1000000000ULL)
/* A runtime on this host answers at once or not at all. */
#define NAME_LOOKUP_RUNTIME_WAIT_NS (5 * 1000000000ULL)

struct name_lookup {
	struct directory *directory; /* may be NULL */
	uint64_t generation, now_ns; /* both of the interval's begin */
	uint32_t interval;
	bool host_has_pods; /* so pods within containers are another cluster's */
};

/*
 * Brings names and `waiting` up to date. Costs nothing when the directory has not changed since and
 * nothing waits.
 */
void name_lookup_refresh(struct owner *owner, const struct name_lookup *lookup);
