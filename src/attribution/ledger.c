// SPDX-License-Identifier: Apache-2.0
/*
 * The book's life, its columns, the charges, and the node's own lines. The rows are in
 * ledger_processes.c, ledger_containers.c and ledger_groups.c.
 *
 * Each charge to a process is booked to its container in the same breath, so that the sums agree at
 * every moment and a row can be released without touching any total.
 */
#include "attribution/ledger.h"

#include <errno.h>

#include "attribution/ledger_rows.h"
#include "base/array.h"
#include "base/macro.h"

int ledger_new(const struct ledger_options *options, struct ledger **ret)
{
	struct ledger *ledger = calloc(1, sizeof(*ledger));
	struct ledger_owner overflow = { 0 };
	int r = 0;

	if (!ledger)
		return -ENOMEM;
	ledger->names = names_table_get(options->names);
	if (!ledger->names) {
		free(ledger);
		return -ENOMEM;
	}
	ledger->max_processes = options->max_processes;
	ledger->max_containers = options->max_containers;
	process_table_init(&ledger->processes, UINT32_MAX);
	container_table_init(&ledger->containers, UINT32_MAX);
	for (enum ledger_group group = LEDGER_POD; group < LEDGER_GROUP_COUNT; group++)
		r = group_table_init(ledger, group) < 0 ? -ENOMEM : r;
	overflow.names = owner_names_intern(ledger->names, options->overflow);
	if (r == 0 && (!overflow.names || container_table_add(ledger, &overflow) == LEDGER_NONE))
		r = -ENOMEM;
	owner_names_unref(overflow.names);
	if (r < 0) {
		ledger_free(ledger);
		return -ENOMEM;
	}
	*ret = ledger;
	return 0;
}

void ledger_free(struct ledger *ledger)
{
	if (!ledger)
		return;
	process_table_release(&ledger->processes);
	container_table_release(&ledger->containers);
	for (size_t group = 0; group < LEDGER_GROUP_COUNT; group++)
		group_table_release(&ledger->groups[group]);
	names_table_put(ledger->names);
	free(ledger->zone);
	free(ledger);
}

static int widen_tables(struct ledger *ledger, uint32_t columns)
{
	const struct value_table_use uses[] = {
		{ &ledger->processes.values, ledger->processes.slots.count },
		{ &ledger->processes.deltas, ledger->processes.slots.touched_count },
		{ &ledger->containers.values, ledger->containers.slots.count },
		{ &ledger->containers.deltas, ledger->containers.slots.count },
		{ &ledger->groups[LEDGER_POD].values, ledger->groups[LEDGER_POD].slots.count },
		{ &ledger->groups[LEDGER_POD].deltas, ledger->groups[LEDGER_POD].slots.count },
		{ &ledger->groups[LEDGER_VM].values, ledger->groups[LEDGER_VM].slots.count },
		{ &ledger->groups[LEDGER_VM].deltas, ledger->groups[LEDGER_VM].slots.count },
		{ &ledger->groups[LEDGER_NAMESPACE].values,
		  ledger->groups[LEDGER_NAMESPACE].slots.count },
		{ &ledger->groups[LEDGER_NAMESPACE].deltas,
		  ledger->groups[LEDGER_NAMESPACE].slots.count },
	};

	return value_tables_widen(uses, ARRAY_SIZE(uses), columns);
}

int ledger_set_zones(struct ledger *ledger, uint32_t zones)
{
	int r;

	if (zones <= ledger->zones)
		return 0;
	r = ARRAY_RESIZE(ledger->zone, zones);
	if (r == 0)
		r = widen_tables(ledger, zones * MODE_COUNT + 1);
	if (r < 0)
		return r;
	for (uint32_t z = ledger->zones; z < zones; z++)
		ledger->zone[z] = (struct ledger_zone){ 0 };
	ledger->zones = zones;
	return 0;
}

struct names_table *ledger_names(const struct ledger *ledger)
{
	return ledger->names;
}

uint32_t ledger_zones(const struct ledger *ledger)
{
	return ledger->zones;
}

uint32_t ledger_columns(const struct ledger *ledger)
{
	return ledger->zones * MODE_COUNT + 1;
}

uint32_t ledger_cpu_column(const struct ledger *ledger)
{
	return ledger->zones * MODE_COUNT;
}

void ledger_begin(struct ledger *ledger, uint64_t now_ns)
{
	ledger_close(ledger);
	ledger->closed = false;
	ledger->now_ns = now_ns;
	process_table_begin(&ledger->processes);
	container_table_begin(&ledger->containers);
	for (size_t group = 0; group < LEDGER_GROUP_COUNT; group++)
		group_table_begin(&ledger->groups[group]);
	for (uint32_t z = 0; z < ledger->zones; z++)
		memset(ledger->zone[z].node_delta_uj, 0, sizeof(ledger->zone[z].node_delta_uj));
}

void ledger_close(struct ledger *ledger)
{
	if (ledger->closed)
		return;
	ledger->closed = true;
	container_table_end_waits(ledger);
	groups_book(ledger);
}

static void charge_container(struct ledger *ledger, uint32_t container, uint32_t column,
			     uint64_t amount)
{
	container_table_activate(ledger, container);
	value_table_row(&ledger->containers.values, container)[column] += amount;
	value_table_row(&ledger->containers.deltas, container)[column] += amount;
}

void ledger_charge(struct ledger *ledger, uint32_t process, uint32_t column, uint64_t amount)
{
	struct process_table *table = &ledger->processes;

	process_table_touch(table, process);
	value_table_row(&table->values, process)[column] += amount;
	value_table_row(&table->deltas, table->rows[process].touch)[column] += amount;
	charge_container(ledger, table->rows[process].process.container, column, amount);
}

void ledger_charge_container(struct ledger *ledger, uint32_t container, uint32_t column,
			     uint64_t amount)
{
	charge_container(ledger, container, column, amount);
}

void ledger_node(struct ledger *ledger, uint32_t zone, enum energy_mode mode, uint64_t amount_uj)
{
	ledger->zone[zone].node_uj[mode] += amount_uj;
	ledger->zone[zone].node_delta_uj[mode] += amount_uj;
}

void ledger_unattributed(struct ledger *ledger, uint32_t zone, enum energy_mode mode,
			 enum unattributed_reason reason, uint64_t amount_uj)
{
	ledger->zone[zone].unattributed_uj[mode][reason] += amount_uj;
}

void ledger_node_cpu(struct ledger *ledger, uint64_t busy_ns)
{
	ledger->node_cpu_ns += busy_ns;
}

uint64_t ledger_node_value(const struct ledger *ledger, uint32_t zone, enum energy_mode mode)
{
	return ledger->zone[zone].node_uj[mode];
}

uint64_t ledger_node_delta(const struct ledger *ledger, uint32_t zone, enum energy_mode mode)
{
	return ledger->zone[zone].node_delta_uj[mode];
}

uint64_t ledger_unattributed_value(const struct ledger *ledger, uint32_t zone,
				   enum energy_mode mode, enum unattributed_reason reason)
{
	return ledger->zone[zone].unattributed_uj[mode][reason];
}

uint64_t ledger_node_cpu_value(const struct ledger *ledger)
{
	return ledger->node_cpu_ns;
}
