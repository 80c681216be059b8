/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (pid, start) → owner, for the few cases where the cgroup id is not enough: the procfs reader has
 * none, and on v1 and hybrid systems a process can be at the root of the hierarchy of the ids, and
 * in a container in another.
 */
#pragma once

#include "workload/owner_table.h"

/*
 * A process that moves is detected by its cgroup id or its set of cgroups, and is also read again
 * periodically: often where the set is unknown, as with the procfs reader, and seldom where two
 * readings of one set were equal, because the address of a set can be used again.
 */
#define PROCESS_OWNERS_TRUST_NS     (30 * 1000000000ULL)
#define PROCESS_OWNERS_TRUST_SET_NS (300 * 1000000000ULL)
/* Rows that were not used in this time are dropped when the table has grown. */
#define PROCESS_OWNERS_KEEP_NS (30 * 1000000000ULL)

struct process_owners {
	struct map map; /* (pid, start) → index of rows */
	struct process_row *rows;
	uint32_t count, size;
	uint32_t swept_count;
	struct owner_table *owners;
};

void process_owners_init(struct process_owners *processes, struct owner_table *owners);
void process_owners_release(struct process_owners *processes);
/*
 * The owner, borrowed; NULL: not known, or the process has moved. *ret_is_trusted: false if it is
 * to be read again, since the last time was long ago or the process called exec.
 */
struct owner *process_owners_find(struct process_owners *processes,
				  const struct process_ref *process, uint64_t now_ns,
				  bool *ret_is_trusted);
/* Takes a reference of its own. Not stored without memory or room. */
void process_owners_put(struct process_owners *processes, const struct process_ref *process,
			struct owner *owner, uint64_t now_ns);
