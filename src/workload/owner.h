/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One owner: facts from its path and from the directory, the virtual machine in it, and the
 * resulting labels. Shared by the cgroups, processes and machines that refer to it.
 */
#pragma once

#include "workload/cgroup/cgroup_path.h"
#include "workload/name_directory.h"

struct owner {
	struct identity view; /* its names are composed of what follows, and held */
	struct owner *alias;  /* held; known under a better id: the machine of this VM's scope */
	uint32_t refs;
	uint64_t cgroup_id;   /* one of its cgroups, the first that was seen; 0 none */
	uint32_t machine_pid; /* process of the machine in a container's vm_id; 0 none */

	/* names: name_lookup.c */
	bool asked, settled;
	uint32_t asked_interval;
	uint64_t asked_generation;
	uint64_t first_seen_ns;
	bool is_nested, is_nested_pod;
	bool is_pod_only; /* the record is of another container of its pod */
	bool is_stale;    /* without memory: the view's names are outdated */
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
/* Called by owner_table.c when the last reference is gone. Takes NULL. */
void owner_free(struct owner *owner);
/*
 * Sets the directory's facts about it, or (@is_pod_only) about another container of its pod; the
 * owner takes a reference of its own.
 */
void owner_set_names(struct owner *owner, const struct directory_record *record, bool is_pod_only);
/* Composes the names again after memory ran out. */
void owner_recompose(struct owner *owner);
/* Sets its name. Copied; without memory it stays unchanged. */
void owner_rename(struct owner *owner, const char *name);
/* Its pod cannot be known here. */
void owner_hide_pod(struct owner *owner);
/* The virtual machine that runs in a container, as process @pid. Copied. */
void owner_set_machine(struct owner *owner, const struct cgroup_owner *machine, uint32_t pid);
