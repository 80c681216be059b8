// SPDX-License-Identifier: Apache-2.0
#include "snapshot/snapshot_build.h"

#include <errno.h>

#include "snapshot/account_picture.h"
#include "snapshot/birth_clock.h"

struct counts {
	size_t columns, zones, accounts, units;
	size_t rows[LEVEL_COUNT];
	size_t retired[LEVEL_COUNT];
};

static int64_t birth_of(const struct moment *at, int64_t born_ms)
{
	return birth_time_ms(born_ms, at->birth_offset_ms, at->realtime_ms);
}

/* The writable side of a snapshot_table. */
struct canvas {
	const struct moment *at;
	struct snapshot_row *rows;
	uint64_t *values;
	uint64_t *deltas;
	struct snapshot_row *retired;
	uint64_t *retired_values;
	uint64_t *pending;
};

/* The number of its pod's series, if it is shown. */
static uint32_t unit_series(const struct publication *publication,
			    const struct unit_account *account)
{
	uint32_t index;

	if (!account->is_shown)
		return SERIES_NONE;
	index = series_index(&publication->series[LEVEL_POD], account->row);
	/* The row may have been released, and be another pod's, since the account was booked. */
	if (index != SERIES_NONE &&
	    ledger_group_at(publication->ledger, LEVEL_POD, account->row)->row.serial !=
		    account->serial)
		return SERIES_NONE;
	return index;
}

static size_t count_units(const struct publication *publication)
{
	const struct unit_accounts *units = publication->units;
	size_t count = 0;

	for (size_t i = 0; units && i < units->count; i++)
		count += unit_series(publication, &units->accounts[i]) != SERIES_NONE;
	return count;
}

static struct counts count_rows(const struct publication *publication)
{
	struct counts counts = { .columns = publication->columns,
				 .zones = ledger_zones(publication->ledger),
				 .accounts = ledger_layout(publication->ledger)->account_count };

	counts.units = count_units(publication);
	for (size_t level = 0; level < LEVEL_COUNT; level++) {
		counts.rows[level] = publication->series[level].count;
		counts.retired[level] = publication->retired[level].shown;
	}
	counts.rows[LEVEL_PROCESS] += publication->series[LEVEL_CONTAINER].count;
	counts.retired[LEVEL_PROCESS] += publication->retired_processes.shown;
	return counts;
}

