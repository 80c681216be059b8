/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that are virtual machines, and the owners of their energy.
 *
 * The command line of a process with a hypervisor's name is read once, on a thread, since that may
 * hang (vm_cmdline_reads.h); until then the process belongs to its cgroup. A machine is an owner of
 * its own, or, in a container (KubeVirt), the container is its owner and has the machine's labels.
 *
 * Claims by strength: the scope of a manager of VMs; then root and managers' users; then a
 * container; then any user. The machines of such users have the suffix "@UID" on id and name, so
 * that they never equal those of others. No two living machines have the same id or name: the
 * weaker one, or else the later, gets the suffix "-PID". The rows of a container and of a user are
 * limited, so that they cannot displace the machines of others; a machine that does not fit belongs
 * to its cgroup and is counted.
 */
#pragma once

#include "base/text/uuid.h"
#include "workload/owner_table.h"
#include "workload/vm_cmdline_reads.h"
#include "workload/vm_users.h"

/* The ground on which a process is a machine, the weakest first. */
struct machine_claim {
	enum { CLAIM_USER, CLAIM_CONTAINER, CLAIM_TRUSTED, CLAIM_SCOPE } rank;
	uint32_t uid;   /* of users */
	uint64_t party; /* the party with the limits; 0: none */
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
	bool refused;       /* a process was not read because of a limit; for machines_await() */
	uint64_t overflows; /* cumulative: times that a process did not fit */
};

void machines_init(struct machines *machines, const struct machines_options *options,
		   struct owner_table *owners);
void machines_release(struct machines *machines);
/* Once per interval. */
void machines_begin(struct machines *machines, uint64_t now_ns);
/*
 * Starts the read for a process with a hypervisor's name, if it is unknown, before
 * machines_resolve() is called. @around: its cgroup's owner.
 */
void machines_announce(struct machines *machines, const struct process_ref *process,
		       const struct owner *around, uint64_t now_ns);
/*
 * Waits for the reads of announced processes, in sum at most for the patience of an interval. true:
 * they have finished, and others did not fit: announce those again.
 */
bool machines_await(struct machines *machines);
/*
 * The owner of a process with a hypervisor's name; @around is its cgroup's owner. Borrowed. NULL:
 * not a machine, or not known yet, or gone before it could be read.
 */
struct owner *machines_resolve(struct machines *machines, const struct process_ref *process,
			       struct owner *around, uint64_t now_ns);
/*
 * The machine that kernel threads of @pid work for, as far as it is known. true: it is known that
 * *ret is it, or that there is none (NULL).
 */
bool machines_find_served(const struct machines *machines, uint32_t pid, struct owner **ret);
/*
 * The process that runs the machine of that UUID; 0: none is known. Of several that claim it, the
 * one with the strongest claim, and then the newest.
 */
uint32_t machines_find_uuid(const struct machines *machines, const struct uuid *uuid);
/*
 * Remembers that a process is not a machine, so that it is not read again for its kernel threads.
 */
void machines_note_other(struct machines *machines, const struct process_ref *process,
			 uint64_t now_ns);
