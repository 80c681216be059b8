// SPDX-License-Identifier: Apache-2.0
/*
 * Rows of the ledger are numbered from 0 without large holes, so cells are arrays by row. A row
 * that was given to another process or container since has another serial: its cell is added to the
 * container or to the work without a name before it is reused.
 */
#include "attribution/gaps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

uint32_t gaps_enter(struct gaps *gaps, uint64_t now_ns, uint32_t place, enum share_rule rule)
{
	uint32_t unused = GAP_LOST;

	for (uint32_t i = 0; i < GAPS_MAX; i++) {
		struct gap *gap = &gaps->gap[i];

		if (!gap->zones)
			unused = i;
		if (gap->zones && gap->began_ns == now_ns && gap->place == place &&
		    gap->rule == rule) {
			gap->zones++;
			return i;
		}
	}
	if (unused == GAP_LOST)
		return GAP_LOST;
	gaps->gap[unused] =
		(struct gap){ .began_ns = now_ns, .place = place, .rule = rule, .zones = 1 };
	gaps->used++;
	return unused;
}

void gap_release(struct gap *gap)
{
	free(gap->processes.cell);
	free(gap->containers.cell);
	*gap = (struct gap){ 0 };
}

void gaps_leave(struct gaps *gaps, uint32_t gap)
{
	if (gap >= GAPS_MAX || --gaps->gap[gap].zones)
		return;
	gap_release(&gaps->gap[gap]);
	gaps->used--;
}

void gaps_release(struct gaps *gaps)
{
	for (uint32_t i = 0; i < GAPS_MAX; i++)
		gap_release(&gaps->gap[i]);
	gaps->used = 0;
}

static int reserve(struct gap_cells *cells, uint32_t count)
{
	uint32_t size = cells->count;

	if (count <= size)
		return 0;
	if (ARRAY_RESERVE(cells->cell, size, count) < 0)
		return -ENOMEM;
	memset(cells->cell + cells->count, 0, (size - cells->count) * sizeof(struct gap_cell));
	cells->count = size;
	return 0;
}

/* The container's cell, where it is the container with @serial; else what it had goes on first. */
static struct gap_cell *container_cell(struct gap *gap, uint32_t container, uint64_t serial)
{
	struct gap_cell *cell = &gap->containers.cell[container];

	if (cell->serial != serial) {
		gap->dropped += cell->dynamic;
		gap->time_dropped += cell->time;
		*cell = (struct gap_cell){ .serial = serial };
	}
	return cell;
}

static bool is_empty(const struct gap_cell *cell)
{
	return !cell->dynamic && !cell->time && !cell->idle;
}

/* The process is gone: its work is its container's, if that is still there. */
static void hand_on(struct gap *gap, const struct ledger *ledger, const struct gap_cell *process)
{
	struct gap_cell *cell;

	if (is_empty(process))
		return;
	if (process->container_serial !=
	    ledger_container_at(ledger, process->container)->row.serial) {
		gap->dropped += process->dynamic;
		gap->time_dropped += process->time;
		return;
	}
	cell = container_cell(gap, process->container, process->container_serial);
	cell->dynamic += process->dynamic;
	cell->time += process->time;
	cell->idle += process->idle;
}

static struct gap_cell *process_cell(struct gap *gap, const struct ledger *ledger,
				     const struct party *party)
{
	uint64_t serial = ledger_process_at(ledger, party->process)->row.serial;
	struct gap_cell *cell = &gap->processes.cell[party->process];

	if (cell->serial != serial) {
		hand_on(gap, ledger, cell);
		*cell = (struct gap_cell){
			.serial = serial,
			.container = party->container,
			.container_serial =
				ledger_container_at(ledger, party->container)->row.serial,
		};
	}
	return cell;
}

static void forget_idle(struct gap_cells *cells)
{
	for (uint32_t row = 0; row < cells->count; row++)
		cells->cell[row].idle = 0;
}

/* In CPU time, which is what a rule without signals has as it is. */
static uint64_t time_of(const struct attribution_input *work, size_t i)
{
	return share_rule_has_signals(work->rule) ? work->time_weights[i]
						  : work->dynamic_weights[i];
}

static bool has_time(const struct attribution_input *work)
{
	bool has = false;

	for (size_t i = 0; i < work->count && !has; i++)
		has = time_of(work, i) != 0;
	return has;
}

static void collect_nameless(struct gap *gap, const struct attribution_input *work)
{
	uint64_t dropped = attribution_time_dropped(work);
	uint64_t unseen = attribution_time_unseen(work);

	gap->dropped += work->dropped_weight;
	gap->unseen += work->unseen_weight;
	gap->time_dropped += dropped;
	gap->time_unseen += unseen;
	gap->has_weights |= attribution_has_weights(work);
	if (work->rule != gap->rule)
		gap->is_mixed |= dropped || unseen || has_time(work);
}

