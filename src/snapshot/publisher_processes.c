// SPDX-License-Identifier: Apache-2.0
/*
 * Own series of processes: which gets one, what it shows, when it goes.
 *
 * Time is looked at only where it can matter: rows that were touched in this interval, and open
 * series. The thousands of rows that exist, idle and without a series, are never visited.
 */
#include <errno.h>

#include "base/array.h"
#include "base/macro.h"
#include "snapshot/publisher_parts.h"

void processes_release(struct process_view *view)
{
	free(view->series);
	value_table_release(&view->values);
	free(view->series_of);
	free(view->baseline_uj);
	row_index_release(&view->by_pid);
	free(view->contenders);
	free(view->smallest);
}

static int reserve_slots(struct process_view *view, uint32_t slots)
{
	uint32_t size = view->slots + view->slots / 2;

	if (slots <= view->slots)
		return 0;
	size = size < slots ? slots : size;
	if (ARRAY_RESIZE(view->series_of, size) < 0 || ARRAY_RESIZE(view->baseline_uj, size) < 0)
		return -ENOMEM;
	for (; view->slots < size; view->slots++) {
		view->series_of[view->slots] = NO_SERIES;
		view->baseline_uj[view->slots] = 0;
	}
	return 0;
}

int processes_reserve(struct publisher *publisher)
{
	return reserve_slots(&publisher->processes, ledger_slots(publisher->ledger, LEVEL_PROCESS));
}

static struct map_key pid_key(uint32_t pid)
{
	return (struct map_key){ .lo = pid };
}

/* Takes the ledger's row of an ended process away, and what the publisher noted of it. */
static void forget_row(struct publisher *publisher, uint32_t process)
{
	publisher->processes.baseline_uj[process] = 0;
	ledger_release(publisher->ledger, LEVEL_PROCESS, process);
}

void process_release(struct publisher *publisher, uint32_t process, const struct moment *at)
{
	uint32_t series = publisher->processes.series_of[process];

	ledger_end_process(publisher->ledger, process);
	if (series == NO_SERIES)
		forget_row(publisher, process);
	else
		process_close(publisher, series, at);
}

void process_close(struct publisher *publisher, uint32_t series, const struct moment *at)
{
	struct process_view *view = &publisher->processes;
	struct process_series *closing = &view->series[series];
	uint32_t process = closing->process, last = view->count - 1;
	const struct ledger_process *row = ledger_process_at(publisher->ledger, process);

	container_retire_process(publisher, row->container, value_table_row(&view->values, series),
				 at);
	drop_labels(publisher, closing->labels);
	row_index_remove(&view->by_pid, pid_key(row->pid), process);
	view->series_of[process] = NO_SERIES;
	if (series != last) {
		*closing = view->series[last];
		memcpy(value_table_row(&view->values, series), value_table_row(&view->values, last),
		       publisher->columns * sizeof(uint64_t));
		view->series_of[closing->process] = series;
	}
	view->count = last;
	if (row->row.ended)
		forget_row(publisher, process);
	else
		view->baseline_uj[process] = usage_uj(
			publisher, ledger_values(publisher->ledger, LEVEL_PROCESS, process));
}

void processes_start_over(struct publisher *publisher)
{
	struct process_view *view = &publisher->processes;

	if (view->slots)
		memset(view->baseline_uj, 0, view->slots * sizeof(*view->baseline_uj));
}

/*
 * True when the value of an ended series has been seen for long enough (was_kept()): it is not
 * missed any more.
 */
static bool was_seen(const struct publisher *publisher, const struct process_series *series,
		     const struct moment *at, bool crowded, uint64_t *early)
{
	return series->ended &&
	       !ledger_process_at(publisher->ledger, series->process)->row.touched &&
	       was_kept(publisher, series->ended_ns, &series->age, at, crowded, early);
}

/* Nothing of its container lives any more, and the container's row is wanted. */
static bool holds_container(const struct publisher *publisher, const struct process_series *series)
{
	uint32_t index = ledger_process_at(publisher->ledger, series->process)->container;
	const struct ledger_container *container = ledger_container_at(publisher->ledger, index);

	return container->living == 0 && !container->is_other && !container->replaced;
}

void processes_expire(struct publisher *publisher, const struct moment *at)
{
	struct process_view *view = &publisher->processes;
	bool crowded = ledger_is_crowded(publisher->ledger, LEVEL_PROCESS);
	bool containers_crowded = ledger_is_crowded(publisher->ledger, LEVEL_CONTAINER);

	for (uint32_t i = view->count;
	     i-- > 0;) { /* closing moves the last one, already seen, here */
		const struct process_series *series = &view->series[i];
		bool wanted;

		if (!series->ended)
			continue;
		wanted = crowded || (containers_crowded && holds_container(publisher, series));
		if (was_seen(publisher, series, at, wanted, &view->folded))
			process_close(publisher, i, at);
	}
}

/*
 * A process may have the pid, command and container of another one that has a series still: its pid
 * was used again. One response must not have one series twice, so the old one goes first, but not
 * before its last value could be scraped; until then the new one is in "other". True when the way
 * is free.
 */
static bool clear_namesake(struct publisher *publisher, uint32_t process, const struct moment *at)
{
	struct process_view *view = &publisher->processes;
	const struct ledger_process *row = ledger_process_at(publisher->ledger, process);
	uint32_t other = row_index_first(&view->by_pid, pid_key(row->pid));
	uint64_t replaced = 0; /* no limit's doing: not counted */

	for (; other != INDEX_NONE; other = row_index_next(&view->by_pid, other)) {
		const struct ledger_process *old = ledger_process_at(publisher->ledger, other);

		if (old->container == row->container && strcmp(old->comm, row->comm) == 0)
			break;
	}
	if (other == INDEX_NONE)
		return true;
	if (ledger_process_at(publisher->ledger, other)->start_ns < row->start_ns)
		ledger_end_process(publisher->ledger, other); /* even if its end was not seen */
	if (!was_seen(publisher, &view->series[view->series_of[other]], at, true, &replaced))
		return false;
	process_close(publisher, view->series_of[other], at);
	return true;
}

