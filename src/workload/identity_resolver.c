// SPDX-License-Identifier: Apache-2.0
/*
 * Tables are used in this order: cgroup id → owner, cached or opened by its id; (pid, start) →
 * owner, from /proc/PID/cgroup, read on a thread, where the id is not enough; then, for processes
 * with a hypervisor's name, the machine. A failed look-up is not cached: the next process of that
 * cgroup may succeed.
 *
 * Known process, known cgroup: map look-ups and no system call. New process in a known cgroup: the
 * same. New cgroup: open_by_handle_at(), readlink() and close(), once.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/macro.h"
#include "host/proc.h"
#include "workload/cgroup/cgroup_path_unit.h"
#include "workload/cgroup/cgroup_reads.h"
#include "workload/cgroup/hierarchy.h"
#include "workload/name_lookup.h"
#include "workload/owner_by_cgroup.h"
#include "workload/owner_by_process.h"
#include "workload/vm_cmdline.h"
#include "workload/vm_owners.h"

#define CGROUPS_DEFAULT 16384
#define CGROUP_PATH_MAX 4352 /* PATH_MAX and the mount's own path */
#define INIT_TEXT_MAX   8192 /* /proc/1/cgroup, a line a hierarchy */
#define INIT_PID        1

struct identity_resolver {
	struct hierarchy hierarchy;
	int proc_fd;
	bool merge_services;
	struct owner_table owners;
	struct cgroup_cache cgroups;
	struct process_owners processes;
	struct cgroup_reads reads;
	bool machine_waits; /* for its cgroup: its command line is read after that */
	struct machines machines;
	struct owner *kernel, *system; /* held */
	struct owner *last;            /* held: what the caller looks at */
	struct name_lookup names;
	bool has_systemd_root;
	char systemd_root[CGROUP_PATH_MAX];
	char path[CGROUP_PATH_MAX];
};

/* ---- owners ---- */

/*
 * Where the machine's own systemd has its cgroups: by the cgroup of PID 1, which may be in a cgroup
 * namespace of its own; then by the root of the hierarchy.
 */
static void find_systemd(struct identity_resolver *resolver)
{
	char text[INIT_TEXT_MAX] = "";

	(void)proc_read_text(resolver->proc_fd, INIT_PID, "cgroup", text, sizeof(text));
	resolver->has_systemd_root =
		cgroup_unit_root(text, resolver->systemd_root, sizeof(resolver->systemd_root)) ||
		hierarchy_has(&resolver->hierarchy, "/init.scope");
}

static const char *systemd_root(const struct identity_resolver *resolver)
{
	return resolver->has_systemd_root ? resolver->systemd_root : NULL;
}

/* A reference is given; the rest of the system where memory ran out. */
static struct owner *owner_of(struct identity_resolver *resolver, struct cgroup_owner *what)
{
	struct owner *owner;

	if (what->kind == OWNER_UNIT && resolver->merge_services)
		return owner_ref(resolver->system);
	if (what->pod_id[0] && !what->is_nested_pod && !strchr(what->pod_id, '@'))
		resolver->names.host_has_pods = true;
	owner = owner_table_get(&resolver->owners, what, resolver->names.now_ns);
	return owner ? owner : owner_ref(resolver->system);
}

static struct owner *remember_cgroup(struct identity_resolver *resolver, uint64_t cgroup_id,
				     struct cgroup_owner *what)
{
	struct owner *owner = owner_of(resolver, what);

	if (!owner->cgroup_id)
		owner->cgroup_id = cgroup_id;
	cgroup_cache_put(&resolver->cgroups, cgroup_id, owner, resolver->names.now_ns);
	owner_unref(&resolver->owners, owner);
	return cgroup_cache_find(&resolver->cgroups, cgroup_id, resolver->names.now_ns);
}

