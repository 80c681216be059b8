// SPDX-License-Identifier: Apache-2.0
/*
 * One row a process, found by its pid; the start time shows, to a clock tick, whether it is still
 * the same, because kernel threads name their machine by pid and /proc has ticks. Ends are not
 * reported here: rows are checked again when their number has doubled, and rows of processes that
 * have ended are removed.
 */
#include "workload/vm_owners.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/num.h"
#include "host/proc.h"
#include "workload/text_key.h"
#include "workload/vm_cmdline.h"

#define MACHINES_MAX   4096
#define CONTAINERS_MAX (MACHINES_MAX / 2) /* of them in containers */
#define USERS_MAX      256                /* of them of ordinary users */
#define PARTY_MAX      64                 /* of one container, of one user */
#define ASKED_MAX      1024               /* processes that are read in one interval */
#define SWEEP_MIN      64
#define SWEEP_NS       (10 * NSEC_PER_SEC) /* between two sweeps at a limit */
#define PATIENCE_NS    (10 * NSEC_PER_MSEC)

struct machine {
	uint32_t pid;
	uint64_t start_ns;
	uint32_t ppid;
	uint64_t parent_start_ns; /* 0: the parent was gone */
	char comm[16];
	struct machine_claim claim;
	uint64_t bearer_ns;        /* as in struct identity; of the first of its processes */
	bool was_hypervisor;       /* by its executable, when it was asked */
	struct owner *around;      /* held: its cgroup's owner at that time */
	struct owner *owner;       /* held: its owner; NULL: not a machine */
	struct cgroup_owner *what; /* id, name and hypervisor; NULL: no machine */
	struct uuid uuid;          /* of its command line */
};

static struct map_key key_of(uint32_t pid)
{
	return (struct map_key){ 0, pid };
}

void machines_init(struct machines *machines, const struct machines_options *options,
		   struct owner_table *owners)
{
	*machines = (struct machines){ .proc_fd = options->proc_fd,
				       .owners = owners,
				       .asks_left = ASKED_MAX,
				       .patience_ns = options->patience_ns ? options->patience_ns
									   : PATIENCE_NS };
	map_init(&machines->map, MACHINES_MAX);
	vm_users_read(options->passwd ? options->passwd : "/etc/passwd", &machines->users);
	cmdline_reads_init(&machines->reads, options->proc_fd, options->start_thread);
}

static void release_row(struct machines *machines, struct machine *row)
{
	owner_unref(machines->owners, row->around);
	owner_unref(machines->owners, row->owner);
	free(row->what);
}

void machines_release(struct machines *machines)
{
	for (uint32_t i = 0; i < machines->count; i++)
		release_row(machines, &machines->rows[i]);
	free(machines->rows);
	map_release(&machines->map);
	cmdline_reads_release(&machines->reads);
	*machines = (struct machines){ .proc_fd = -1 };
}

static bool is_same(const struct machine *row, const struct process_ref *process)
{
	return proc_is_same_start(row->start_ns, process->start_ns) &&
	       strncmp(row->comm, process->comm, sizeof(row->comm) - 1) == 0 &&
	       (row->what || row->was_hypervisor || process->exe != PROCESS_EXE_HYPERVISOR);
}

static struct machine new_row(const struct process_ref *process, const struct machine_claim *claim)
{
	struct machine row = { .pid = process->pid,
			       .start_ns = process->start_ns,
			       .claim = *claim,
			       .was_hypervisor = process->exe == PROCESS_EXE_HYPERVISOR };

	memcpy(row.comm, process->comm, strnlen(process->comm, sizeof(row.comm) - 1));
	return row;
}

static bool is_alive(const struct machines *machines, const struct machine *row)
{
	struct proc_stat process;

	return proc_read_stat(machines->proc_fd, row->pid, &process) == 0 &&
	       proc_is_same_start(proc_start_ns(&process), row->start_ns);
}

