// SPDX-License-Identifier: Apache-2.0
#include "snapshot/publication.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/macro.h"

/* The newest snapshot is the last that can name them: the one in the making will not. */
static void drop_labels(struct publication *publication, struct series_labels *labels)
{
	label_pool_drop(publication->labels, labels, snapshot_holder_newest(publication->holder));
}

static int add_namespace(struct publication *publication, const char *name, uint16_t *ret)
{
	const struct owner_names text = { .text = { [LABEL_NAMESPACE] = name } };
	const struct owner_names *names =
		owner_names_intern(ledger_names(publication->ledger), &text);
	struct series_labels *labels[LEVEL_COUNT] = { 0 };
	uint32_t number = publication->namespaces;
	int r = names ? 0 : -ENOMEM;

	for (enum level level = 0; r == 0 && level < LEVEL_COUNT; level++) {
		labels[level] = label_pool_take(publication->labels, names, NULL);
		r = labels[level] ? retired_table_reserve(&publication->retired[level], number + 1)
				  : -ENOMEM;
	}
	for (enum level level = 0; level < LEVEL_COUNT; level++) {
		if (r == 0)
			publication->retired[level].rows[number].labels = labels[level];
		else
			drop_labels(publication, labels[level]);
	}
	owner_names_unref(names);
	if (r == 0)
		*ret = (uint16_t)publication->namespaces++;
	return r;
}

/* The namespace of this name, made when new; 0 beyond NAMESPACES_MAX. 0 or -ENOMEM. */
static int find_namespace(struct publication *publication, const char *name, uint16_t *ret)
{
	const struct retired_row *rows = publication->retired[LEVEL_CONTAINER].rows;

	for (uint32_t i = 0; i < publication->namespaces; i++) {
		if (strcmp(rows[i].labels->names->text[LABEL_NAMESPACE], name) == 0) {
			*ret = (uint16_t)i;
			return 0;
		}
	}
	if (publication->namespaces < NAMESPACES_MAX)
		return add_namespace(publication, name, ret);
	*ret = 0;
	return 0;
}

int publication_init(struct publication *publication, const struct publisher_options *options,
		     struct ledger *ledger, struct snapshot_holder *holder)
{
	uint32_t columns = ledger_columns(ledger);
	uint16_t unnamed;

	*publication = (struct publication){ .options = *options,
					     .ledger = ledger,
					     .holder = holder,
					     .labels = snapshot_holder_labels(holder),
					     .columns = columns };
	value_table_init(&publication->elsewhere, columns);
	retired_table_init(&publication->retired_processes, columns);
	for (enum level level = 0; level < LEVEL_COUNT; level++) {
		series_table_init(&publication->series[level],
				  level == LEVEL_PROCESS ? columns : 0);
		retired_table_init(&publication->retired[level], columns);
	}
	return find_namespace(publication, "", &unnamed);
}

void publication_release(struct publication *publication)
{
	for (size_t level = 0; level < LEVEL_COUNT; level++) {
		series_table_release(&publication->series[level]);
		retired_table_release(&publication->retired[level]);
	}
	value_table_release(&publication->elsewhere);
	free(publication->other_labels);
	retired_table_release(&publication->retired_processes);
	power_scratch_release(&publication->power_scratch);
}

static int follow_columns(struct publication *publication)
{
	struct series_table *processes = &publication->series[LEVEL_PROCESS];
	struct retired_table *retired = publication->retired;
	uint32_t columns = ledger_columns(publication->ledger);
	struct value_table_use uses[3 + LEVEL_COUNT] = {
		{ &processes->values, processes->count },
		{ &publication->elsewhere, publication->container_slots },
		{ &publication->retired_processes.values, publication->retired_processes.count },
	};
	int r;

	if (columns == publication->columns)
		return 0;
	for (size_t level = 0; level < LEVEL_COUNT; level++)
		uses[3 + level] =
			(struct value_table_use){ &retired[level].values, retired[level].count };
	r = value_tables_widen(uses, ARRAY_SIZE(uses), columns);
	if (r == 0)
		publication->columns = columns;
	return r;
}

