// SPDX-License-Identifier: Apache-2.0
#include "snapshot/process_series.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

#define FORGOTTEN_MAX 1024U /* processes in one interval; what finds no row then asks again */

void process_series_init(struct process_series *processes, struct publication *publication)
{
	*processes = (struct process_series){ .publication = publication };
	row_index_init(&processes->by_pid, UINT32_MAX);
}

void process_series_release(struct process_series *processes)
{
	free(processes->baseline_uj);
	row_index_release(&processes->by_pid);
	ranking_release(&processes->contenders);
	ranking_release(&processes->smallest);
}

int process_series_reserve(struct process_series *processes)
{
	uint32_t size = processes->slots;
	int r = ARRAY_RESERVE(processes->baseline_uj, size,
			      ledger_slots(processes->publication->ledger, LEVEL_PROCESS));

	while (processes->slots < size)
		processes->baseline_uj[processes->slots++] = 0;
	return r;
}

void process_series_start_over(struct process_series *processes)
{
	if (processes->slots)
		memset(processes->baseline_uj, 0,
		       processes->slots * sizeof(*processes->baseline_uj));
}

static struct series_table *table_of(const struct process_series *processes)
{
	return &processes->publication->series[LEVEL_PROCESS];
}

static const struct ledger_process *row_of(const struct process_series *processes, uint32_t process)
{
	return ledger_process_at(processes->publication->ledger, process);
}

static uint64_t total_uj(const struct process_series *processes, uint32_t process)
{
	const struct publication *publication = processes->publication;

	return publication_usage_uj(publication,
				    ledger_values(publication->ledger, LEVEL_PROCESS, process));
}

uint64_t process_series_earned_uj(const struct process_series *processes, uint32_t process)
{
	return total_uj(processes, process) -
	       (process < processes->slots ? processes->baseline_uj[process] : 0);
}

static struct map_key pid_key(uint32_t pid)
{
	return (struct map_key){ .lo = pid };
}

/* Takes the ledger's row of an ended process away, and what was noted of it. */
static void forget_row(struct process_series *processes, uint32_t process)
{
	processes->baseline_uj[process] = 0;
	ledger_release(processes->publication->ledger, LEVEL_PROCESS, process);
}

/* The ledger row of an ended process goes with its series. */
static void close_series(struct process_series *processes, uint32_t process,
			 const struct moment *at)
{
	const struct ledger_process *row = row_of(processes, process);

	row_index_remove(&processes->by_pid, pid_key(row->pid), process);
	publication_close(processes->publication, LEVEL_PROCESS,
			  series_index(table_of(processes), process), at);
	if (row->row.ended)
		forget_row(processes, process);
	else
		processes->baseline_uj[process] = total_uj(processes, process);
}

/* Ends a process, closes the series that it may have, and lets its row of the ledger go. */
static void release_row(struct process_series *processes, uint32_t process, const struct moment *at)
{
	ledger_end_process(processes->publication->ledger, process);
	if (series_find(table_of(processes), process))
		close_series(processes, process, at);
	else
		forget_row(processes, process);
}

/* The retention of an ended series; a living one is shown. */
static enum retention retention_of_process(const struct process_series *processes,
					   const struct series *series, const struct moment *at)
{
	if (!series->ended || row_of(processes, series->row)->row.touched)
		return RETENTION_SHOWN;
	return retention_of(&series->age, series->ended_ns, &processes->publication->options, at);
}

/* Nothing of its container lives any more, and the container's row is wanted. */
static bool holds_container(const struct process_series *processes, const struct series *series)
{
	const struct ledger_container *container = ledger_container_at(
		processes->publication->ledger, row_of(processes, series->row)->container);

	return container->living == 0 && !container->is_other && !container->replaced;
}

void process_series_expire(struct process_series *processes, const struct moment *at)
{
	const struct publication *publication = processes->publication;
	struct series_table *table = table_of(processes);
	bool crowded = publication_is_crowded(publication, LEVEL_PROCESS);
	bool containers_crowded = publication_is_crowded(publication, LEVEL_CONTAINER);

	/* Closing moves the last one, which was looked at already. */
	for (uint32_t i = table->count; i-- > 0;) {
		const struct series *series = &table->series[i];
		enum retention retention;
		bool early;

		if (!series->ended)
			continue;
		retention = retention_of_process(processes, series, at);
		early = retention == RETENTION_EARLY &&
			(crowded || (containers_crowded && holds_container(processes, series)));
		table->merged += early;
		if (early || retention == RETENTION_OVER)
			close_series(processes, series->row, at);
	}
}