void gap_collect(struct gap *gap, const struct ledger *ledger, const struct party *party,
		 const struct attribution_input *work, const struct zone_activity *activity)
{
	collect_nameless(gap, work);
	zone_activity_add(&gap->activity, activity);
	if (reserve(&gap->processes, ledger_slots(ledger, LEVEL_PROCESS)) < 0 ||
	    reserve(&gap->containers, ledger_slots(ledger, LEVEL_CONTAINER)) < 0)
		gap->incomplete = true;
	if (gap->incomplete)
		return;
	if (gap->idle_share != work->idle_share) {
		forget_idle(&gap->processes);
		forget_idle(&gap->containers);
		gap->idle_dropped = 0;
		gap->idle_share = work->idle_share;
	}
	gap->idle_dropped += work->idle_dropped_weight;
	for (size_t i = 0; i < work->count; i++) {
		uint32_t container = party[i].container;
		struct gap_cell *cell;

		if (party[i].process != LEDGER_NONE)
			cell = process_cell(gap, ledger, &party[i]);
		else
			cell = container_cell(gap, container,
					      ledger_container_at(ledger, container)->row.serial);
		cell->dynamic += work->dynamic_weights[i];
		cell->time += time_of(work, i);
		cell->idle += work->idle_weights[i];
	}
}

static bool uses_time(const struct gap *gap)
{
	return gap->is_mixed || (share_rule_has_signals(gap->rule) && !gap->has_weights);
}

enum share_rule gap_rule(const struct gap *gap)
{
	return uses_time(gap) ? SHARE_CPU_TIME : gap->rule;
}

/* The weight of @cell by gap_rule(). */
static uint64_t weight_of(const struct gap *gap, const struct gap_cell *cell)
{
	return uses_time(gap) ? cell->time : cell->dynamic;
}

static void drop(const struct gap *gap, const struct gap_cell *cell, struct gap_nameless *ret)
{
	ret->dropped += weight_of(gap, cell);
	ret->time_dropped += cell->time;
}

/* Before the containers, for they get what processes without a row had. */
static void add_processes(const struct gap *gap, const struct ledger *ledger, struct parties *ret,
			  struct gap_nameless *ret_nameless)
{
	for (uint32_t row = 0; row < gap->processes.count; row++) {
		const struct gap_cell *cell = &gap->processes.cell[row];
		const struct ledger_container *container;
		bool lives;

		if (is_empty(cell))
			continue;
		lives = row < ledger_slots(ledger, LEVEL_PROCESS) &&
			ledger_process_at(ledger, row)->row.used &&
			ledger_process_at(ledger, row)->row.serial == cell->serial;
		container = ledger_container_at(ledger, cell->container);
		if (!lives &&
		    !(container->row.used && container->row.serial == cell->container_serial)) {
			drop(gap, cell, ret_nameless);
			continue;
		}
		parties_add(ret, lives ? row : LEDGER_NONE, cell->container, weight_of(gap, cell),
			    NULL);
		ret->idle_weight[ret->count - 1] = cell->idle;
	}
}

static void add_containers(const struct gap *gap, const struct ledger *ledger, struct parties *ret,
			   struct gap_nameless *ret_nameless)
{
	for (uint32_t row = 0; row < gap->containers.count; row++) {
		const struct gap_cell *cell = &gap->containers.cell[row];
		const struct ledger_container *container;

		if (is_empty(cell))
			continue;
		container = ledger_container_at(ledger, row);
		if (!container->row.used || container->row.serial != cell->serial) {
			drop(gap, cell, ret_nameless);
			continue;
		}
		parties_add(ret, LEDGER_NONE, row, weight_of(gap, cell), NULL);
		ret->idle_weight[ret->count - 1] = cell->idle;
	}
}

int gap_parties(const struct gap *gap, const struct ledger *ledger, struct parties *ret,
		struct gap_nameless *ret_nameless)
{
	parties_begin(ret, 0);
	if (gap->incomplete ||
	    parties_reserve(ret, (size_t)gap->processes.count + gap->containers.count) < 0)
		return -ENOMEM;
	*ret_nameless = (struct gap_nameless){
		.dropped = uses_time(gap) ? gap->time_dropped : gap->dropped,
		.unseen = uses_time(gap) ? gap->time_unseen : gap->unseen,
		.time_dropped = gap->time_dropped,
		.time_unseen = gap->time_unseen,
	};
	add_processes(gap, ledger, ret, ret_nameless);
	add_containers(gap, ledger, ret, ret_nameless);
	return 0;
}
