// SPDX-License-Identifier: Apache-2.0
#include "workload/owner_table.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "workload/text_key.h"

int owner_table_init(struct owner_table *table)
{
	*table = (struct owner_table){ .names = names_table_get(NULL) };
	map_init(&table->map, UINT32_MAX / 2);
	return table->names ? 0 : -ENOMEM;
}

void owner_table_release(struct owner_table *table)
{
	free(table->owners);
	map_release(&table->map);
	names_table_put(table->names);
	*table = (struct owner_table){ 0 };
}

struct owner *owner_ref(struct owner *owner)
{
	owner->refs++;
	return owner;
}

struct owner *owner_table_find(const struct owner_table *table, const char *id)
{
	uint32_t index = map_find(&table->map, text_key(id));
	struct owner *owner = index == MAP_NONE ? NULL : table->owners[index];

	return owner && strcmp(owner->id, id) == 0 ? owner : NULL;
}

struct owner *owner_table_get(struct owner_table *table, const struct cgroup_owner *what,
			      uint64_t now_ns)
{
	struct map_key key = text_key(what->id);
	struct owner *owner = owner_table_find(table, what->id);

	if (owner)
		return owner_ref(owner);
	if (map_find(&table->map, key) != MAP_NONE)
		return NULL; /* another id of the same key */
	if (ARRAY_RESERVE(table->owners, table->size, table->count + 1U) < 0)
		return NULL;
	owner = owner_new(table->names, what, now_ns);
	if (!owner)
		return NULL;
	if (map_put(&table->map, key, table->count) < 0) {
		owner_free(owner);
		return NULL;
	}
	table->owners[table->count++] = owner;
	return owner;
}

/* The last one moves into the gap. */
static void remove_owner(struct owner_table *table, struct owner *owner)
{
	uint32_t index = map_remove(&table->map, text_key(owner->id));
	struct owner *last = table->owners[--table->count];

	if (last != owner) {
		table->owners[index] = last;
		(void)map_put(&table->map, text_key(last->id), index);
	}
	owner_free(owner);
}

void owner_unref(struct owner_table *table, struct owner *owner)
{
	while (owner && --owner->refs == 0) {
		struct owner *alias = owner->alias;

		remove_owner(table, owner);
		owner = alias;
	}
}

void owner_set_alias(struct owner_table *table, struct owner *owner, struct owner *better)
{
	struct owner *before = owner->alias;

	if (before == better || owner == better)
		return;
	owner->alias = better ? owner_ref(better) : NULL;
	owner_unref(table, before);
}
