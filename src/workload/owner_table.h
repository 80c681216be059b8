/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All owners by id, each once. An owner lives as long as something refers to it; its references
 * bound the table: cgroups, processes and machines have limits of their own.
 */
#pragma once

#include "base/map.h"
#include "workload/owner.h"

struct owner_table {
	struct map map; /* id → index of owners */
	struct owner **owners;
	uint32_t count, size;
	struct names_table *names; /* of all owners; one reference */
};

/* 0 or -ENOMEM. */
int owner_table_init(struct owner_table *table);
/* All references must have been given back. */
void owner_table_release(struct owner_table *table);
/* The owner of that id, made when new; one reference is given. NULL without memory. */
struct owner *owner_table_get(struct owner_table *table, const struct cgroup_owner *what,
			      uint64_t now_ns);
/* The owner of that id, or NULL; no reference is given. */
struct owner *owner_table_find(const struct owner_table *table, const char *id);
/* One more reference. */
struct owner *owner_ref(struct owner *owner);
/* Takes a reference back; frees it with the last. Takes NULL. */
void owner_unref(struct owner_table *table, struct owner *owner);
/* @owner is an alias of @better from now on. */
void owner_set_alias(struct owner_table *table, struct owner *owner, struct owner *better);
