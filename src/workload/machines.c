// SPDX-License-Identifier: Apache-2.0
/*
 * One row a process, found by its pid; the start time tells whether it is still the same, to a
 * clock tick, because kernel threads name their machine by pid and /proc has ticks. Ends are not
 * told here: rows are looked at again when they have doubled, and those whose process is gone go.
 */
#include "workload/machines.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "workload/proc_process.h"
#include "workload/vm_cmdline.h"

#define MACHINES_MAX 4096
#define SWEEP_MIN    64
#define SWEEP_NS     (10 * NSEC_PER_SEC) /* between two looks at who is gone, at the limit */
#define CMDLINE_MAX  (64U << 10)

struct machine {
	uint32_t pid, ppid;
	uint64_t start_ns;
	char comm[16];
	struct owner *around;      /* held: its cgroup's owner when that was looked at */
	struct owner *owner;       /* held: whose it is; NULL: no machine */
	bool is_scope;             /* a manager of VMs made its cgroup */
	struct cgroup_owner *what; /* id, name and hypervisor; NULL: no machine */
};

static struct map_key key_of(uint32_t pid)
{
	return (struct map_key){ 0, pid };
}

void machines_init(struct machines *machines, int proc_fd, struct owner_table *owners)
{
	*machines = (struct machines){ .proc_fd = proc_fd, .owners = owners };
	map_init(&machines->map, MACHINES_MAX);
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
	*machines = (struct machines){ .proc_fd = -1 };
}

static bool is_same(const struct machine *row, const struct process_ref *process)
{
	const struct proc_process started = { .start_ns = row->start_ns };

	return proc_process_is(&started, process->start_ns) &&
	       strncmp(row->comm, process->comm, sizeof(row->comm) - 1) == 0;
}

static struct machine new_row(const struct process_ref *process)
{
	struct machine row = { .pid = process->pid, .start_ns = process->start_ns };

	memcpy(row.comm, process->comm, strnlen(process->comm, sizeof(row.comm) - 1));
	return row;
}

