/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that are virtual machines, and whose energy a machine's process is.
 *
 * A process whose name is a hypervisor's has its command line read once, on a thread, since that
 * may hang (cmdline_reads.h); until that answers it is its cgroup's. A machine is an owner of its
 * own, or, in a container (KubeVirt), the container is its owner and carries the machine's labels.
 *
 * Whose word counts: the scope of a manager of VMs; then root and managers' users; then a
 * container; then any user, whose machines have "@UID" behind id and name, so that they are nobody
 * else's. No two living machines have one id or one name: the weaker, or else the later, gets
 * "-PID" behind it. A container and a user have so many rows and no more, so that nobody can push
 * others' machines out; what finds no room is its cgroup's, and counted.
 */
#pragma once

#include "workload/cmdline_reads.h"
#include "workload/owner_table.h"
#include "workload/vm_users.h"

/* By whose word a process is a machine, the weakest first. */
struct machine_claim {
	enum { CLAIM_USER, CLAIM_CONTAINER, CLAIM_TRUSTED, CLAIM_SCOPE } rank;
	uint32_t uid;   /* of users */
	uint64_t party; /* whose limits count; 0: none do */
};

struct machines_options {
	int proc_fd;                /* borrowed */
	void (*start_thread)(void); /* see struct offload_options */
	const char *passwd;         /* NULL: /etc/passwd */
	uint64_t patience_ns;       /* see machines_await(); 0: 10 ms */
};

struct machines {
	struct map map; /* pid → index of rows */
	struct machine *rows;
	uint32_t count, size;
	struct owner_table *owners;
	uint64_t swept_ns;
	int proc_fd; /* borrowed */
	struct vm_users users;
	struct cmdline_reads reads;
	uint64_t patience_ns;
	uint32_t asks_left; /* in this interval */
	bool refused;       /* something was not asked, for want of room; for machines_await() */
	uint64_t overflows; /* cumulative: times that a process found no room */
};

void machines_init(struct machines *machines, const struct machines_options *options,
		   struct owner_table *owners);
void machines_release(struct machines *machines);
/* Once per interval. */
void machines_begin(struct machines *machines, uint64_t now_ns);
/*
 * Begins to find out about a process of a hypervisor's name, if that is not known, before
 * machines_resolve() is asked. @around: its cgroup's owner.
 */
void machines_announce(struct machines *machines, const struct process_ref *process,
		       const struct owner *around, uint64_t now_ns);
/*
 * Waits until what was announced is known, in sum at most for the patience of an interval. true: it
 * is, and others found no room: announce them again.
 */
bool machines_await(struct machines *machines);
/*
 * Whose a process of a hypervisor's name is; @around is its cgroup's. Borrowed. NULL: no machine,
 * or not known yet, or gone before it could be asked.
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