/* Merges a series because its row is needed. If the process lives on, it starts over. */
static void merge(struct process_series *processes, uint32_t process, const struct moment *at)
{
	close_series(processes, process, at);
	table_of(processes)->merged++;
}

/* The @wanted smallest series, in order, in processes->smallest; none without memory. */
static void find_smallest(struct process_series *processes, uint32_t wanted, bool settled_only)
{
	const struct series_table *table = table_of(processes);

	wanted = wanted < table->count ? wanted : table->count;
	if (ranking_begin(&processes->smallest, wanted) < 0 || wanted == 0)
		return;
	for (uint32_t i = 0; i < table->count; i++) {
		if (table->series[i].age.settled || !settled_only)
			ranking_offer(&processes->smallest,
				      publication_usage_uj(processes->publication,
							   value_table_row(&table->values, i)),
				      table->series[i].row);
	}
	ranking_sort_smallest_first(&processes->smallest);
}

/* How many may be open: what the rows of their owners leave of max_rows. */
static uint32_t limit_of(const struct process_series *processes)
{
	uint32_t max_rows = processes->publication->options.max_rows;
	uint32_t taken = publication_owner_rows(processes->publication);

	return max_rows > taken ? max_rows - taken : 0;
}

/* Merges series until at most @limit are open: settled ones first, the smallest first. */
static void merge_excess(struct process_series *processes, uint32_t limit, const struct moment *at)
{
	const struct series_table *table = table_of(processes);

	for (int settled_only = 1; settled_only >= 0 && table->count > limit; settled_only--) {
		find_smallest(processes, table->count - limit, settled_only);
		for (uint32_t i = 0; i < processes->smallest.count; i++)
			merge(processes, processes->smallest.ranked[i].row, at);
	}
	while (table->count > limit) /* without memory to choose: the newest rows */
		merge(processes, table->series[table->count - 1].row, at);
}

/*
 * A process may have the pid, command and container of another one that has a series still: its pid
 * was used again. One response must not have one series twice, so the old one goes first, but not
 * before its last value could be scraped; until then the new one is in "other". True when the way
 * is free.
 */
static bool clear_namesake(struct process_series *processes, uint32_t process,
			   const struct moment *at)
{
	const struct ledger_process *row = row_of(processes, process);
	uint32_t other = row_index_first(&processes->by_pid, pid_key(row->pid));
	enum retention retention;

	for (; other != INDEX_NONE; other = row_index_next(&processes->by_pid, other)) {
		const struct ledger_process *old = row_of(processes, other);

		if (old->container == row->container && strcmp(old->comm, row->comm) == 0)
			break;
	}
	if (other == INDEX_NONE)
		return true;
	if (row_of(processes, other)->start_ns < row->start_ns) /* even if its end was not seen */
		ledger_end_process(processes->publication->ledger, other);
	retention = retention_of_process(processes, series_find(table_of(processes), other), at);
	if (retention != RETENTION_EARLY && retention != RETENTION_OVER)
		return false;
	close_series(processes, other, at);
	return true;
}

/* Without memory the process stays in "other" and asks again when it runs again. */
static void open_series(struct process_series *processes, uint32_t process, const struct moment *at)
{
	struct map_key key = pid_key(row_of(processes, process)->pid);

	if (row_index_add(&processes->by_pid, key, process) < 0)
		return;
	if (!publication_open(processes->publication, LEVEL_PROCESS, process, at))
		row_index_remove(&processes->by_pid, key, process);
}

/* Those that ran in this interval, have no series and have used enough for one. */
static void find_contenders(struct process_series *processes)
{
	const struct publication *publication = processes->publication;
	size_t count;
	const uint32_t *touched = ledger_touched(publication->ledger, LEVEL_PROCESS, &count);

	if (ranking_begin(&processes->contenders, (uint32_t)count) < 0)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct ledger_process *row = row_of(processes, touched[i]);
		uint64_t earned_uj;

		if (!row->row.used || series_find(table_of(processes), touched[i]) ||
		    !series_find(&publication->series[LEVEL_CONTAINER], row->container))
			continue;
		earned_uj = process_series_earned_uj(processes, touched[i]);
		if (earned_uj >= publication->options.min_uj)
			ranking_offer(&processes->contenders, earned_uj, touched[i]);
	}
}

