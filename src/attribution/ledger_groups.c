// SPDX-License-Identifier: Apache-2.0
/*
 * Pods, VMs and namespaces: sums over containers. A group is known by all its names together, so
 * that a pod whose labels change goes on in another row, and comes back to the old one if they
 * change back while it is kept.
 *
 * A container that joins brings what it used before only if it has never belonged to a group of
 * that kind, which is the case while it waits for names; later it brings what it uses from now on.
 * So each microjoule is in one row of each kind, whatever the container does. While a container's
 * own name is awaited its pod may be known already: then it belongs to the pod and the namespace.
 */
#include <errno.h>

#include "attribution/ledger_rows.h"
#include "base/macro.h"

#define OTHER 0U

static uint32_t find_slot(struct group_table *table)
{
	struct value_table *const values[] = { &table->values, &table->deltas };
	void *rows = row_slots_reserve(&table->slots, table->rows, sizeof(*table->rows));

	if (!rows)
		return LEDGER_NONE;
	table->rows = rows;
	return row_slots_find(&table->slots, values, ARRAY_SIZE(values));
}

static void take_slot(struct group_table *table, uint32_t slot)
{
	if (row_slots_take(&table->slots, slot))
		table->rows[slot] = (struct ledger_group_row){ 0 };
	value_table_clear(&table->values, slot);
	value_table_clear(&table->deltas, slot);
}

/* Without "other", which has its place whatever the limit. */
static uint32_t used_rows(const struct group_table *table)
{
	return table->slots.used - 1;
}

/* What a pod, a VM and a namespace is called of which nothing is known. */
static const struct owner_names other_names[LEDGER_GROUP_COUNT] = {
	[LEDGER_POD] = { .text = { [LABEL_POD_NAME] = "other" } },
	[LEDGER_VM] = { .text = { [LABEL_VM_NAME] = "other" } },
};

int group_table_init(struct ledger *ledger, enum ledger_group group)
{
	struct group_table *table = &ledger->groups[group];

	*table = (struct group_table){ 0 };
	row_slots_init(&table->slots);
	value_table_init(&table->values, 1);
	value_table_init(&table->deltas, 1);
	row_index_init(&table->index, UINT32_MAX);
	table->other = owner_names_intern(ledger->names, &other_names[group]);
	if (!table->other || find_slot(table) == LEDGER_NONE)
		return -ENOMEM;
	take_slot(table, OTHER);
	return 0;
}

static void release_names(struct ledger_group_row *row)
{
	owner_names_unref(TAKE_PTR(row->names));
	owner_names_unref(TAKE_PTR(row->facts));
}

void group_table_release(struct group_table *table)
{
	for (uint32_t i = 1; i < table->slots.count; i++)
		release_names(&table->rows[i]);
	owner_names_unref(table->other);
	free(table->rows);
	row_slots_release(&table->slots);
	value_table_release(&table->values);
	value_table_release(&table->deltas);
	row_index_release(&table->index);
}

void group_table_begin(struct group_table *table)
{
	for (uint32_t i = 0; i < table->slots.touched_count; i++) {
		table->rows[table->slots.touched[i]].touched = false;
		value_table_clear(&table->deltas, table->slots.touched[i]);
	}
	table->slots.touched_count = 0;
}

static void touch(struct group_table *table, uint32_t row)
{
	if (table->rows[row].touched)
		return;
	table->rows[row].touched = true;
	(void)row_slots_touch(&table->slots, row);
}

/* The row holds its names, so that no other set has that address. */
static struct map_key key_of(const struct owner_names *names)
{
	return (struct map_key){ .lo = (uintptr_t)names };
}

static uint32_t add_row(struct ledger *ledger, struct group_table *table,
			const struct owner_names *names)
{
	uint32_t slot;

	if (used_rows(table) >= ledger->max_containers)
		return LEDGER_NONE;
	slot = find_slot(table);
	if (slot == LEDGER_NONE || row_index_add(&table->index, key_of(names), slot) < 0)
		return LEDGER_NONE;
	take_slot(table, slot);
	table->rows[slot] = (struct ledger_group_row){ .names = owner_names_ref(names),
						       .used = true,
						       .touched = table->rows[slot].touched,
						       .serial = ++ledger->next_serial,
						       .last_active_ns = ledger->now_ns };
	return slot;
}

static uint32_t other_row(struct ledger *ledger, enum ledger_group group)
{
	struct ledger_group_row *row = &ledger->groups[group].rows[OTHER];

	if (!row->used)
		*row = (struct ledger_group_row){ .names = ledger->groups[group].other,
						  .used = true,
						  .serial = ++ledger->next_serial };
	return OTHER;
}

/* They name no series, so they may come later than what does. False without memory. */
static bool learn_facts(struct ledger_group_row *row, const struct owner_names *names)
{
	const struct owner_names *facts;

	if (!owner_names_know(names, LABELS_POD_FACTS))
		return true;
	facts = owner_names_part(names, LABELS_POD_FACTS);
	if (!facts)
		return false;
	owner_names_unref(row->facts);
	row->facts = facts;
	return true;
}

static uint32_t row_of_names(struct ledger *ledger, enum ledger_group group,
			     const struct owner_names *names)
{
	struct group_table *table = &ledger->groups[group];
	uint32_t row;

	if (names == table->other) /* the namespace without a name */
		return other_row(ledger, group);
	row = row_index_first(&table->index, key_of(names));
	if (row == LEDGER_NONE)
		row = add_row(ledger, table, names);
	if (row != LEDGER_NONE)
		return row;
	table->overflows++;
	return other_row(ledger, group);
}

static void leave(struct group_table *table, uint32_t *membership)
{
	if (*membership != LEDGER_NONE)
		table->rows[*membership].owners--;
	*membership = LEDGER_NONE;
}