static bool find_row(const struct machines *machines, uint32_t pid, struct machine **ret)
{
	uint32_t index = map_find(&machines->map, key_of(pid));

	if (index == MAP_NONE)
		return false;
	*ret = &machines->rows[index];
	return true;
}

static void remove_row(struct machines *machines, uint32_t index)
{
	struct machine *row = &machines->rows[index];

	release_row(machines, row);
	(void)map_remove(&machines->map, key_of(row->pid));
	*row = machines->rows[--machines->count];
	if (index < machines->count)
		(void)map_put(&machines->map, key_of(row->pid), index);
}

static void sweep(struct machines *machines, uint64_t now_ns)
{
	machines->swept_ns = now_ns;
	for (uint32_t i = machines->count; i-- > 0;)
		if (!is_alive(machines, &machines->rows[i]))
			remove_row(machines, i);
}

static int make_room(struct machines *machines, uint64_t now_ns)
{
	uint32_t size = machines->size ? machines->size * 2 : SWEEP_MIN;

	if (machines->count >= MACHINES_MAX && now_ns < machines->swept_ns + SWEEP_NS)
		return -ENOSPC;
	sweep(machines, now_ns);
	if (machines->count < machines->size / 2)
		return 0;
	if (size > MACHINES_MAX)
		return machines->count < machines->size ? 0 : -ENOSPC;
	if (ARRAY_RESIZE(machines->rows, size) < 0)
		return -ENOMEM;
	machines->size = size;
	return 0;
}

/* Takes what @row holds; false: there is no room. */
static bool add_row(struct machines *machines, struct machine *row, uint64_t now_ns)
{
	uint32_t index = map_find(&machines->map, key_of(row->pid));

	if (index != MAP_NONE)
		remove_row(machines, index);
	if ((machines->count == machines->size && make_room(machines, now_ns) < 0) ||
	    map_put(&machines->map, key_of(row->pid), machines->count) < 0) {
		release_row(machines, row);
		machines->overflows++;
		return false;
	}
	machines->rows[machines->count++] = *row;
	return true;
}

/* ---- claims ---- */

static bool has_room(const struct machines *machines, const struct machine_claim *claim)
{
	uint32_t limit = claim->rank == CLAIM_CONTAINER ? CONTAINERS_MAX : USERS_MAX;
	uint32_t count = 0, own = 0;

	for (uint32_t i = 0; claim->party && i < machines->count; i++) {
		const struct machine_claim *other = &machines->rows[i].claim;

		count += other->rank == claim->rank;
		own += other->party == claim->party;
	}
	return !claim->party || (count < limit && own < PARTY_MAX);
}

static bool provide_room(struct machines *machines, const struct machine_claim *claim,
			 uint64_t now_ns)
{
	if (has_room(machines, claim))
		return true;
	if (now_ns >= machines->swept_ns + SWEEP_NS) {
		sweep(machines, now_ns);
		if (has_room(machines, claim))
			return true;
	}
	machines->overflows++;
	return false;
}

static bool runs_hypervisor(const struct machines *machines, const struct process_ref *process)
{
	char exe[64];

	if (process->exe != PROCESS_EXE_UNKNOWN)
		return process->exe == PROCESS_EXE_HYPERVISOR;
	return proc_read_exe(machines->proc_fd, process->pid, exe, sizeof(exe)) == 0 &&
	       vm_exe_is_hypervisor(exe);
}

/*
 * On which ground it is a machine. 0; 1: it is not one; -errno: it is gone. A process in a
 * manager's scope is one, whatever its program; another process by its executable, or because it
 * belongs to root or a manager. The name alone is not enough: any user's process may have it.
 */
