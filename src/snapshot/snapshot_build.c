// SPDX-License-Identifier: Apache-2.0
/*
 * Takes the picture: copies what is to be seen into one buffer, in which every array is one run of
 * memory.
 *
 * Process rows are the own series, in their order, then one "other" for each container. Their
 * values are copied as a block; what has not settled is then moved to `pending`, row by row.
 */
#include <errno.h>

#include "base/macro.h"
#include "snapshot/publisher_parts.h"

struct counts {
	size_t columns, zones, own;
	size_t rows[LEVEL_COUNT];
	size_t retired[LEVEL_COUNT];
};

/* The writable side of a snapshot_table. */
struct canvas {
	struct snapshot_row *rows;
	uint64_t *values;
	uint64_t *deltas;
	struct snapshot_row *retired;
	uint64_t *retired_values;
	uint64_t *pending;
};

static struct counts count_rows(const struct publisher *publisher)
{
	const struct container_view *containers = &publisher->containers;
	struct counts counts = { .columns = publisher->columns,
				 .zones = ledger_zones(publisher->ledger),
				 .own = publisher->processes.count };

	counts.rows[LEVEL_PROCESS] = counts.own + containers->published;
	counts.rows[LEVEL_CONTAINER] = containers->published;
	for (uint32_t i = 0; i < containers->slots; i++)
		counts.retired[LEVEL_PROCESS] += containers->series[i].has_retired;
	for (uint32_t i = 0; i < publisher->namespaces.count; i++) {
		for (size_t level = 0; level < LEVEL_COUNT; level++)
			counts.retired[level] += publisher->namespaces.series[i].has_retired[level];
	}
	for (enum level group = LEVEL_POD; group < LEVEL_COUNT; group++)
		counts.rows[group] = publisher->groups[group].published;
	return counts;
}

static size_t memory_needed(const struct counts *counts)
{
	size_t line = counts->columns * sizeof(uint64_t);
	size_t size = counts->zones * sizeof(struct snapshot_zone);

	for (size_t level = 0; level < LEVEL_COUNT; level++)
		size += counts->rows[level] * (sizeof(struct snapshot_row) + 2 * line) +
			counts->retired[level] * (sizeof(struct snapshot_row) + line) + line;
	return size;
}

/* All parts are made of 8-byte members, so that each begins where the one before ends. */
static void *carve(char **at, size_t size)
{
	void *part = *at;

	*at += size;
	return part;
}

static void carve_table(char **at, const struct counts *counts, enum level level,
			struct canvas *canvas)
{
	size_t line = counts->columns * sizeof(uint64_t);

	canvas->rows = carve(at, counts->rows[level] * sizeof(struct snapshot_row));
	canvas->values = carve(at, counts->rows[level] * line);
	canvas->deltas = carve(at, counts->rows[level] * line);
	canvas->retired = carve(at, counts->retired[level] * sizeof(struct snapshot_row));
	canvas->retired_values = carve(at, counts->retired[level] * line);
	canvas->pending = carve(at, line);
	memset(canvas->deltas, 0, counts->rows[level] * line);
	memset(canvas->pending, 0, line);
}

static struct snapshot_table table_of(const struct canvas *canvas, const struct counts *counts,
				      enum level level)
{
	return (struct snapshot_table){
		.count = counts->rows[level],
		.rows = canvas->rows,
		.values = canvas->values,
		.deltas = canvas->deltas,
		.retired_count = counts->retired[level],
		.retired = canvas->retired,
		.retired_values = canvas->retired_values,
		.pending = canvas->pending,
	};
}

/* Shows 0 in place of a value that has not settled. */
static void hold_back(const struct canvas *canvas, size_t row, uint32_t columns)
{
	uint64_t *value = canvas->values + row * columns;

	values_add(canvas->pending, value, columns);
	memset(value, 0, columns * sizeof(*value));
}

static void draw_processes(struct publisher *publisher, const struct moment *at,
			   const struct canvas *canvas)
{
	struct process_view *view = &publisher->processes;
	struct snapshot_row *rows = canvas->rows;
	uint32_t columns = publisher->columns;

	if (view->count)
		memcpy(canvas->values, view->values.values,
		       (size_t)view->count * columns * sizeof(uint64_t));
	for (uint32_t i = 0; i < view->count; i++) {
		struct process_series *series = &view->series[i];

		rows[i] = (struct snapshot_row){ .labels = series->labels,
						 .created_ms = series->age.created_ms,
						 .ended = series->ended };
		if (series->age.settled)
			continue;
		age_settle(&series->age, publisher, at);
		if (!series->age.settled)
			hold_back(canvas, i, columns);
	}
}