void identity_resolver_learn(struct identity_resolver *resolver, uint64_t cgroup_id,
			     const char *path)
{
	struct cgroup_owner what;

	if (!cgroup_id || cgroup_cache_find(&resolver->cgroups, cgroup_id, resolver->names.now_ns))
		return;
	cgroup_owner_from_path_below(systemd_root(resolver), path, strlen(path), &what);
	(void)remember_cgroup(resolver, cgroup_id, &what);
}

/* ---- by cgroup, by process ---- */

static struct owner *by_cgroup(struct identity_resolver *resolver, uint64_t cgroup_id, int *ret_err)
{
	struct owner *owner =
		cgroup_cache_find(&resolver->cgroups, cgroup_id, resolver->names.now_ns);
	struct cgroup_owner what;
	int len;

	*ret_err = 0;
	if (owner)
		return owner;
	len = hierarchy_path(&resolver->hierarchy, cgroup_id, resolver->path,
			     sizeof(resolver->path));
	if (len < 0) {
		*ret_err = len;
		return NULL;
	}
	cgroup_owner_from_path_below(systemd_root(resolver), resolver->path, (size_t)len, &what);
	return remember_cgroup(resolver, cgroup_id, &what);
}

/*
 * A cgroup id that cannot be opened without a capability belongs to the path of the process's line;
 * but not with several lines, nor if the cgroup was removed: then the process is elsewhere.
 */
static bool is_id_of_line(const struct identity_resolver *resolver, int err)
{
	return err < 0 && err != -ESTALE && err != -ENOENT &&
	       !resolver->hierarchy.is_one_of_several;
}

static void take_read(struct identity_resolver *resolver, const struct cgroup_read *read,
		      const char *text)
{
	const struct process_ref process = {
		.pid = read->pid,
		.start_ns = read->start_ns,
		.cgroup_id = read->cgroup_id,
		.comm = read->comm,
		.cgroup_set = read->cgroup_set,
	};
	struct cgroup_owner what;
	struct owner *owner;

	if (!text)
		return;
	cgroup_owner_from_proc_below(systemd_root(resolver), text, &what);
	if (read->cgroup_id && is_id_of_line(resolver, read->cgroup_err)) {
		(void)remember_cgroup(resolver, read->cgroup_id, &what);
		return;
	}
	owner = owner_of(resolver, &what);
	process_owners_put(&resolver->processes, &process, owner, resolver->names.now_ns);
	owner_unref(&resolver->owners, owner);
}

/* true: a batch has answered. */
static bool take_reads(struct identity_resolver *resolver)
{
	struct cgroup_batch *batch = cgroup_reads_take(&resolver->reads);
	const struct cgroup_read *reads;
	uint32_t count;

	if (!batch)
		return false;
	reads = cgroup_batch_reads(batch, &count);
	for (uint32_t i = 0; i < count; i++)
		take_read(resolver, &reads[i], cgroup_batch_text(batch, i));
	cgroup_batch_free(batch);
	return true;
}

/* Returns true if another hierarchy may show a container where this one shows a unit or nothing. */
static bool is_vague(const struct identity_resolver *resolver, const struct owner *owner)
{
	return resolver->hierarchy.is_one_of_several &&
	       (owner->view.kind == OWNER_SYSTEM || owner->view.kind == OWNER_UNIT);
}

/*
 * The owner as far as it is known without reading anything of the process. *ret_is_known: this is
 * final; else *ret_err is why the id is not enough.
 */
static struct owner *find_around(struct identity_resolver *resolver,
				 const struct process_ref *process, bool *ret_is_known,
				 int *ret_err)
{
	struct owner *owner = NULL, *better;

	*ret_err = -ENODATA;
	if (process->cgroup_id)
		owner = by_cgroup(resolver, process->cgroup_id, ret_err);
	*ret_is_known = !process->pid || (owner && !is_vague(resolver, owner));
	if (*ret_is_known)
		return owner ? owner : resolver->system;
	better = process_owners_find(&resolver->processes, process, resolver->names.now_ns,
				     ret_is_known);
	if (better)
		return better;
	return owner ? owner : resolver->system;
}