static int find_claim(const struct machines *machines, const struct process_ref *process,
		      const struct owner *around, struct machine_claim *ret)
{
	bool is_trusted;
	int r;

	*ret = (struct machine_claim){ .rank = CLAIM_SCOPE };
	if (around->view.kind == OWNER_VM)
		return 0;
	r = proc_read_uid(machines->proc_fd, process->pid, &ret->uid);
	if (r < 0)
		return r;
	is_trusted = vm_users_have(&machines->users, ret->uid);
	ret->rank = is_trusted ? CLAIM_TRUSTED : CLAIM_USER;
	ret->party = is_trusted ? 0 : (uint64_t)ret->uid + 1;
	if (around->view.kind == OWNER_CONTAINER) {
		ret->rank = CLAIM_CONTAINER;
		ret->party = text_key(around->id).lo | 1ULL << 63;
	}
	return is_trusted || runs_hypervisor(machines, process) ? 0 : 1;
}

/* ---- ids ---- */

/*
 * Parent and child run one machine: QEMU forks to become a daemon, and for its helpers. A parent
 * that has ended does not count: its pid may belong to another process by now.
 */
static bool is_parent(const struct machine *row, const struct machine *child)
{
	return child->ppid == row->pid && child->parent_start_ns &&
	       proc_is_same_start(child->parent_start_ns, row->start_ns);
}

/* The living machine that has that id, or that name, of @claimant; NULL: none. */
static struct machine *find_holder(const struct machines *machines, const struct machine *claimant,
				   bool by_name)
{
	const struct cgroup_owner *what = claimant->what;

	for (uint32_t i = 0; i < machines->count; i++) {
		struct machine *row = &machines->rows[i];

		if (!row->what || row->pid == claimant->pid ||
		    strcmp(by_name ? row->what->name : row->what->id,
			   by_name ? what->name : what->id) != 0)
			continue;
		if (!is_parent(row, claimant) && !is_parent(claimant, row) &&
		    is_alive(machines, row))
			return row;
	}
	return NULL;
}

/* When the first of the processes that run the machine @row started, as far as they are known. */
static uint64_t bearer_of(const struct machines *machines, const struct machine *row)
{
	for (uint32_t i = 0; i < machines->count; i++) {
		const struct machine *other = &machines->rows[i];

		if (other->what && other->bearer_ns &&
		    strcmp(other->what->id, row->what->id) == 0 &&
		    (is_parent(other, row) || is_parent(row, other)))
			return other->bearer_ns;
	}
	return row->start_ns;
}

/* Appends a suffix, and cuts the text for it. */
static void add_suffix(char *text, size_t size, char mark, uint32_t number)
{
	char suffix[16];
	int len = snprintf(suffix, sizeof(suffix), "%c%u", mark, number);
	size_t used = strlen(text);

	if (used + (size_t)len >= size)
		used = size - (size_t)len - 1;
	memcpy(text + used, suffix, (size_t)len + 1);
}

static void describe(struct cgroup_owner *ret, const struct vm_description *vm,
		     const struct owner *around, const struct machine *row)
{
	char id[VM_TEXT_MAX + 64], name[VM_TEXT_MAX];
	bool is_scope = row->claim.rank == CLAIM_SCOPE;

	if (vm->name[0])
		(void)snprintf(name, sizeof(name), "%s", vm->name);
	else if (is_scope)
		(void)snprintf(name, sizeof(name), "%s", around->vm_name);
	else
		(void)snprintf(name, sizeof(name), "%s-%u", vm->family, row->pid);
	if (vm->uuid[0])
		(void)snprintf(id, sizeof(id), "%s", vm->uuid);
	else if (is_scope)
		(void)snprintf(id, sizeof(id), "%s", around->vm_id);
	else if (vm->name[0])
		(void)snprintf(id, sizeof(id), "%s/%s", vm->family, name);
	else
		(void)snprintf(id, sizeof(id), "%s/%u-%llu", vm->family, row->pid,
			       (unsigned long long)(row->start_ns / NSEC_PER_SEC));
	cgroup_owner_vm(ret, vm->hypervisor, id, name);
	if (row->claim.rank == CLAIM_USER) {
		add_suffix(ret->id, sizeof(ret->id), '@', row->claim.uid);
		add_suffix(ret->name, sizeof(ret->name), '@', row->claim.uid);
	}
}