/* A container's own row and its "other": what it used less what is in series or retired. */
static void draw_container(struct publisher *publisher, uint32_t container, size_t own,
			   const struct canvas *processes, const struct canvas *containers)
{
	const struct container_series *series = &publisher->containers.series[container];
	const struct ledger_container *ledger_row =
		ledger_container_at(publisher->ledger, container);
	uint32_t columns = publisher->columns;
	size_t line = columns * sizeof(uint64_t), row = series->row, other = own + series->row;
	uint64_t *rest = processes->values + other * columns;

	containers->rows[row] = (struct snapshot_row){ .labels = series->labels,
						       .created_ms = series->age.created_ms,
						       .ended = container_has_ended(ledger_row) };
	processes->rows[other] = (struct snapshot_row){ .labels = series->other_labels,
							.created_ms = series->age.created_ms,
							.ended = container_has_ended(ledger_row) };
	memcpy(containers->values + row * columns,
	       ledger_values(publisher->ledger, LEVEL_CONTAINER, container), line);
	memcpy(rest, containers->values + row * columns, line);
	values_subtract(rest, value_table_row(&publisher->containers.elsewhere, container),
			columns);
	if (ledger_row->row.touched) {
		const uint64_t *deltas =
			ledger_deltas(publisher->ledger, LEVEL_CONTAINER, container);

		memcpy(containers->deltas + row * columns, deltas, line);
		memcpy(processes->deltas + other * columns, deltas, line);
	}
	if (!series->age.settled) {
		hold_back(containers, row, columns);
		hold_back(processes, other, columns);
	}
}

static void draw_containers(struct publisher *publisher, const struct moment *at, size_t own,
			    const struct canvas *processes, const struct canvas *containers)
{
	struct container_view *view = &publisher->containers;
	uint32_t row = 0;

	for (uint32_t i = 0; i < view->slots; i++) {
		struct container_series *series = &view->series[i];

		if (!series->published)
			continue;
		age_settle(&series->age, publisher, at);
		series->row = row++;
		draw_container(publisher, i, own, processes, containers);
	}
}

/* After draw_containers(): own series take their part of the interval out of "other". */
static void draw_process_deltas(struct publisher *publisher, size_t own,
				const struct canvas *canvas)
{
	const struct process_view *view = &publisher->processes;
	uint32_t columns = publisher->columns;
	size_t count;
	const uint32_t *touched = ledger_touched(publisher->ledger, LEVEL_PROCESS, &count);

	for (size_t i = 0; i < count; i++) {
		uint32_t index = view->series_of[touched[i]];
		const struct ledger_process *row = ledger_process_at(publisher->ledger, touched[i]);
		const uint64_t *deltas =
			ledger_deltas(publisher->ledger, LEVEL_PROCESS, touched[i]);
		size_t other;

		if (index == NO_SERIES)
			continue;
		other = own + publisher->containers.series[row->container].row;
		memcpy(canvas->deltas + (size_t)index * columns, deltas,
		       columns * sizeof(uint64_t));
		values_subtract(canvas->deltas + other * columns, deltas, columns);
	}
}

static void draw_group(struct publisher *publisher, enum level group, const struct moment *at,
		       const struct canvas *canvas)
{
	struct group_view *view = &publisher->groups[group];
	uint32_t columns = publisher->columns, row = 0;
	size_t line = columns * sizeof(uint64_t);

	for (uint32_t i = 0; i < view->slots; i++) {
		struct group_series *series = &view->series[i];
		const struct ledger_group *ledger_row;

		if (!series->published)
			continue;
		ledger_row = ledger_group_at(publisher->ledger, group, i);
		age_settle(&series->age, publisher, at);
		canvas->rows[row] = (struct snapshot_row){ .labels = series->labels,
							   .created_ms = series->age.created_ms,
							   .ended = ledger_row->row.members == 0 };
		memcpy(canvas->values + (size_t)row * columns,
		       ledger_values(publisher->ledger, group, i), line);
		if (ledger_row->row.touched)
			memcpy(canvas->deltas + (size_t)row * columns,
			       ledger_deltas(publisher->ledger, group, i), line);
		if (!series->age.settled)
			hold_back(canvas, row, columns);
		row++;
	}
}

/* What has no name yet is pending at every level that it will, or may, come to belong to. */
static void draw_waiting(const struct publisher *publisher, const struct canvas *canvas)
{
	uint32_t slots = ledger_slots(publisher->ledger, LEVEL_CONTAINER);

	if (ledger_waiting(publisher->ledger) == 0)
		return;
	for (uint32_t i = 0; i < slots; i++) {
		const struct ledger_container *row = ledger_container_at(publisher->ledger, i);
		const bool belongs[LEVEL_COUNT] = {
			[LEVEL_PROCESS] = true,
			[LEVEL_CONTAINER] = true,
			[LEVEL_POD] = row->row.used && row->names->text[LABEL_POD_ID][0] &&
				      !(row->grouped & LEVEL_BIT(LEVEL_POD)),
			[LEVEL_VM] = row->row.used && row->names->text[LABEL_VM_ID][0],
			[LEVEL_NAMESPACE] = !(row->grouped & LEVEL_BIT(LEVEL_NAMESPACE)),
		};

		for (size_t level = 0; level < LEVEL_COUNT && row->row.used && row->waiting;
		     level++) {
			if (belongs[level])
				values_add(canvas[level].pending,
					   ledger_values(publisher->ledger, LEVEL_CONTAINER, i),
					   publisher->columns);
		}
	}
}