/* What names a group; the keys without which there is none. */
static const struct {
	uint32_t keys, needed;
} group_keys[LEDGER_GROUP_COUNT] = {
	[LEDGER_POD] = { LABELS_POD, LABEL_BIT(LABEL_POD_ID) },
	[LEDGER_VM] = { LABELS_VM, LABEL_BIT(LABEL_VM_ID) },
	[LEDGER_NAMESPACE] = { LABEL_BIT(LABEL_NAMESPACE), 0 },
};

static bool may_join(const struct ledger_container *container, enum ledger_group group)
{
	uint32_t needed = group_keys[group].needed;

	if (container->waiting && (!container->has_pod_names || group == LEDGER_VM))
		return false;
	return !needed || owner_names_know(container->names, needed);
}

/* Without memory it stays where it is, if it is anywhere, and is to be joined again. */
static uint32_t find_group(struct ledger *ledger, struct ledger_container *container,
			   enum ledger_group group)
{
	struct group_table *table = &ledger->groups[group];
	const struct owner_names *names;
	uint32_t row;

	if (!may_join(container, group))
		return LEDGER_NONE;
	names = owner_names_part(container->names, group_keys[group].keys);
	if (!names) {
		table->overflows++;
		container->is_misplaced = true;
		row = container->group[group];
		return row != LEDGER_NONE ? row : other_row(ledger, group);
	}
	row = row_of_names(ledger, group, names);
	if (group == LEDGER_POD && row != OTHER &&
	    !learn_facts(&table->rows[row], container->names))
		container->is_misplaced = true;
	owner_names_unref(names);
	return row;
}

void groups_join(struct ledger *ledger, struct ledger_container *container)
{
	container->is_misplaced = false;
	for (enum ledger_group group = LEDGER_POD; group < LEDGER_GROUP_COUNT; group++) {
		struct group_table *table = &ledger->groups[group];
		uint32_t row = find_group(ledger, container, group);

		if (row != LEDGER_NONE)
			table->rows[row].owners++;
		leave(table, &container->group[group]);
		container->group[group] = row;
	}
}

void groups_leave(struct ledger *ledger, struct ledger_container *container)
{
	for (enum ledger_group group = LEDGER_POD; group < LEDGER_GROUP_COUNT; group++)
		leave(&ledger->groups[group], &container->group[group]);
}

static void book(struct ledger *ledger, uint32_t index, enum ledger_group group)
{
	const struct container_table *containers = &ledger->containers;
	const struct ledger_container *container = &containers->rows[index];
	struct group_table *table = &ledger->groups[group];
	uint32_t row = container->group[group], columns = table->values.columns;
	const uint64_t *deltas = value_table_row(&containers->deltas, index);

	touch(table, row);
	values_add(value_table_row(&table->deltas, row), deltas, columns);
	if (!container->grouped[group]) { /* brings what it used before this interval */
		uint64_t *values = value_table_row(&table->values, row);

		values_add(values, value_table_row(&containers->values, index), columns);
		values_subtract(values, deltas, columns);
	}
	if (!container->grouped[group] || container->last_active_ns == ledger->now_ns)
		table->rows[row].last_active_ns = ledger->now_ns;
}

static void add_up(struct group_table *table)
{
	for (uint32_t i = 0; i < table->slots.touched_count; i++) {
		uint32_t row = table->slots.touched[i];

		values_add(value_table_row(&table->values, row),
			   value_table_row(&table->deltas, row), table->values.columns);
	}
}

void groups_book(struct ledger *ledger)
{
	struct container_table *containers = &ledger->containers;

	for (uint32_t i = 0; i < containers->slots.touched_count; i++) {
		uint32_t index = containers->slots.touched[i];
		struct ledger_container *container = &containers->rows[index];

		if (!container->used)
			continue;
		for (enum ledger_group group = LEDGER_POD; group < LEDGER_GROUP_COUNT; group++) {
			bool member = container->group[group] != LEDGER_NONE;

			if (member)
				book(ledger, index, group);
			container->grouped[group] |= member || !container->waiting;
		}
	}
	for (size_t group = 0; group < LEDGER_GROUP_COUNT; group++)
		add_up(&ledger->groups[group]);
}

void ledger_release_group(struct ledger *ledger, enum ledger_group group, uint32_t row)
{
	struct group_table *table = &ledger->groups[group];
	struct ledger_group_row *released = &table->rows[row];

	if (row == OTHER || released->owners > 0)
		return;
	row_index_remove(&table->index, key_of(released->names), row);
	release_names(released);
	released->used = false;
	row_slots_give_back(&table->slots, row);
}

uint32_t ledger_group_slots(const struct ledger *ledger, enum ledger_group group)
{
	return ledger->groups[group].slots.count;
}

const struct ledger_group_row *ledger_group_at(const struct ledger *ledger, enum ledger_group group,
					       uint32_t row)
{
	return &ledger->groups[group].rows[row];
}

const uint64_t *ledger_group_values(const struct ledger *ledger, enum ledger_group group,
				    uint32_t row)
{
	return value_table_row(&ledger->groups[group].values, row);
}

const uint64_t *ledger_group_deltas(const struct ledger *ledger, enum ledger_group group,
				    uint32_t row)
{
	return value_table_row(&ledger->groups[group].deltas, row);
}

bool ledger_group_crowded(const struct ledger *ledger, enum ledger_group group)
{
	return is_crowded(used_rows(&ledger->groups[group]), ledger->max_containers);
}

uint64_t ledger_group_overflows(const struct ledger *ledger, enum ledger_group group)
{
	return ledger->groups[group].overflows;
}