static size_t memory_needed(const struct publication *publication, const struct counts *counts)
{
	size_t line = counts->columns * sizeof(uint64_t);
	size_t size = sizeof(struct power_picture) +
		      publication->power.row_count * sizeof(struct power_row) +
		      counts->zones * sizeof(struct snapshot_zone) +
		      counts->accounts * sizeof(struct snapshot_account) +
		      counts->columns * sizeof(struct snapshot_column) +
		      counts->units * (sizeof(struct snapshot_unit) + line) +
		      health_size(publication->health, publication->health_count);

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

static void draw_row(const struct canvas *canvas, size_t row, const struct series *series,
		     const struct series_labels *labels, bool ended)
{
	canvas->rows[row] =
		(struct snapshot_row){ .labels = labels,
				       .created_ms = birth_of(canvas->at, series->age.born_ms),
				       .ended = ended };
}

static void draw_processes(struct publication *publication, const struct moment *at,
			   const struct canvas *canvas)
{
	struct series_table *table = &publication->series[LEVEL_PROCESS];
	uint32_t columns = publication->columns;

	if (table->count)
		memcpy(canvas->values, table->values.values,
		       (size_t)table->count * columns * sizeof(uint64_t));
	for (uint32_t i = 0; i < table->count; i++) {
		struct series *series = &table->series[i];

		draw_row(canvas, i, series, series->labels, series->ended);
		if (!series->age.settled &&
		    !series_age_settle(&series->age, &publication->options, at))
			hold_back(canvas, i, columns);
	}
}

/* Nothing lives in it, as far as is known: it may be only that all in it sleeps. */
static bool has_ended(const struct ledger *ledger, enum level level, uint32_t row)
{
	const struct ledger_container *container;

	if (level != LEVEL_CONTAINER)
		return ledger_group_at(ledger, level, row)->row.members == 0;
	container = ledger_container_at(ledger, row);
	return container->living == 0 && !container->is_there;
}

/* A level whose values are the ledger's. */
static void draw_level(struct publication *publication, enum level level, const struct moment *at,
		       const struct canvas *canvas)
{
	const struct ledger *ledger = publication->ledger;
	struct series_table *table = &publication->series[level];
	uint32_t columns = publication->columns;
	size_t line = columns * sizeof(uint64_t);

	for (uint32_t i = 0; i < table->count; i++) {
		struct series *series = &table->series[i];
		const uint64_t *deltas = ledger_deltas(ledger, level, series->row);

		draw_row(canvas, i, series, series->labels, has_ended(ledger, level, series->row));
		memcpy(canvas->values + (size_t)i * columns,
		       ledger_values(ledger, level, series->row), line);
		if (deltas)
			memcpy(canvas->deltas + (size_t)i * columns, deltas, line);
		if (!series->age.settled &&
		    !series_age_settle(&series->age, &publication->options, at))
			hold_back(canvas, i, columns);
	}
}

/*
 * After draw_level() of the containers: the "other" of each, what it used less what is in series or
 * retired. It settles with its container.
 */
static void draw_others(const struct publication *publication, const struct canvas *containers,
			const struct canvas *canvas)
{
	const struct series_table *table = &publication->series[LEVEL_CONTAINER];
	size_t other = publication->series[LEVEL_PROCESS].count;
	uint32_t columns = publication->columns;
	size_t line = columns * sizeof(uint64_t);

	for (uint32_t i = 0; i < table->count; i++, other++) {
		const struct series *series = &table->series[i];
		uint64_t *rest = canvas->values + other * columns;

		draw_row(canvas, other, series, publication->other_labels[series->row],
			 containers->rows[i].ended);
		memcpy(rest, ledger_values(publication->ledger, LEVEL_CONTAINER, series->row),
		       line);
		values_subtract(rest, value_table_row(&publication->elsewhere, series->row),
				columns);
		memcpy(canvas->deltas + other * columns, containers->deltas + (size_t)i * columns,
		       line);
		if (!series->age.settled)
			hold_back(canvas, other, columns);
	}
}

/* After draw_others(): own series take their part of the interval out of "other". */
static void draw_process_deltas(const struct publication *publication, const struct canvas *canvas)
{
	const struct ledger *ledger = publication->ledger;
	const struct series_table *table = &publication->series[LEVEL_PROCESS];
	const struct series_table *containers = &publication->series[LEVEL_CONTAINER];
	uint32_t columns = publication->columns;
	size_t count;
	const uint32_t *touched = ledger_touched(ledger, LEVEL_PROCESS, &count);

	for (size_t i = 0; i < count; i++) {
		uint32_t index = series_index(table, touched[i]);
		const uint64_t *deltas;
		size_t other;

		if (index == SERIES_NONE)
			continue;
		deltas = ledger_deltas(ledger, LEVEL_PROCESS, touched[i]);
		other = (size_t)table->count +
			series_index(containers, ledger_process_at(ledger, touched[i])->container);
		memcpy(canvas->deltas + (size_t)index * columns, deltas,
		       columns * sizeof(uint64_t));
		values_subtract(canvas->deltas + other * columns, deltas, columns);
	}
}

/* May a container that waits for its names come to have a row of @level? */
static bool may_belong(const struct ledger_container *row, enum level level)
{
	const struct level_info *info = &level_info[level];

	return level < LEVEL_GROUPS || (!(row->grouped & LEVEL_BIT(level)) &&
					(info->takes_all || row->names->text[info->id][0]));
}

/*
 * The use of owners without a name so far is pending at all levels that they may come to belong to.
 */
static void draw_waiting(const struct publication *publication, const struct canvas *canvas)
{
	uint32_t slots = ledger_slots(publication->ledger, LEVEL_CONTAINER);

	if (ledger_waiting(publication->ledger) == 0)
		return;
	for (uint32_t i = 0; i < slots; i++) {
		const struct ledger_container *row = ledger_container_at(publication->ledger, i);

		for (enum level level = 0; level < LEVEL_COUNT && row->row.used && row->waiting;
		     level++) {
			if (may_belong(row, level))
				values_add(canvas[level].pending,
					   ledger_values(publication->ledger, LEVEL_CONTAINER, i),
					   publication->columns);
		}
	}
}

/* Fills in retired rows from number @row on. Returns the number after the last one. */
static size_t draw_retired(const struct canvas *canvas, size_t row,
			   const struct retired_table *table)
{
	uint32_t columns = table->values.columns;

	for (uint32_t i = 0; i < table->count; i++) {
		if (!table->rows[i].is_shown)
			continue;
		canvas->retired[row] =
			(struct snapshot_row){ .labels = table->rows[i].labels,
					       .created_ms = birth_of(canvas->at,
								      table->rows[i].born_ms) };
		memcpy(canvas->retired_values + row * columns, value_table_row(&table->values, i),
		       columns * sizeof(uint64_t));
		row++;
	}
	return row;
}

static void draw_zones(const struct publication *publication, const struct moment *at,
		       const struct snapshot_zone *zones, struct snapshot_zone *out)
{
	const struct ledger *ledger = publication->ledger;
	uint32_t count = ledger_zones(ledger);

	for (uint32_t z = 0; z < count; z++) {
		out[z] = zones[z];
		out[z].created_ms = birth_of(at, zones[z].created_ms);
		for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
			out[z].node_uj[mode] = ledger_node_value(ledger, z, mode);
			for (enum unattributed_reason reason = 0;
			     reason < UNATTRIBUTED_REASON_COUNT; reason++)
				out[z].unattributed_uj[mode][reason] =
					ledger_unattributed_value(ledger, z, mode, reason);
		}
	}
}