static int reserve_containers(struct publication *publication)
{
	uint32_t slots = ledger_slots(publication->ledger, LEVEL_CONTAINER);

	if (slots <= publication->container_slots)
		return 0;
	slots += slots / 2;
	if (value_table_reserve(&publication->elsewhere, slots) < 0 ||
	    retired_table_reserve(&publication->retired_processes, slots) < 0 ||
	    ARRAY_RESIZE(publication->other_labels, slots) < 0)
		return -ENOMEM;
	for (; publication->container_slots < slots; publication->container_slots++) {
		value_table_clear(&publication->elsewhere, publication->container_slots);
		publication->other_labels[publication->container_slots] = NULL;
	}
	return 0;
}

int publication_reserve(struct publication *publication)
{
	int r = follow_columns(publication);

	if (r == 0)
		r = reserve_containers(publication);
	for (enum level level = 0; r == 0 && level < LEVEL_COUNT; level++)
		r = series_table_reserve(&publication->series[level],
					 ledger_slots(publication->ledger, level));
	return r;
}

static struct series *open_process(struct publication *publication, uint32_t process,
				   const struct moment *at)
{
	const struct ledger_process *row = ledger_process_at(publication->ledger, process);
	const struct series *container =
		series_find(&publication->series[LEVEL_CONTAINER], row->container);
	struct series_labels *labels =
		label_pool_take(publication->labels, container->labels->names, NULL);
	struct series *opened = NULL;

	if (labels)
		opened = series_open(&publication->series[LEVEL_PROCESS], process, labels, at);
	if (!opened) {
		drop_labels(publication, labels);
		return NULL;
	}
	labels->pid = row->pid;
	memcpy(labels->command, row->comm, sizeof(labels->command));
	return opened;
}

static struct series *open_container(struct publication *publication, uint32_t container,
				     const struct moment *at)
{
	const struct ledger_container *row = ledger_container_at(publication->ledger, container);
	struct label_pool *pool = publication->labels;
	struct series_labels *labels = label_pool_take(pool, row->names, NULL);
	struct series_labels *other = label_pool_take(pool, row->names, NULL);
	struct series_labels *retired = label_pool_take(pool, row->names, NULL);
	struct series *opened = NULL;
	uint16_t retires_to;

	if (labels && other && retired &&
	    find_namespace(publication, row->names->text[LABEL_NAMESPACE], &retires_to) == 0)
		opened = series_open(&publication->series[LEVEL_CONTAINER], container, labels, at);
	if (!opened) {
		drop_labels(publication, labels);
		drop_labels(publication, other);
		drop_labels(publication, retired);
		return NULL;
	}
	(void)snprintf(other->command, sizeof(other->command), "other");
	opened->retires_to = retires_to;
	publication->other_labels[container] = other;
	publication->retired_processes.rows[container].labels = retired;
	return opened;
}

static struct series *open_group(struct publication *publication, enum level level, uint32_t group,
				 const struct moment *at)
{
	const struct ledger_group *row = ledger_group_at(publication->ledger, level, group);
	struct series_labels *labels = label_pool_take(publication->labels, row->names, row->facts);
	const char *namespace = level == LEVEL_NAMESPACE ? "" : row->names->text[LABEL_NAMESPACE];
	struct series *opened = NULL;
	uint16_t retires_to;

	if (labels && find_namespace(publication, namespace, &retires_to) == 0)
		opened = series_open(&publication->series[level], group, labels, at);
	if (!opened) {
		drop_labels(publication, labels);
		return NULL;
	}
	opened->retires_to = retires_to;
	return opened;
}

struct series *publication_open(struct publication *publication, enum level level, uint32_t row,
				const struct moment *at)
{
	if (level == LEVEL_PROCESS)
		return open_process(publication, row, at);
	if (level == LEVEL_CONTAINER)
		return open_container(publication, row, at);
	return open_group(publication, level, row, at);
}

/* Without memory the old ones stay until the next interval. */
void publication_follow_facts(struct publication *publication, struct series *series,
			      const struct ledger_group *row)
{
	struct series_labels *labels;

	if (series->labels->facts == row->facts)
		return;
	labels = label_pool_take(publication->labels, row->names, row->facts);
	if (!labels)
		return;
	drop_labels(publication, series->labels);
	series->labels = labels;
}