static void draw_retired_row(const struct canvas *canvas, size_t row, uint32_t columns,
			     const struct snapshot_row *shown, const uint64_t *values)
{
	canvas->retired[row] = *shown;
	memcpy(canvas->retired_values + row * columns, values, columns * sizeof(*values));
}

static void draw_retired(const struct publisher *publisher, struct canvas *canvas)
{
	const struct container_view *view = &publisher->containers;
	const struct namespace_view *namespaces = &publisher->namespaces;
	size_t rows[LEVEL_COUNT] = { 0 };

	for (uint32_t i = 0; i < view->slots; i++) {
		const struct snapshot_row shown = { .labels = view->series[i].retired_labels,
						    .created_ms =
							    view->series[i].retired_created_ms };

		if (view->series[i].has_retired)
			draw_retired_row(&canvas[LEVEL_PROCESS], rows[LEVEL_PROCESS]++,
					 publisher->columns, &shown,
					 value_table_row(&view->retired, i));
	}
	for (uint32_t i = 0; i < namespaces->count * LEVEL_COUNT; i++) {
		uint32_t ns = i / LEVEL_COUNT, level = i % LEVEL_COUNT;
		const struct snapshot_row shown = {
			.labels = namespaces->series[ns].labels[level],
			.created_ms = namespaces->series[ns].created_ms[level]
		};

		if (namespaces->series[ns].has_retired[level])
			draw_retired_row(&canvas[level], rows[level]++, publisher->columns, &shown,
					 value_table_row(&namespaces->retired[level], ns));
	}
}

static void draw_zones(const struct publisher *publisher, const struct snapshot_zone *zones,
		       struct snapshot_zone *out)
{
	const struct ledger *ledger = publisher->ledger;
	uint32_t count = ledger_zones(ledger);

	for (uint32_t z = 0; z < count; z++) {
		out[z] = zones[z];
		for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
			out[z].node_uj[mode] = ledger_node_value(ledger, z, mode);
			for (enum unattributed_reason reason = 0;
			     reason < UNATTRIBUTED_REASON_COUNT; reason++)
				out[z].unattributed_uj[mode][reason] =
					ledger_unattributed_value(ledger, z, mode, reason);
		}
	}
}

static void count_limits(const struct publisher *publisher, struct snapshot_table *level)
{
	level[LEVEL_PROCESS].folded = publisher->processes.folded;
	level[LEVEL_CONTAINER].folded = publisher->containers.folded;
	for (enum level group = LEVEL_POD; group < LEVEL_COUNT; group++) {
		struct snapshot_table *table = &level[group];

		table->folded = publisher->groups[group].folded;
		table->overflows = ledger_overflows(publisher->ledger, group);
	}
}

int snapshot_build(struct publisher *publisher, const struct moment *at,
		   const struct snapshot_zone *zones, const struct snapshot_self *self)
{
	const struct counts counts = count_rows(publisher);
	struct snapshot_buffer *buffer =
		snapshot_holder_take(publisher->holder, memory_needed(&counts));
	struct canvas canvas[LEVEL_COUNT];
	struct snapshot_zone *zones_out;
	char *free_memory;

	if (!buffer)
		return -ENOMEM;
	free_memory = buffer->memory;
	zones_out = carve(&free_memory, counts.zones * sizeof(*zones_out));
	for (enum level level = 0; level < LEVEL_COUNT; level++)
		carve_table(&free_memory, &counts, level, &canvas[level]);
	draw_zones(publisher, zones, zones_out);
	draw_processes(publisher, at, &canvas[LEVEL_PROCESS]);
	draw_containers(publisher, at, counts.own, &canvas[LEVEL_PROCESS],
			&canvas[LEVEL_CONTAINER]);
	draw_process_deltas(publisher, counts.own, &canvas[LEVEL_PROCESS]);
	for (enum level group = LEVEL_POD; group < LEVEL_COUNT; group++)
		draw_group(publisher, group, at, &canvas[group]);
	draw_waiting(publisher, canvas);
	draw_retired(publisher, canvas);
	buffer->snapshot = (struct snapshot){
		.monotonic_ns = at->now_ns,
		.realtime_ms = at->realtime_ms,
		.columns = publisher->columns,
		.zone_count = (uint32_t)counts.zones,
		.zones = zones_out,
		.self = *self,
	};
	for (enum level level = 0; level < LEVEL_COUNT; level++)
		buffer->snapshot.level[level] = table_of(&canvas[level], &counts, level);
	count_limits(publisher, buffer->snapshot.level);
	snapshot_holder_publish(publisher->holder, buffer);
	return 0;
}
