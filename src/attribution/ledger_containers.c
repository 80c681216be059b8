// SPDX-License-Identifier: Apache-2.0
/*
 * The container rows. The key is the container's id, found by a hash of its text (FNV-1a, 64 bits)
 * and compared in full: a collision costs a step in a chain, never a mix-up. Row 0 is the overflow
 * owner. A container whose names changed after its series could be seen has several rows in the
 * chain, one of which is not `replaced`.
 *
 * An owner's names are looked at only when they are not the row's; else finding a row is a look at
 * the index, for names carry the hash of their id.
 */
#include <errno.h>

#include "attribution/ledger_rows.h"
#include "base/macro.h"

void container_table_init(struct container_table *table, uint32_t limit)
{
	*table = (struct container_table){ 0 };
	row_slots_init(&table->slots);
	value_table_init(&table->values, 1);
	value_table_init(&table->deltas, 1);
	row_index_init(&table->index, limit);
}

void container_table_release(struct container_table *table)
{
	for (uint32_t i = 0; i < table->slots.count; i++)
		owner_names_unref(table->rows[i].names);
	free(table->rows);
	row_slots_release(&table->slots);
	value_table_release(&table->values);
	value_table_release(&table->deltas);
	row_index_release(&table->index);
}

void container_table_begin(struct container_table *table)
{
	for (uint32_t i = 0; i < table->slots.touched_count; i++) {
		uint32_t row = table->slots.touched[i];

		table->rows[row].touched = false;
		value_table_clear(&table->deltas, row);
	}
	table->slots.touched_count = 0;
	table->refused_count = 0;
}

void container_table_touch(struct container_table *table, uint32_t container)
{
	if (table->rows[container].touched)
		return;
	table->rows[container].touched = true;
	(void)row_slots_touch(&table->slots, container);
}

void container_table_activate(struct ledger *ledger, uint32_t container)
{
	container_table_touch(&ledger->containers, container);
	ledger->containers.rows[container].last_active_ns = ledger->now_ns;
}

static uint32_t find_slot(struct container_table *table)
{
	struct value_table *const values[] = { &table->values, &table->deltas };
	void *rows = row_slots_reserve(&table->slots, table->rows, sizeof(*table->rows));

	if (!rows)
		return LEDGER_NONE;
	table->rows = rows;
	return row_slots_find(&table->slots, values, ARRAY_SIZE(values));
}

static struct map_key key_of(const struct owner_names *names)
{
	return (struct map_key){ .lo = owner_names_id_hash(names) };
}

/* No id: the "other" of a namespace. */
static struct map_key other_key(const char *container_namespace)
{
	return (struct map_key){ .hi = 1, .lo = owner_names_hash(container_namespace) };
}

static struct map_key row_key(const struct ledger_container *row)
{
	return row->is_other ? other_key(row->names->text[LABEL_NAMESPACE]) : key_of(row->names);
}

static uint32_t find_row(const struct container_table *table, const struct owner_names *names)
{
	uint32_t container = row_index_first(&table->index, key_of(names));

	while (container != LEDGER_NONE && (table->rows[container].replaced ||
					    !owner_names_agree(table->rows[container].names, names,
							       LABEL_BIT(LABEL_CONTAINER_ID))))
		container = row_index_next(&table->index, container);
	return container;
}

static bool has_same_names(const struct ledger_container *row, const struct ledger_owner *owner)
{
	/* One that waits has no names of its own: any that it had will do until it has. */
	return owner_names_agree(row->names, owner->names,
				 owner->waiting ? LABEL_BIT(LABEL_CONTAINER_ID) : LABELS_CONTAINER);
}

/* One that is kept and had just these labels. */
static uint32_t find_replaced(const struct container_table *table, const struct ledger_owner *owner)
{
	uint32_t container = row_index_first(&table->index, key_of(owner->names));

	while (container != LEDGER_NONE && (!table->rows[container].replaced ||
					    !has_same_names(&table->rows[container], owner)))
		container = row_index_next(&table->index, container);
	return container;
}

static uint32_t find_other(const struct container_table *table, const char *container_namespace)
{
	uint32_t container = row_index_first(&table->index, other_key(container_namespace));

	while (container != LEDGER_NONE &&
	       strcmp(table->rows[container].names->text[LABEL_NAMESPACE], container_namespace) !=
		       0)
		container = row_index_next(&table->index, container);
	return container;
}