static int reserve_series(struct publisher *publisher)
{
	struct process_view *view = &publisher->processes;
	int r = value_table_reserve(&view->values, view->count + 1);

	return r < 0 ? r : ARRAY_RESERVE(view->series, view->capacity, view->count + 1U);
}

/* Without memory the process stays in "other" and asks again when it runs again. */
static void open_series(struct publisher *publisher, uint32_t process, const struct moment *at)
{
	struct process_view *view = &publisher->processes;
	const struct ledger_process *row = ledger_process_at(publisher->ledger, process);
	const struct series_labels *container = publisher->containers.series[row->container].labels;
	struct series_labels *labels;

	if (reserve_series(publisher) < 0)
		return;
	labels = label_pool_take(publisher->labels, container->names, NULL);
	if (!labels)
		return;
	if (row_index_add(&view->by_pid, pid_key(row->pid), process) < 0) {
		drop_labels(publisher, labels);
		return;
	}
	labels->pid = row->pid;
	memcpy(labels->command, row->comm, sizeof(labels->command));
	view->series[view->count] = (struct process_series){ .labels = labels,
							     .age = age_of_birth(at),
							     .process = process };
	value_table_clear(&view->values, view->count); /* the interval is booked by apply */
	view->series_of[process] = view->count++;
}

static int by_most_used(const void *a, const void *b)
{
	const struct contender *x = a, *y = b;

	if (x->used_uj != y->used_uj)
		return x->used_uj < y->used_uj ? 1 : -1;
	return (x->process > y->process) - (x->process < y->process);
}

/* Those that ran in this interval, have no series and have used enough for one. */
static uint32_t find_contenders(struct publisher *publisher)
{
	struct process_view *view = &publisher->processes;
	uint32_t found = 0;
	size_t count;
	const uint32_t *touched = ledger_touched(publisher->ledger, LEVEL_PROCESS, &count);

	if (ARRAY_RESERVE(view->contenders, view->contender_size, count) < 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		const struct ledger_process *row = ledger_process_at(publisher->ledger, touched[i]);
		uint64_t used_uj;

		if (!row->row.used || view->series_of[touched[i]] != NO_SERIES ||
		    !publisher->containers.series[row->container].published)
			continue;
		used_uj = usage_uj(publisher,
				   ledger_values(publisher->ledger, LEVEL_PROCESS, touched[i])) -
			  view->baseline_uj[touched[i]];
		if (used_uj >= publisher->options.min_uj)
			view->contenders[found++] = (struct contender){ used_uj, touched[i] };
	}
	return found;
}

/* Makes room for a contender at the limit: folds the next smallest series if that is smaller. */
static bool find_room(struct publisher *publisher, const struct contender *contender,
		      uint32_t *next_smallest, uint32_t smallest_count, const struct moment *at)
{
	struct process_view *view = &publisher->processes;

	while (view->count >= publisher->options.max_rows) {
		const struct contender *smallest = &view->smallest[*next_smallest];

		if (*next_smallest >= smallest_count || smallest->used_uj >= contender->used_uj)
			return false;
		++*next_smallest;
		if (view->series_of[smallest->process] != NO_SERIES)
			process_fold(publisher, smallest->process, at);
	}
	return true;
}

void processes_admit(struct publisher *publisher, const struct moment *at)
{
	struct process_view *view = &publisher->processes;
	uint32_t max_rows = publisher->options.max_rows, smallest_count = 0, next_smallest = 0;
	uint32_t count;

	processes_fold_excess(publisher, at);
	count = find_contenders(publisher);
	if (count > max_rows - view->count) {
		qsort(view->contenders, count, sizeof(struct contender), by_most_used);
		smallest_count =
			processes_find_smallest(publisher, count - (max_rows - view->count), true);
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct contender *contender = &view->contenders[i];

		if (clear_namesake(publisher, contender->process, at) &&
		    find_room(publisher, contender, &next_smallest, smallest_count, at))
			open_series(publisher, contender->process, at);
	}
}

static void apply_row(struct publisher *publisher, uint32_t process, const struct moment *at)
{
	struct process_view *view = &publisher->processes;
	const struct ledger_process *row = ledger_process_at(publisher->ledger, process);
	const uint64_t *deltas = ledger_deltas(publisher->ledger, LEVEL_PROCESS, process);
	uint32_t index = view->series_of[process];
	struct process_series *series;

	if (!row->row.used)
		return;
	if (index == NO_SERIES) {
		if (row->row.ended)
			forget_row(publisher, process);
		return;
	}
	series = &view->series[index];
	if (deltas) {
		values_add(value_table_row(&view->values, index), deltas, publisher->columns);
		values_add(value_table_row(&publisher->containers.elsewhere, row->container),
			   deltas, publisher->columns);
	}
	series->ended = row->row.ended;
	series->ended_ns = at->now_ns;
}

void processes_apply(struct publisher *publisher, const struct moment *at)
{
	size_t count;
	const uint32_t *touched = ledger_touched(publisher->ledger, LEVEL_PROCESS, &count);

	if (publisher->missed) {
		uint32_t slots = ledger_slots(publisher->ledger, LEVEL_PROCESS);

		for (uint32_t process = 0; process < slots; process++)
			apply_row(publisher, process, at);
		return;
	}
	for (size_t i = 0; i < count; i++)
		apply_row(publisher, touched[i], at);
}