static struct owner *around_of(struct identity_resolver *resolver,
			       const struct process_ref *process)
{
	bool is_known;
	int err;

	return find_around(resolver, process, &is_known, &err);
}

/* ---- machines ---- */

static struct owner *owner_of_process(struct identity_resolver *resolver,
				      const struct process_ref *process)
{
	struct owner *around = around_of(resolver, process), *machine;

	if (!process->pid || !process->comm || !vm_comm_is_candidate(process->comm))
		return around;
	machine = machines_resolve(&resolver->machines, process, around, resolver->names.now_ns);
	return machine ? machine : around;
}

void identity_resolver_announce(struct identity_resolver *resolver,
				const struct process_ref *process)
{
	bool is_known, is_candidate;
	struct owner *around;
	int err;

	/*
	 * A process that has ended has no file left; on v1 one that is not reaped yet shows only
	 * the root.
	 */
	if (!process->pid || !process->comm || process->kthread || process->has_ended)
		return;
	around = find_around(resolver, process, &is_known, &err);
	is_candidate = vm_comm_is_candidate(process->comm);
	if (!is_known && cgroup_reads_ask(&resolver->reads, process, err))
		resolver->machine_waits |= is_candidate;
	else if (is_candidate)
		machines_announce(&resolver->machines, process, around, resolver->names.now_ns);
}

bool identity_resolver_await(struct identity_resolver *resolver)
{
	bool again = resolver->machine_waits || resolver->reads.refused;

	resolver->machine_waits = resolver->reads.refused = false;
	cgroup_reads_await(&resolver->reads);
	again = take_reads(resolver) && again;
	return machines_await(&resolver->machines) || again;
}

/* A kernel thread that works for a process that has not run since the start. */
static struct owner *ask_served(struct identity_resolver *resolver, uint32_t pid)
{
	struct proc_stat served;
	struct process_ref process = { .pid = pid };

	if (proc_read_stat(resolver->proc_fd, pid, &served) < 0)
		return NULL;
	process.start_ns = proc_start_ns(&served);
	process.comm = served.comm;
	if (!vm_comm_is_candidate(served.comm)) {
		machines_note_other(&resolver->machines, &process, resolver->names.now_ns);
		return NULL;
	}
	identity_resolver_announce(resolver, &process); /* for the next time */
	return machines_resolve(&resolver->machines, &process, around_of(resolver, &process),
				resolver->names.now_ns);
}

static struct owner *owner_of_kthread(struct identity_resolver *resolver,
				      const struct process_ref *process)
{
	uint32_t pid = process->comm ? vm_comm_served_pid(process->comm) : 0;
	struct owner *owner = NULL;

	if (pid && !machines_find_served(&resolver->machines, pid, &owner))
		owner = ask_served(resolver, pid);
	return owner ? owner : resolver->kernel;
}

/* ---- the interface ---- */

/* Up to date, and held until the next is shown. */
static const struct identity *show(struct identity_resolver *resolver, struct owner *owner)
{
	struct owner *before = resolver->last;

	if (owner->alias)
		owner = owner->alias;
	resolver->last = owner_ref(owner);
	owner_unref(&resolver->owners, before);
	name_lookup_refresh(owner, &resolver->names);
	return &owner->view;
}

const struct identity *identity_resolve(struct identity_resolver *resolver,
					const struct process_ref *process)
{
	struct owner *owner = process->kthread ? owner_of_kthread(resolver, process)
					       : owner_of_process(resolver, process);

	return show(resolver, owner);
}

const struct identity *identity_find(struct identity_resolver *resolver, const char *container_id)
{
	struct owner *owner = owner_table_find(&resolver->owners, container_id);

	return owner ? show(resolver, owner) : NULL;
}

uint32_t identity_machine_pid(const struct identity_resolver *resolver, const struct uuid *uuid)
{
	return machines_find_uuid(&resolver->machines, uuid);
}