static void take_slot(struct container_table *table, uint32_t slot)
{
	if (row_slots_take(&table->slots, slot))
		table->rows[slot] = (struct ledger_container){ 0 };
	value_table_clear(&table->values, slot);
	value_table_clear(&table->deltas, slot);
}

static uint32_t add_row(struct ledger *ledger, const struct ledger_owner *owner, bool is_other)
{
	struct container_table *table = &ledger->containers;
	struct ledger_container row = { .names = owner->names,
					.size_millicpu = owner->size_millicpu,
					.has_pod_names = owner->has_pod_names,
					.group = { LEDGER_NONE, LEDGER_NONE, LEDGER_NONE },
					.used = true,
					.is_other = is_other,
					.made_ns = ledger->now_ns };
	uint32_t slot = find_slot(table);

	if (slot == LEDGER_NONE || row_index_add(&table->index, row_key(&row), slot) < 0)
		return LEDGER_NONE;
	take_slot(table, slot);
	(void)owner_names_ref(row.names);
	row.serial = ++ledger->next_serial;
	row.touched = table->rows[slot].touched; /* released and made again in one interval */
	row.waiting = owner->waiting;
	table->rows[slot] = row;
	table->others += is_other;
	table->waiting += row.waiting;
	groups_join(ledger, &table->rows[slot]);
	container_table_activate(ledger, slot);
	return slot;
}

uint32_t container_table_add(struct ledger *ledger, const struct ledger_owner *owner)
{
	return add_row(ledger, owner, false);
}

/* Those that stand for one owner that runs under this name. */
static uint32_t named_rows(const struct container_table *table)
{
	return table->slots.used - table->others - table->replaced;
}

static bool has_room(const struct ledger *ledger)
{
	const struct container_table *table = &ledger->containers;

	return named_rows(table) < ledger->max_containers;
}

static void note_refusal(struct container_table *table, const struct owner_names *names)
{
	uint64_t hash = owner_names_id_hash(names);

	for (uint32_t i = 0; i < table->refused_count; i++) {
		if (table->refused[i] == hash)
			return;
	}
	table->overflows++;
	if (table->refused_count < LEDGER_REFUSED_MAX)
		table->refused[table->refused_count++] = hash;
}

static uint32_t add_other(struct ledger *ledger, const char *container_namespace)
{
	const struct owner_names names = {
		.text = { [LABEL_CONTAINER_NAME] = "other",
			  [LABEL_NAMESPACE] = container_namespace },
	};
	const struct ledger_owner other = { .names = owner_names_intern(ledger->names, &names) };
	uint32_t container = other.names ? add_row(ledger, &other, true) : LEDGER_NONE;

	owner_names_unref(other.names);
	return container;
}

/* Where the work of an owner goes that has no row. */
static uint32_t other_row(struct ledger *ledger, const struct owner_names *names)
{
	const struct container_table *table = &ledger->containers;
	uint32_t container = find_other(table, names->text[LABEL_NAMESPACE]);

	if (container == LEDGER_NONE && table->others < ledger->max_containers)
		container = add_other(ledger, names->text[LABEL_NAMESPACE]);
	return container == LEDGER_NONE ? 0 : container;
}

static void end_wait(struct ledger *ledger, uint32_t container)
{
	struct ledger_container *row = &ledger->containers.rows[container];

	row->waiting = false;
	ledger->containers.waiting--;
	groups_join(ledger, row);
	container_table_touch(&ledger->containers, container);
}

/* Its series was never seen, or stays the same. */
static void rename_row(struct ledger *ledger, uint32_t container, const struct ledger_owner *owner)
{
	struct ledger_container *row = &ledger->containers.rows[container];
	const struct owner_names *before = row->names;

	row->names = owner_names_ref(owner->names);
	owner_names_unref(before);
	row->size_millicpu = owner->size_millicpu;
	row->has_pod_names = owner->has_pod_names;
	if (row->waiting && !owner->waiting)
		end_wait(ledger, container);
	else
		groups_join(ledger, row);
	container_table_touch(&ledger->containers, container);
}

static void revive_row(struct ledger *ledger, uint32_t container)
{
	ledger->containers.rows[container].replaced = false;
	ledger->containers.replaced--;
}