static void draw_columns(const struct ledger *ledger, uint32_t columns, struct snapshot_column *out)
{
	for (uint32_t i = 0; i < columns; i++) {
		const struct ledger_sum *sum = ledger_sum(ledger, i);

		out[i] = (struct snapshot_column){ ledger_layout(ledger)->column[i], sum->node,
						   sum->unattributed };
	}
}

static void draw_units(const struct publication *publication, const struct moment *at,
		       uint64_t *values, struct snapshot_unit *out)
{
	const struct unit_accounts *units = publication->units;
	uint32_t columns = publication->columns;

	for (size_t i = 0; units && i < units->count; i++) {
		const struct unit_account *account = &units->accounts[i];
		uint32_t index = unit_series(publication, account);
		uint32_t known = account->columns < columns ? account->columns : columns;

		if (index == SERIES_NONE)
			continue;
		*out = (struct snapshot_unit){
			.labels = publication->series[LEVEL_POD].series[index].labels,
			.created_ms = birth_of(at, account->born_ms),
			.amount_micro = account->amount_micro,
			.values = values,
		};
		memcpy(out->name, units->names[account->unit], sizeof(out->name));
		memset(values, 0, columns * sizeof(*values));
		memcpy(values, account->values, known * sizeof(*values));
		values += columns;
		out++;
	}
}

static void count_merged(const struct publication *publication, struct snapshot_table *level)
{
	for (enum level i = 0; i < LEVEL_COUNT; i++)
		level[i].merged = publication->series[i].merged;
}

static void draw(struct publication *publication, const struct moment *at,
		 const struct canvas canvas[LEVEL_COUNT])
{
	size_t retired;

	draw_processes(publication, at, &canvas[LEVEL_PROCESS]);
	for (enum level level = LEVEL_CONTAINER; level < LEVEL_COUNT; level++)
		draw_level(publication, level, at, &canvas[level]);
	draw_others(publication, &canvas[LEVEL_CONTAINER], &canvas[LEVEL_PROCESS]);
	draw_process_deltas(publication, &canvas[LEVEL_PROCESS]);
	draw_waiting(publication, canvas);
	retired = draw_retired(&canvas[LEVEL_PROCESS], 0, &publication->retired_processes);
	for (enum level level = 0; level < LEVEL_COUNT; level++, retired = 0)
		(void)draw_retired(&canvas[level], retired, &publication->retired[level]);
}

int snapshot_build(struct publication *publication, const struct moment *at,
		   const struct snapshot_zone *zones, const struct snapshot_node *node)
{
	const struct counts counts = count_rows(publication);
	struct snapshot_buffer *buffer =
		snapshot_holder_take(publication->holder, memory_needed(publication, &counts));
	struct canvas canvas[LEVEL_COUNT];
	const struct layout *layout = ledger_layout(publication->ledger);
	struct snapshot_account *accounts;
	struct snapshot_column *columns;
	struct snapshot_zone *zones_out;
	struct power_picture *power;
	struct snapshot_unit *units;
	uint64_t *unit_values;
	char *free_memory;

	if (!buffer)
		return -ENOMEM;
	free_memory = buffer->memory;
	power = carve(&free_memory, sizeof(*power));
	power_picture_copy(
		power, &publication->power,
		carve(&free_memory, publication->power.row_count * sizeof(*power->rows)));
	zones_out = carve(&free_memory, counts.zones * sizeof(*zones_out));
	accounts = carve(&free_memory, counts.accounts * sizeof(*accounts));
	columns = carve(&free_memory, counts.columns * sizeof(*columns));
	units = carve(&free_memory, counts.units * sizeof(*units));
	unit_values = carve(&free_memory, counts.units * counts.columns * sizeof(*unit_values));
	for (enum level level = 0; level < LEVEL_COUNT; level++) {
		carve_table(&free_memory, &counts, level, &canvas[level]);
		canvas[level].at = at;
	}
	draw_zones(publication, at, zones, zones_out);
	account_pictures(layout, zones_out, accounts);
	draw_columns(publication->ledger, publication->columns, columns);
	draw(publication, at, canvas);
	draw_units(publication, at, unit_values, units);
	buffer->snapshot = (struct snapshot){
		.monotonic_ns = at->now_ns,
		.realtime_ms = at->realtime_ms,
		.columns = publication->columns,
		.column = columns,
		.zone_count = (uint32_t)counts.zones,
		.zones = zones_out,
		.by_zone = layout->by_zone,
		.account_count = (uint32_t)counts.accounts,
		.accounts = accounts,
		.power = power,
		.settle_s = (double)publication->options.settle_ns / 1e9,
		.node = *node,
		.unit_count = (uint32_t)counts.units,
		.units = units,
		.health_count = (uint32_t)publication->health_count,
		.health = health_fill(publication->health, publication->health_count, free_memory),
	};
	buffer->snapshot.node.start_time_s =
		(double)birth_of(at, (int64_t)(node->start_time_s * 1e3)) / 1e3;
	for (enum level level = 0; level < LEVEL_COUNT; level++)
		buffer->snapshot.level[level] = table_of(&canvas[level], &counts, level);
	count_merged(publication, buffer->snapshot.level);
	snapshot_holder_publish(publication->holder, buffer);
	return 0;
}