bool identity_cgroup_exists(struct identity_resolver *resolver, const char *container_id)
{
	const struct owner *owner = owner_table_find(&resolver->owners, container_id);

	if (!owner || !hierarchy_has(&resolver->hierarchy, owner->path))
		return false;
	(void)cgroup_cache_find(&resolver->cgroups, owner->cgroup_id, resolver->names.now_ns);
	return true;
}

void identity_resolver_begin(struct identity_resolver *resolver, uint64_t now_ns)
{
	struct name_lookup *names = &resolver->names;

	names->now_ns = now_ns;
	names->interval++;
	if (names->directory)
		names->generation = directory_generation(names->directory);
	cgroup_cache_sweep(&resolver->cgroups, now_ns);
	cgroup_reads_begin(&resolver->reads, now_ns);
	(void)take_reads(resolver);
	machines_begin(&resolver->machines, now_ns);
}

void identity_resolver_get_info(const struct identity_resolver *resolver, struct identity_info *ret)
{
	*ret = (struct identity_info){
		.reads_outstanding = cmdline_reads_outstanding(&resolver->machines.reads) +
				     cgroup_reads_outstanding(&resolver->reads),
		.reads_late = resolver->machines.reads.late + resolver->reads.late,
		.machine_overflows = resolver->machines.overflows,
	};
}

struct names_table *identity_resolver_names(const struct identity_resolver *resolver)
{
	return resolver->owners.names;
}

const char *identity_resolver_controller(const struct identity_resolver *resolver)
{
	return resolver->hierarchy.controller;
}

bool identity_resolver_sees_part(const struct identity_resolver *resolver)
{
	return resolver->hierarchy.is_part;
}

void identity_resolver_close(struct identity_resolver *resolver)
{
	if (!resolver)
		return;
	machines_release(&resolver->machines);
	cgroup_reads_release(&resolver->reads);
	process_owners_release(&resolver->processes);
	cgroup_cache_release(&resolver->cgroups);
	owner_unref(&resolver->owners, resolver->last);
	owner_unref(&resolver->owners, resolver->kernel);
	owner_unref(&resolver->owners, resolver->system);
	owner_table_release(&resolver->owners);
	hierarchy_release(&resolver->hierarchy);
	if (resolver->proc_fd >= 0)
		(void)close(resolver->proc_fd);
	free(resolver);
}

static int make_pseudo_owners(struct identity_resolver *resolver)
{
	struct cgroup_owner what;

	cgroup_owner_kernel(&what);
	resolver->kernel = owner_table_get(&resolver->owners, &what, 0);
	cgroup_owner_system(&what);
	resolver->system = owner_table_get(&resolver->owners, &what, 0);
	return resolver->kernel && resolver->system ? 0 : -ENOMEM;
}

int identity_resolver_open(const struct identity_options *options, struct identity_resolver **ret)
{
	struct machines_options machines = {
		.start_thread = options->start_thread,
		.passwd = options->passwd,
		.patience_ns = options->patience_ns,
	};
	struct identity_resolver *resolver = calloc(1, sizeof(*resolver));
	int r;

	if (!resolver)
		return -ENOMEM;
	resolver->merge_services = options->merge_services;
	resolver->names.directory = options->directory;
	resolver->proc_fd = open(options->procfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	hierarchy_open(options->cgroupfs, &resolver->hierarchy);
	find_systemd(resolver);
	r = owner_table_init(&resolver->owners);
	cgroup_cache_init(&resolver->cgroups,
			  options->max_cgroups ? options->max_cgroups : CGROUPS_DEFAULT,
			  &resolver->owners);
	process_owners_init(&resolver->processes, &resolver->owners);
	cgroup_reads_init(&resolver->reads, resolver->proc_fd, options->start_thread,
			  options->cgroup_patience_ns);
	machines.proc_fd = resolver->proc_fd;
	machines_init(&resolver->machines, &machines, &resolver->owners);
	if (r == 0)
		r = make_pseudo_owners(resolver);
	if (r < 0) {
		identity_resolver_close(resolver);
		return r;
	}
	*ret = resolver;
	return 0;
}