static bool is_alive(const struct machines *machines, const struct machine *row)
{
	struct proc_process process;

	return proc_process_read(machines->proc_fd, row->pid, &process) == 0 &&
	       proc_process_is(&process, row->start_ns);
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

static bool is_full(const struct machines *machines, uint64_t now_ns)
{
	return machines->count >= MACHINES_MAX && now_ns < machines->swept_ns + SWEEP_NS;
}

static int make_room(struct machines *machines, uint64_t now_ns)
{
	uint32_t size = machines->size ? machines->size * 2 : SWEEP_MIN;
	struct machine *rows;

	if (is_full(machines, now_ns))
		return -ENOSPC;
	machines->swept_ns = now_ns;
	for (uint32_t i = machines->count; i-- > 0;)
		if (!is_alive(machines, &machines->rows[i]))
			remove_row(machines, i);
	if (machines->count < machines->size / 2)
		return 0;
	if (size > MACHINES_MAX)
		return machines->count < machines->size ? 0 : -ENOSPC;
	rows = realloc(machines->rows, size * sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	machines->rows = rows;
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
		return false;
	}
	machines->rows[machines->count++] = *row;
	return true;
}

/* ---- ids ---- */

/* Parent and child run one machine: QEMU forks to become a daemon, and for its helpers. */
static bool is_family(const struct machine *one, const struct machine *other)
{
	return one->ppid == other->pid || other->ppid == one->pid;
}

/* The living machine that has the id of @claimant, or NULL. */
static struct machine *find_holder(const struct machines *machines, const struct machine *claimant)
{
	for (uint32_t i = 0; i < machines->count; i++) {
		struct machine *row = &machines->rows[i];

		if (row->what && row->pid != claimant->pid &&
		    strcmp(row->what->id, claimant->what->id) == 0 && !is_family(row, claimant) &&
		    is_alive(machines, row))
			return row;
	}
	return NULL;
}

static void describe(struct cgroup_owner *ret, const struct vm_description *vm,
		     const struct owner *around, uint32_t pid, uint64_t start_ns)
{
	char id[VM_TEXT_MAX + 64], name[VM_TEXT_MAX];
	bool is_scope = around->view.kind == OWNER_VM;

	if (vm->name[0])
		(void)snprintf(name, sizeof(name), "%s", vm->name);
	else if (is_scope)
		(void)snprintf(name, sizeof(name), "%s", around->view.vm_name);
	else
		(void)snprintf(name, sizeof(name), "%s-%u", vm->family, pid);
	if (vm->uuid[0])
		(void)snprintf(id, sizeof(id), "%s", vm->uuid);
	else if (is_scope)
		(void)snprintf(id, sizeof(id), "%s", around->view.vm_id);
	else if (vm->name[0])
		(void)snprintf(id, sizeof(id), "%s/%s", vm->family, name);
	else
		(void)snprintf(id, sizeof(id), "%s/%u-%llu", vm->family, pid,
			       (unsigned long long)(start_ns / NSEC_PER_SEC));
	cgroup_owner_vm(ret, vm->hypervisor, id, name);
}

static void make_unique(struct cgroup_owner *what, uint32_t pid)
{
	char suffix[16];
	int len = snprintf(suffix, sizeof(suffix), "-%u", pid);
	size_t used = strlen(what->id);

	if (used + (size_t)len >= sizeof(what->id))
		used = sizeof(what->id) - (size_t)len - 1;
	memcpy(what->id + used, suffix, (size_t)len + 1);
}

/* Anybody can start a process with any uuid; a manager's scope says that this one is it. */
static void claim_id(struct machines *machines, struct machine *row)
{
	struct machine *holder = find_holder(machines, row);

	if (!holder)
		return;
	if (row->is_scope && !holder->is_scope) {
		make_unique(holder->what, holder->pid);
		owner_unref(machines->owners, TAKE_PTR(holder->around)); /* settled anew */
	} else {
		make_unique(row->what, row->pid);
	}
}

/* ---- whose ---- */

/* A container carries the first machine that is found in it, as long as that lives. */
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

/* (Re)decides whose the machine is: once, and when its process has moved. */
static void settle(struct machines *machines, struct machine *row, struct owner *around,
		   uint64_t now_ns)
{
	struct owner *before = row->owner, *was_around = row->around, *owner;

	if (around->view.kind == OWNER_CONTAINER)
		owner = owner_ref(around);
	else
		owner = owner_table_get(machines->owners, row->what, now_ns);
	row->around = owner_ref(around);
	row->owner = owner;
	if (around->view.kind == OWNER_CONTAINER)
		label_container(machines, around, row);
	else if (owner && around->view.kind == OWNER_VM)
		owner_set_alias(machines->owners, around, owner);
	owner_unref(machines->owners, before);
	owner_unref(machines->owners, was_around);
}

static bool read_description(const struct machines *machines, const struct process_ref *process,
			     struct vm_description *ret, bool *ret_is_machine)
{
	char *text = malloc(CMDLINE_MAX);
	ssize_t len = text ? proc_process_text(machines->proc_fd, process->pid, "cmdline", text,
					       CMDLINE_MAX)
			   : -ENOMEM;

	if (len > 0)
		*ret_is_machine = vm_cmdline_parse(process->comm, text, (size_t)len, ret);
	free(text);
	return len > 0;
}

static bool read_row(struct machines *machines, const struct process_ref *process,
		     const struct owner *around, uint64_t now_ns, struct machine **ret)
{
	struct machine row = new_row(process);
	struct proc_process stat;
	struct vm_description vm;
	bool is_machine = false;

	if (is_full(machines, now_ns) || !read_description(machines, process, &vm, &is_machine) ||
	    proc_process_read(machines->proc_fd, process->pid, &stat) < 0 ||
	    !proc_process_is(&stat, process->start_ns))
		return false;
	row.ppid = stat.ppid;
	row.is_scope = around->view.kind == OWNER_VM;
	if (is_machine) {
		row.what = malloc(sizeof(*row.what));
		if (!row.what)
			return false;
		describe(row.what, &vm, around, row.pid, row.start_ns);
		claim_id(machines, &row);
	}
	return add_row(machines, &row, now_ns) && find_row(machines, row.pid, ret);
}

struct owner *machines_resolve(struct machines *machines, const struct process_ref *process,
			       struct owner *around, uint64_t now_ns)
{
	struct machine *row;

	if ((!find_row(machines, process->pid, &row) || !is_same(row, process)) &&
	    !read_row(machines, process, around, now_ns, &row))
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

void machines_note_other(struct machines *machines, const struct process_ref *process,
			 uint64_t now_ns)
{
	struct machine row = new_row(process);

	(void)add_row(machines, &row, now_ns);
}
