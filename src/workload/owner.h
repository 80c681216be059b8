/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One owner: what its path says, what the directory says, the virtual machine in it, and the labels
 * that follow. Shared by all that refer to it: cgroups, processes, machines.
 */
#pragma once

#include "workload/cgroup_owner.h"
#include "workload/directory.h"

struct owner {
	struct identity view; /* its names are composed of what follows, and held */
	struct owner *alias;  /* held; known under a better id: the machine of this VM's scope */
	uint32_t refs;
	uint64_t cgroup_id;   /* one of its cgroups, the first that was met; 0 none */
	uint32_t machine_pid; /* whose machine a container's vm_id is; 0 none */

	/* names: name_lookup.c */
	bool asked, settled;
	uint32_t asked_interval;
	uint64_t asked_generation;
	uint64_t first_seen_ns;
	bool is_nested, is_nested_pod;
	bool is_pod_only; /* the record is of another container of its pod */
	bool is_stale; /* without memory: the view's names are not yet what follows from the rest */
	struct directory_record record;
	struct names_table *table;

	const char *id, *name, *pod_id, *names_id; /* as in struct cgroup_owner */
	const char *runtime, *vm_id, *vm_name, *hypervisor;
	const char *path; /* of its own cgroup, "" not known */
	char *machine;    /* texts of a container's machine, or NULL */
	char *new_name;   /* what `name` points to since it was renamed, or NULL */
	char text[];
};

/* Names are interned in @names. One reference is the caller's; NULL without memory. */
struct owner *owner_new(struct names_table *names, const struct cgroup_owner *what,
			uint64_t now_ns);
/* What owner_table.c does when the last reference is gone. Takes NULL. */
void owner_free(struct owner *owner);
/*
 * What the directory says of it, or (@is_pod_only) of another container of its pod; the owner takes
 * a reference of its own.
 */
void owner_set_names(struct owner *owner, const struct directory_record *record, bool is_pod_only);
/* Composes names again for which there was no memory. */
void owner_recompose(struct owner *owner);
/* What to call it from now on. Copied; without memory it stays as it was. */
void owner_rename(struct owner *owner, const char *name);
/* It has no pod that could be known here. */
void owner_hide_pod(struct owner *owner);
/* The virtual machine that runs in a container, as process @pid. Copied. */
void owner_set_machine(struct owner *owner, const struct cgroup_owner *machine, uint32_t pid);