/*
 * Retires a process. The processes of a namespace's owner "other" retire to the namespace at once,
 * because a retired row of that owner would have the labels of the namespace's.
 */
static void retire_process(struct publication *publication, uint32_t index, const struct moment *at)
{
	const struct series_table *processes = &publication->series[LEVEL_PROCESS];
	const uint64_t *values = value_table_row(&processes->values, index);
	uint32_t container =
		ledger_process_at(publication->ledger, processes->series[index].row)->container;

	if (ledger_container_at(publication->ledger, container)->is_other)
		retired_add(
			&publication->retired[LEVEL_PROCESS],
			series_find(&publication->series[LEVEL_CONTAINER], container)->retires_to,
			values, at->boottime_ms);
	else
		retired_add(&publication->retired_processes, container, values, at->boottime_ms);
}

/* "Other" and the retired row of its processes, which are the whole container by now. */
static void retire_rest(struct publication *publication, const struct series *series,
			const struct moment *at)
{
	uint32_t container = series->row;
	uint64_t *rest = value_table_row(&publication->elsewhere, container);
	const uint64_t *total = ledger_values(publication->ledger, LEVEL_CONTAINER, container);

	if (!ledger_container_at(publication->ledger, container)->is_other)
		value_table_clear(&publication->elsewhere, container);
	values_subtract_from(rest, total, publication->columns);
	retired_add(&publication->retired[LEVEL_PROCESS], series->retires_to, rest,
		    at->boottime_ms);
	drop_labels(publication, publication->other_labels[container]);
	drop_labels(publication, publication->retired_processes.rows[container].labels);
	publication->other_labels[container] = NULL;
	retired_clear(&publication->retired_processes, container);
	value_table_clear(&publication->elsewhere, container);
}

void publication_close(struct publication *publication, enum level level, uint32_t index,
		       const struct moment *at)
{
	const struct series *series = &publication->series[level].series[index];

	if (level == LEVEL_PROCESS)
		retire_process(publication, index, at);
	else
		retired_add(&publication->retired[level], series->retires_to,
			    ledger_values(publication->ledger, level, series->row),
			    at->boottime_ms);
	if (level == LEVEL_CONTAINER)
		retire_rest(publication, series, at);
	drop_labels(publication, series->labels);
	series_close(&publication->series[level], index);
}

void publication_book(struct publication *publication, uint32_t process)
{
	struct series_table *processes = &publication->series[LEVEL_PROCESS];
	const uint64_t *deltas = ledger_deltas(publication->ledger, LEVEL_PROCESS, process);
	uint32_t container = ledger_process_at(publication->ledger, process)->container;

	if (!deltas)
		return;
	values_add(value_table_row(&processes->values, series_index(processes, process)), deltas,
		   publication->columns);
	values_add(value_table_row(&publication->elsewhere, container), deltas,
		   publication->columns);
}

bool publication_has_run(const struct publication *publication, enum level level, uint32_t row)
{
	const uint64_t *deltas = ledger_deltas(publication->ledger, level, row);

	return deltas && deltas[COLUMN_CPU] > 0;
}

uint32_t publication_owner_rows(const struct publication *publication)
{
	const struct ledger *ledger = publication->ledger;
	uint32_t rows = ROWS_OF_CONTAINER * ledger_level(ledger, LEVEL_CONTAINER)->used +
			ROWS_OF_NAMESPACE * publication->namespaces + ROWS_OF_ALL;

	for (enum level level = LEVEL_GROUPS; level < LEVEL_COUNT; level++)
		rows += ledger_level(ledger, level)->used;
	return rows;
}

bool publication_is_crowded(const struct publication *publication, enum level level)
{
	uint32_t limit = publication->options.max_rows;

	return ledger_is_crowded(publication->ledger, level) ||
	       (level != LEVEL_PROCESS && publication_owner_rows(publication) >= limit - limit / 8);
}

uint64_t publication_usage_uj(const struct publication *publication, const uint64_t *values)
{
	const struct layout *layout = ledger_layout(publication->ledger);
	uint64_t most = 0;

	for (uint32_t i = 0; i < layout->account_count; i++) {
		const struct account *account = &layout->accounts[i];
		uint64_t used = account_sum(account, values);

		if (!account_has_ended(account) && used > most)
			most = used;
	}
	return most;
}
