/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that are virtual machines, and whose energy a machine's process is.
 *
 * A process whose name is a hypervisor's has its command line read once. A machine is an owner of
 * its own, or, in a container (KubeVirt), the container is its owner and carries the machine's
 * labels. No two living machines have one id: who claims a taken one gets "-PID" behind it, but
 * one in the scope of a manager of VMs gets the id from one that is not.
 */
#pragma once

#include "workload/owner_table.h"

struct machines {
	struct map map; /* pid → index of rows */
	struct machine *rows;
	uint32_t count, size;
	struct owner_table *owners;
	uint64_t swept_ns;
	int proc_fd; /* borrowed */
};

void machines_init(struct machines *machines, int proc_fd, struct owner_table *owners);
void machines_release(struct machines *machines);
/*
 * Whose a process of a hypervisor's name is; @around is its cgroup's. Borrowed. NULL: no machine,
 * or gone before it could be asked.
 */
struct owner *machines_resolve(struct machines *machines, const struct process_ref *process,
			       struct owner *around, uint64_t now_ns);
/*
 * The machine that kernel threads of @pid work for, as far as it is known. true: it is known that
 * *ret is it, or that there is none (NULL).
 */
bool machines_find_served(const struct machines *machines, uint32_t pid, struct owner **ret);
/* Remembers that a process is no machine, so that it is not asked again for its kernel threads. */
void machines_note_other(struct machines *machines, const struct process_ref *process,
			 uint64_t now_ns);
