// SPDX-License-Identifier: Apache-2.0
/*
 * The container rows. The key is the container's id, found by a hash of its text (FNV-1a, 64 bits)
 * and compared in full: a collision costs a step in a chain, never a mix-up. Row 0 is the overflow
 * owner.
 */
#include <errno.h>

#include "attribution/label_text.h"
#include "attribution/ledger_rows.h"
#include "base/macro.h"

void container_table_init(struct container_table *table, uint32_t limit)
{
	*table = (struct container_table){ .first_free = LEDGER_NONE };
	value_table_init(&table->values, 1);
	value_table_init(&table->deltas, 1);
	value_table_init(&table->direct_deltas, 1);
	row_index_init(&table->index, limit);
}

void container_table_release(struct container_table *table)
{
	free(table->rows);
	free(table->touched);
	free(table->next_free);
	value_table_release(&table->values);
	value_table_release(&table->deltas);
	value_table_release(&table->direct_deltas);
	row_index_release(&table->index);
}

void container_table_begin(struct container_table *table)
{
	for (uint32_t i = 0; i < table->touched_count; i++) {
		table->rows[table->touched[i]].touched = false;
		value_table_clear(&table->deltas, table->touched[i]);
		value_table_clear(&table->direct_deltas, table->touched[i]);
	}
	table->touched_count = 0;
}

void container_table_touch(struct container_table *table, uint32_t container)
{
	if (table->rows[container].touched)
		return;
	table->rows[container].touched = true;
	table->touched[table->touched_count++] = container;
}

void container_table_activate(struct ledger *ledger, uint32_t container)
{
	container_table_touch(&ledger->containers, container);
	ledger->containers.rows[container].last_active_ns = ledger->now_ns;
}

static int grow(struct container_table *table)
{
	uint32_t capacity = table->capacity ? table->capacity * 2 : 16;
	void *grown;

	if (table->slots < table->capacity)
		return 0;
	if (capacity <= table->capacity)
		return -ENOMEM;
	grown = reallocarray(table->rows, capacity, sizeof(*table->rows));
	if (!grown)
		return -ENOMEM;
	table->rows = grown;
	grown = reallocarray(table->touched, capacity, sizeof(*table->touched));
	if (!grown)
		return -ENOMEM;
	table->touched = grown;
	grown = reallocarray(table->next_free, capacity, sizeof(*table->next_free));
	if (!grown)
		return -ENOMEM;
	table->next_free = grown;
	table->capacity = capacity;
	return 0;
}

static uint32_t find_slot(struct container_table *table)
{
	uint32_t slot = table->first_free;

	if (slot != LEDGER_NONE)
		return slot;
	slot = table->slots;
	if (grow(table) < 0 || value_table_reserve(&table->values, slot + 1) < 0 ||
	    value_table_reserve(&table->deltas, slot + 1) < 0 ||
	    value_table_reserve(&table->direct_deltas, slot + 1) < 0)
		return LEDGER_NONE;
	return slot;
}

static struct map_key key_of(const char *container_id)
{
	uint64_t hash = 0xcbf29ce484222325ULL; /* FNV-1a, offset basis and prime for 64 bits */

	for (const char *c = container_id; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 0x100000001b3ULL;
	return (struct map_key){ .lo = hash };
}

static uint32_t find_row(const struct container_table *table, const char *container_id)
{
	uint32_t container = row_index_first(&table->index, key_of(container_id));

	while (container != LEDGER_NONE &&
	       strcmp(table->rows[container].container_id, container_id) != 0)
		container = row_index_next(&table->index, container);
	return container;
}

static void take_slot(struct container_table *table, uint32_t slot)
{
	if (slot == table->slots) {
		table->rows[slot] = (struct ledger_container){ 0 };
		table->slots++;
	} else {
		table->first_free = table->next_free[slot];
	}
	table->used++;
	value_table_clear(&table->values, slot);
	value_table_clear(&table->deltas, slot);
	value_table_clear(&table->direct_deltas, slot);
}

uint32_t container_table_add(struct ledger *ledger, const struct ledger_owner *owner)
{
	struct container_table *table = &ledger->containers;
	struct ledger_container row = { .used = true };
	uint32_t slot = find_slot(table);

	label_text(row.container_id, sizeof(row.container_id), owner->container_id);
	label_text(row.container_name, sizeof(row.container_name), owner->container_name);
	label_text(row.container_namespace, sizeof(row.container_namespace),
		   owner->container_namespace);
	label_text(row.pod_name, sizeof(row.pod_name), owner->pod_name);
	if (slot == LEDGER_NONE || row_index_add(&table->index, key_of(row.container_id), slot) < 0)
		return LEDGER_NONE;
	take_slot(table, slot);
	row.serial = ++ledger->next_serial;
	row.touched = table->rows[slot].touched; /* released and made again in one interval */
	table->rows[slot] = row;
	container_table_activate(ledger, slot);
	return slot;
}

uint32_t ledger_container(struct ledger *ledger, const struct ledger_owner *owner)
{
	struct container_table *table = &ledger->containers;
	char container_id[LEDGER_LABEL_MAX];
	uint32_t container;

	label_text(container_id, sizeof(container_id), owner->container_id);
	if (!container_id[0])
		return 0;
	container = find_row(table, container_id);
	if (container != LEDGER_NONE)
		return container;
	if (table->used < ledger->max_containers)
		container = container_table_add(ledger, owner);
	if (container == LEDGER_NONE) {
		table->overflows++;
		return 0;
	}
	return container;
}

void ledger_release_container(struct ledger *ledger, uint32_t container)
{
	struct container_table *table = &ledger->containers;
	struct ledger_container *row = &table->rows[container];

	if (container == 0 || row->processes > 0)
		return;
	row_index_remove(&table->index, key_of(row->container_id), container);
	row->used = false;
	table->next_free[container] = table->first_free;
	table->first_free = container;
	table->used--;
}

uint32_t ledger_container_slots(const struct ledger *ledger)
{
	return ledger->containers.slots;
}

const struct ledger_container *ledger_container_at(const struct ledger *ledger, uint32_t container)
{
	return &ledger->containers.rows[container];
}

const uint64_t *ledger_container_values(const struct ledger *ledger, uint32_t container)
{
	return value_table_row(&ledger->containers.values, container);
}

const uint64_t *ledger_container_deltas(const struct ledger *ledger, uint32_t container)
{
	return value_table_row(&ledger->containers.deltas, container);
}

const uint64_t *ledger_container_direct_deltas(const struct ledger *ledger, uint32_t container)
{
	return value_table_row(&ledger->containers.direct_deltas, container);
}

const uint32_t *ledger_touched_containers(const struct ledger *ledger, size_t *ret_count)
{
	*ret_count = ledger->containers.touched_count;
	return ledger->containers.touched;
}

uint64_t ledger_container_overflows(const struct ledger *ledger)
{
	return ledger->containers.overflows;
}