/*
 * If two claim one text, the weaker one gets its pid as a suffix; if they are equal, the later one.
 */
static void claim_text(struct machines *machines, struct machine *row, bool by_name)
{
	struct machine *holder = find_holder(machines, row, by_name), *weaker = row;
	struct cgroup_owner *what;

	if (!holder)
		return;
	if (row->claim.rank > holder->claim.rank && row->claim.rank >= CLAIM_TRUSTED) {
		weaker = holder;
		owner_unref(machines->owners, TAKE_PTR(holder->around)); /* it is settled again */
	}
	what = weaker->what;
	if (by_name)
		add_suffix(what->name, sizeof(what->name), '-', weaker->pid);
	else
		add_suffix(what->id, sizeof(what->id), '-', weaker->pid);
}

/* ---- owners of machines ---- */

/* A container has the labels of the first machine that is found in it, as long as that lives. */
static void label_container(struct machines *machines, struct owner *container,
			    const struct machine *row)
{
	struct machine *other;

	if (container->machine_pid != row->pid &&
	    find_row(machines, container->machine_pid, &other) && other->owner == container &&
	    is_alive(machines, other))
		return;
	owner_set_machine(container, row->what, row->pid);
}

/* Decides which owner the machine has: once, and again when its process has moved. */
static void settle(struct machines *machines, struct machine *row, struct owner *around,
		   uint64_t now_ns)
{
	struct owner *before = row->owner, *was_around = row->around, *owner;

	if (around->view.kind == OWNER_CONTAINER)
		owner = owner_ref(around);
	else
		owner = owner_table_get(machines->owners, row->what, now_ns);
	if (owner && owner != around) {
		owner_rename(owner, row->what->name);
		owner->view.bearer_ns = row->bearer_ns;
	}
	row->around = owner_ref(around);
	row->owner = owner;
	if (around->view.kind == OWNER_CONTAINER)
		label_container(machines, around, row);
	else if (owner && around->view.kind == OWNER_VM)
		owner_set_alias(machines->owners, around, owner);
	owner_unref(machines->owners, before);
	owner_unref(machines->owners, was_around);
}

/* ---- asking ---- */

/* Checks that it is still the same process, and reads its parent while that is its parent. */
static int read_family(const struct machines *machines, struct machine *row)
{
	struct proc_stat before, parent, after;
	int r = proc_read_stat(machines->proc_fd, row->pid, &before);

	if (r < 0 || !proc_is_same_start(proc_start_ns(&before), row->start_ns))
		return r < 0 ? r : -ESRCH;
	row->ppid = before.ppid;
	if (proc_read_stat(machines->proc_fd, before.ppid, &parent) == 0 &&
	    proc_read_stat(machines->proc_fd, row->pid, &after) == 0 && after.ppid == before.ppid)
		row->parent_start_ns = proc_start_ns(&parent);
	return 0;
}

static bool is_about(const struct cmdline_read *read, const struct process_ref *process)
{
	return read->start_ns == process->start_ns &&
	       strncmp(read->comm, process->comm, sizeof(read->comm) - 1) == 0;
}

void machines_announce(struct machines *machines, const struct process_ref *process,
		       const struct owner *around, uint64_t now_ns)
{
	struct cmdline_read *read;
	struct machine_claim claim;
	struct machine *row;
	int r;

	if (find_row(machines, process->pid, &row) && is_same(row, process))
		return;
	read = cmdline_reads_find(&machines->reads, process->pid);
	if (read && (!read->finished || is_about(read, process)))
		return;
	if (read)
		cmdline_reads_forget(&machines->reads, read);
	if (machines->asks_left == 0) {
		machines->overflows++;
		return;
	}
	machines->asks_left--;
	r = find_claim(machines, process, around, &claim);
	if (r < 0 || !provide_room(machines, &claim, now_ns))
		return;
	if (r > 0) {
		struct machine none = new_row(process, &claim);

		(void)add_row(machines, &none, now_ns);
		return;
	}
	if (cmdline_reads_ask(&machines->reads, process, claim.party, now_ns) == -EBUSY)
		machines->refused = true;
}

