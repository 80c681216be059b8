// SPDX-License-Identifier: Apache-2.0
/*
 * The process rows: finding, making, ending and releasing them.
 *
 * All rows of one process (same pid and start) are in one chain of the index: at most one lives,
 * the others ended when its labels changed and are kept for the publisher. The chain holds as many
 * rows as the process changed its labels while they are kept, so walking it is cheap.
 */
#include <errno.h>

#include "attribution/ledger_rows.h"
#include "base/macro.h"
#include "energy/label_text.h"

void process_table_init(struct process_table *table, uint32_t limit)
{
	*table = (struct process_table){ 0 };
	row_slots_init(&table->slots);
	value_table_init(&table->values, 1);
	value_table_init(&table->deltas, 1);
	row_index_init(&table->index, limit);
}

void process_table_release(struct process_table *table)
{
	free(table->rows);
	row_slots_release(&table->slots);
	value_table_release(&table->values);
	value_table_release(&table->deltas);
	row_index_release(&table->index);
}

void process_table_begin(struct process_table *table)
{
	for (uint32_t i = 0; i < table->slots.touched_count; i++)
		table->rows[table->slots.touched[i]].process.touched = false;
	table->slots.touched_count = 0;
	table->refused = 0;
}

void process_table_touch(struct process_table *table, uint32_t process)
{
	struct process_row *row = &table->rows[process];

	if (row->process.touched)
		return;
	row->process.touched = true;
	row->touch = row_slots_touch(&table->slots, process);
	value_table_clear(&table->deltas, row->touch);
}

static uint32_t find_slot(struct process_table *table)
{
	struct value_table *const values[] = { &table->values, &table->deltas };
	void *rows = row_slots_reserve(&table->slots, table->rows, sizeof(*table->rows));

	if (!rows)
		return LEDGER_NONE;
	table->rows = rows;
	return row_slots_find(&table->slots, values, ARRAY_SIZE(values));
}

static struct process_row *take_slot(struct process_table *table, uint32_t slot)
{
	if (row_slots_take(&table->slots, slot))
		table->rows[slot] = (struct process_row){ 0 };
	return &table->rows[slot];
}

static struct map_key key_of(uint32_t pid, uint64_t start_ns)
{
	return (struct map_key){ .hi = pid, .lo = start_ns };
}

uint32_t ledger_find_process(const struct ledger *ledger, uint32_t pid, uint64_t start_ns)
{
	const struct process_table *table = &ledger->processes;
	uint32_t process = row_index_first(&table->index, key_of(pid, start_ns));

	while (process != LEDGER_NONE && table->rows[process].process.ended)
		process = row_index_next(&table->index, process);
	return process;
}

static uint32_t find_labels(const struct process_table *table, struct map_key key, const char *comm,
			    uint32_t container)
{
	uint32_t process = row_index_first(&table->index, key);

	for (; process != LEDGER_NONE; process = row_index_next(&table->index, process)) {
		const struct ledger_process *row = &table->rows[process].process;

		if (row->container == container && strcmp(row->comm, comm) == 0)
			return process;
	}
	return LEDGER_NONE;
}

static uint32_t make_row(struct ledger *ledger, const struct ledger_process *wanted)
{
	struct process_table *table = &ledger->processes;
	uint32_t slot;
	struct process_row *row;

	if (table->slots.used >= ledger->max_processes) {
		table->refused++;
		return LEDGER_NONE;
	}
	slot = find_slot(table);
	if (slot == LEDGER_NONE ||
	    row_index_add(&table->index, key_of(wanted->pid, wanted->start_ns), slot) < 0)
		return LEDGER_NONE;
	row = take_slot(table, slot);
	/* A slot that was released in this very interval is on the list of touched rows already. */
	bool touched = row->process.touched;

	row->process = *wanted;
	row->process.used = true;
	row->process.touched = touched;
	row->process.serial = ++ledger->next_serial;
	value_table_clear(&table->values, slot);
	ledger->containers.rows[wanted->container].processes++;
	ledger->containers.rows[wanted->container].living++;
	return slot;
}

uint32_t ledger_process(struct ledger *ledger, uint32_t pid, uint64_t start_ns, const char *comm,
			uint32_t container)
{
	struct process_table *table = &ledger->processes;
	struct ledger_process wanted = { .pid = pid, .start_ns = start_ns, .container = container };
	uint32_t living, process;

	if (pid == 0)
		return LEDGER_NONE;
	label_text(wanted.comm, sizeof(wanted.comm), comm);
	living = ledger_find_process(ledger, pid, start_ns);
	process = find_labels(table, key_of(pid, start_ns), wanted.comm, container);
	if (process != LEDGER_NONE && process == living)
		return process;
	if (living != LEDGER_NONE)
		ledger_end_process(ledger, living);
	if (process == LEDGER_NONE)
		process = make_row(ledger, &wanted);
	if (process == LEDGER_NONE) {
		table->overflows++;
		return LEDGER_NONE;
	}
	if (table->rows[process].process.ended)
		ledger->containers.rows[container].living++;
	table->rows[process].process.ended = false;
	process_table_touch(table, process);
	container_table_activate(ledger, container);
	return process;
}

void ledger_end_process(struct ledger *ledger, uint32_t process)
{
	struct process_table *table = &ledger->processes;

	if (table->rows[process].process.ended)
		return;
	table->rows[process].process.ended = true;
	ledger->containers.rows[table->rows[process].process.container].living--;
	process_table_touch(table, process);
}

void ledger_release_process(struct ledger *ledger, uint32_t process)
{
	struct process_table *table = &ledger->processes;
	struct process_row *row = &table->rows[process];

	ledger_end_process(ledger, process); /* for one that lives, to keep the counts right */
	row_index_remove(&table->index, key_of(row->process.pid, row->process.start_ns), process);
	ledger->containers.rows[row->process.container].processes--;
	if (row->process.touched)
		value_table_clear(&table->deltas, row->touch);
	row->process.used = false;
	row_slots_give_back(&table->slots, process);
}

uint32_t ledger_process_slots(const struct ledger *ledger)
{
	return ledger->processes.slots.count;
}

const struct ledger_process *ledger_process_at(const struct ledger *ledger, uint32_t process)
{
	return &ledger->processes.rows[process].process;
}

const uint64_t *ledger_process_values(const struct ledger *ledger, uint32_t process)
{
	return value_table_row(&ledger->processes.values, process);
}

const uint64_t *ledger_process_deltas(const struct ledger *ledger, uint32_t process)
{
	const struct process_row *row = &ledger->processes.rows[process];

	return row->process.touched ? value_table_row(&ledger->processes.deltas, row->touch) : NULL;
}

const uint32_t *ledger_touched_processes(const struct ledger *ledger, size_t *ret_count)
{
	*ret_count = ledger->processes.slots.touched_count;
	return ledger->processes.slots.touched;
}

bool ledger_processes_crowded(const struct ledger *ledger)
{
	return is_crowded(ledger->processes.slots.used, ledger->max_processes);
}

uint32_t ledger_refused_processes(const struct ledger *ledger)
{
	return ledger->processes.refused;
}

uint64_t ledger_process_overflows(const struct ledger *ledger)
{
	return ledger->processes.overflows;
}