/* Makes room for a contender at the limit: merges the next smallest series if that is smaller. */
static bool find_room(struct process_series *processes, uint32_t limit,
		      const struct ranked *contender, uint32_t *next_smallest,
		      const struct moment *at)
{
	const struct series_table *table = table_of(processes);

	while (table->count >= limit) {
		const struct ranked *smallest = &processes->smallest.ranked[*next_smallest];

		if (*next_smallest >= processes->smallest.count ||
		    smallest->used_uj >= contender->used_uj)
			return false;
		++*next_smallest;
		if (series_find(table, smallest->row))
			merge(processes, smallest->row, at);
	}
	return true;
}

void process_series_admit(struct process_series *processes, const struct moment *at)
{
	const struct ranking *contenders = &processes->contenders;
	uint32_t limit = limit_of(processes), room, next_smallest = 0;

	merge_excess(processes, limit, at);
	find_contenders(processes);
	room = limit - table_of(processes)->count;
	if (contenders->count > room) {
		ranking_sort_largest_first(&processes->contenders);
		find_smallest(processes, contenders->count - room, true);
	}
	for (uint32_t i = 0; i < contenders->count; i++) {
		const struct ranked *contender = &contenders->ranked[i];

		if (clear_namesake(processes, contender->row, at) &&
		    find_room(processes, limit, contender, &next_smallest, at))
			open_series(processes, contender->row, at);
	}
}

static void apply_row(struct process_series *processes, uint32_t process, const struct moment *at)
{
	const struct ledger_process *row = row_of(processes, process);
	struct series *series = series_find(table_of(processes), process);

	if (!row->row.used)
		return;
	if (series) {
		publication_book(processes->publication, process);
		series->ended = row->row.ended;
		series->ended_ns = at->now_ns;
	} else if (row->row.ended) {
		forget_row(processes, process);
	}
}

void process_series_apply(struct process_series *processes, bool missed, const struct moment *at)
{
	const struct ledger *ledger = processes->publication->ledger;
	size_t count;
	const uint32_t *touched = ledger_touched(ledger, LEVEL_PROCESS, &count);

	if (missed) {
		uint32_t slots = ledger_slots(ledger, LEVEL_PROCESS);

		for (uint32_t process = 0; process < slots; process++)
			apply_row(processes, process, at);
		return;
	}
	for (size_t i = 0; i < count; i++)
		apply_row(processes, touched[i], at);
}

/* Sleeps, has no series, and is not all by which its container is known to live. */
static bool may_be_forgotten(const struct process_series *processes, uint32_t process)
{
	const struct ledger *ledger = processes->publication->ledger;
	const struct ledger_process *row = row_of(processes, process);
	const uint64_t *deltas = ledger_deltas(ledger, LEVEL_PROCESS, process);

	return row->row.used &&
	       (!deltas || (!row->row.ended && !publication_has_run(processes->publication,
								    LEVEL_PROCESS, process))) &&
	       !series_find(table_of(processes), process) &&
	       ledger_container_at(ledger, row->container)->living > 1;
}

void process_series_forget(struct process_series *processes, const struct moment *at)
{
	const struct ledger *ledger = processes->publication->ledger;
	uint32_t slots = ledger_slots(ledger, LEVEL_PROCESS);
	uint32_t wanted = ledger_refused(ledger, LEVEL_PROCESS);

	wanted = wanted < FORGOTTEN_MAX ? wanted : FORGOTTEN_MAX;
	if (ranking_begin(&processes->smallest, wanted) < 0 || wanted == 0)
		return;
	for (uint32_t i = 0; i < slots; i++) {
		if (may_be_forgotten(processes, i))
			ranking_offer(&processes->smallest, total_uj(processes, i), i);
	}
	for (uint32_t i = 0; i < processes->smallest.count; i++) {
		uint32_t process = processes->smallest.ranked[i].row;

		if (may_be_forgotten(processes, process))
			release_row(processes, process, at);
	}
}

void process_series_release_merging(struct process_series *processes, const struct moment *at)
{
	const struct publication *publication = processes->publication;
	uint32_t slots = ledger_slots(publication->ledger, LEVEL_PROCESS);

	for (uint32_t i = 0; i < slots; i++) {
		const struct ledger_process *row = row_of(processes, i);
		const struct series *container =
			series_find(&publication->series[LEVEL_CONTAINER], row->container);

		if (row->row.used && container && container->merging)
			release_row(processes, i, at);
	}
}