bool machines_await(struct machines *machines)
{
	bool again = cmdline_reads_await(&machines->reads) && machines->refused;

	machines->refused = false;
	return again;
}

static bool add_machine(struct machines *machines, const struct process_ref *process,
			const struct owner *around, const struct cmdline_read *read,
			uint64_t now_ns)
{
	struct machine_claim claim;
	struct machine row;

	if (find_claim(machines, process, around, &claim) != 0 ||
	    !provide_room(machines, &claim, now_ns))
		return false;
	row = new_row(process, &claim);
	if (read_family(machines, &row) < 0)
		return false;
	if (read->is_machine) {
		row.what = malloc(sizeof(*row.what));
		if (!row.what)
			return false;
		describe(row.what, &read->vm, around, &row);
		(void)uuid_parse(read->vm.uuid, strlen(read->vm.uuid), &row.uuid);
		claim_text(machines, &row, false);
		claim_text(machines, &row, true);
		row.bearer_ns = read->vm.uuid[0] ? 0 : bearer_of(machines, &row);
	}
	return add_row(machines, &row, now_ns);
}

/* The answer becomes a row, or is forgotten: then the process is asked again. */
static bool take_answer(struct machines *machines, const struct process_ref *process,
			const struct owner *around, uint64_t now_ns, struct machine **ret)
{
	struct cmdline_read *read = cmdline_reads_find(&machines->reads, process->pid);
	bool added;

	if (!read || !read->finished)
		return false;
	added = is_about(read, process) && read->was_read &&
		add_machine(machines, process, around, read, now_ns);
	cmdline_reads_forget(&machines->reads, read);
	return added && find_row(machines, process->pid, ret);
}

struct owner *machines_resolve(struct machines *machines, const struct process_ref *process,
			       struct owner *around, uint64_t now_ns)
{
	struct machine *row;

	if ((!find_row(machines, process->pid, &row) || !is_same(row, process)) &&
	    !take_answer(machines, process, around, now_ns, &row))
		return NULL;
	if (!row->what)
		return NULL;
	if (row->around != around || !row->owner)
		settle(machines, row, around, now_ns);
	return row->owner;
}

bool machines_find_served(const struct machines *machines, uint32_t pid, struct owner **ret)
{
	struct machine *row;

	if (!find_row(machines, pid, &row) || (row->what && !row->owner))
		return false;
	*ret = row->owner;
	return true;
}

static bool is_better(const struct machine *row, const struct machine *other)
{
	if (row->claim.rank != other->claim.rank)
		return row->claim.rank > other->claim.rank;
	return row->start_ns > other->start_ns;
}

uint32_t machines_find_uuid(const struct machines *machines, const struct uuid *uuid)
{
	const struct machine *best = NULL;

	for (uint32_t i = 0; i < machines->count; i++) {
		const struct machine *row = &machines->rows[i];

		if (row->what && uuid_is_same(&row->uuid, uuid) && (!best || is_better(row, best)))
			best = row;
	}
	return best ? best->pid : 0;
}

void machines_note_other(struct machines *machines, const struct process_ref *process,
			 uint64_t now_ns)
{
	const struct machine_claim unclaimed = { .rank = CLAIM_TRUSTED };
	struct machine row = new_row(process, &unclaimed);

	(void)add_row(machines, &row, now_ns);
}

void machines_begin(struct machines *machines, uint64_t now_ns)
{
	machines->asks_left = ASKED_MAX;
	machines->refused = false;
	cmdline_reads_begin(&machines->reads, now_ns, machines->patience_ns);
}