/* The row of @owner that goes on where @container, which has been seen with others, ends. */
static uint32_t replace_row(struct ledger *ledger, uint32_t container,
			    const struct ledger_owner *owner)
{
	struct container_table *table = &ledger->containers;
	uint32_t next = find_replaced(table, owner);

	if (next != LEDGER_NONE) {
		revive_row(ledger, next);
		rename_row(ledger, next, owner);
	} else if (table->replaced < ledger->max_containers) {
		next = add_row(ledger, owner, false);
	}
	if (next == LEDGER_NONE)
		return container; /* goes on under its old names, and asks again */
	table->rows[container].replaced = true;
	table->replaced++;
	return next;
}

/* A new row, or the last of those that are kept from when it was there before. */
static uint32_t begin_row(struct ledger *ledger, const struct ledger_owner *owner)
{
	uint32_t kept = find_replaced(&ledger->containers, owner);

	if (kept == LEDGER_NONE)
		return add_row(ledger, owner, false);
	revive_row(ledger, kept);
	if (!owner->waiting)
		rename_row(ledger, kept, owner);
	return kept;
}

static uint32_t follow_names(struct ledger *ledger, uint32_t container,
			     const struct ledger_owner *owner)
{
	const struct ledger_container *row = &ledger->containers.rows[container];

	if (owner->waiting && (!row->waiting || (row->has_pod_names && !owner->has_pod_names)))
		return container; /* what it was called stands until there is better */
	if (container != 0 && !row->waiting &&
	    !owner_names_agree(row->names, owner->names, LABELS_CONTAINER))
		return replace_row(ledger, container, owner);
	rename_row(ledger, container, owner);
	return container;
}

/* What says the same of a waiting row may still be a source whose word counts. */
static bool is_better_known(const struct ledger_container *row, const struct ledger_owner *owner)
{
	return !owner->waiting || (owner->has_pod_names && !row->has_pod_names);
}

uint32_t ledger_container(struct ledger *ledger, const struct ledger_owner *owner)
{
	struct container_table *table = &ledger->containers;
	uint32_t container;

	if (!owner->names->text[LABEL_CONTAINER_ID][0])
		return 0;
	container = find_row(table, owner->names);
	if (container != LEDGER_NONE) {
		struct ledger_container *row = &table->rows[container];

		if (row->names != owner->names || row->is_misplaced ||
		    (row->waiting && is_better_known(row, owner)))
			return follow_names(ledger, container, owner);
		row->size_millicpu = owner->size_millicpu; /* a pod may be resized in place */
		return container;
	}
	if (has_room(ledger))
		container = begin_row(ledger, owner);
	if (container == LEDGER_NONE) {
		note_refusal(table, owner->names);
		return other_row(ledger, owner->names);
	}
	return container;
}

void container_table_end_waits(struct ledger *ledger)
{
	struct container_table *table = &ledger->containers;

	for (uint32_t i = 0; i < table->slots.count && table->waiting > 0; i++) {
		const struct ledger_container *row = &table->rows[i];

		if (row->used && row->waiting && ledger->now_ns - row->made_ns >= LEDGER_WAIT_NS)
			end_wait(ledger, i);
	}
}

void ledger_set_there(struct ledger *ledger, uint32_t container, bool is_there)
{
	ledger->containers.rows[container].is_there = is_there;
}

void ledger_release_container(struct ledger *ledger, uint32_t container)
{
	struct container_table *table = &ledger->containers;
	struct ledger_container *row = &table->rows[container];

	if (container == 0 || row->processes > 0)
		return;
	row_index_remove(&table->index, row_key(row), container);
	groups_leave(ledger, row);
	owner_names_unref(TAKE_PTR(row->names));
	row->used = false;
	row_slots_give_back(&table->slots, container);
	table->others -= row->is_other;
	table->replaced -= row->replaced;
	table->waiting -= row->waiting;
}

uint32_t ledger_waiting_containers(const struct ledger *ledger)
{
	return ledger->containers.waiting;
}

uint32_t ledger_refused_containers(const struct ledger *ledger)
{
	return ledger->containers.refused_count;
}

bool ledger_containers_crowded(const struct ledger *ledger)
{
	return is_crowded(named_rows(&ledger->containers), ledger->max_containers);
}

uint32_t ledger_container_slots(const struct ledger *ledger)
{
	return ledger->containers.slots.count;
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

uint64_t ledger_container_overflows(const struct ledger *ledger)
{
	return ledger->containers.overflows;
}
