// SPDX-License-Identifier: Apache-2.0
/*
 * The limits: which series go when there are too many.
 *
 * The smallest go first. To find the k smallest of n, a heap of k with the largest on top is kept
 * while walking the n: O(n log k), and only in an interval in which something is turned away.
 */
#include "base/array.h"
#include "base/macro.h"
#include "snapshot/publisher_parts.h"

#define FORGOTTEN_MAX 1024U /* processes in one interval; what finds no row then asks again */

/* A strict order, so that the choice is the same whatever the order of rows. */
static bool is_larger(const struct contender *a, const struct contender *b)
{
	return a->used_uj != b->used_uj ? a->used_uj > b->used_uj : a->process > b->process;
}

static int by_least_used(const void *a, const void *b)
{
	return is_larger(a, b) ? 1 : -1; /* no two are of the same process */
}

static void sift_down(struct contender *heap, uint32_t size, uint32_t at)
{
	for (;;) {
		uint32_t child = 2 * at + 1;
		struct contender held = heap[at];

		if (child >= size)
			return;
		if (child + 1 < size && is_larger(&heap[child + 1], &heap[child]))
			child++;
		if (!is_larger(&heap[child], &held))
			return;
		heap[at] = heap[child];
		heap[child] = held;
		at = child;
	}
}

/* Offers a candidate to the heap of the smallest, which is one once it is full. */
static void keep_smallest(struct contender *heap, uint32_t *count, uint32_t wanted,
			  const struct contender *candidate)
{
	if (*count < wanted) {
		heap[(*count)++] = *candidate;
		for (uint32_t parent = wanted / 2; *count == wanted && parent-- > 0;)
			sift_down(heap, wanted, parent);
	} else if (is_larger(&heap[0], candidate)) {
		heap[0] = *candidate;
		sift_down(heap, wanted, 0);
	}
}

uint32_t processes_find_smallest(struct publisher *publisher, uint32_t wanted, bool settled_only)
{
	struct process_view *view = &publisher->processes;
	uint32_t found = 0;

	wanted = wanted < view->count ? wanted : view->count;
	if (wanted == 0 || ARRAY_RESERVE(view->smallest, view->smallest_size, wanted) < 0)
		return 0;
	for (uint32_t i = 0; i < view->count; i++) {
		const struct contender candidate = { usage_uj(publisher,
							      value_table_row(&view->values, i)),
						     view->series[i].process };

		if (settled_only && !view->series[i].age.settled)
			continue;
		keep_smallest(view->smallest, &found, wanted, &candidate);
	}
	qsort(view->smallest, found, sizeof(struct contender), by_least_used);
	return found;
}

void process_fold(struct publisher *publisher, uint32_t process, const struct moment *at)
{
	process_close(publisher, publisher->processes.series_of[process], at);
	publisher->processes.folded++;
}

void processes_fold_excess(struct publisher *publisher, const struct moment *at)
{
	struct process_view *view = &publisher->processes;
	uint32_t max_rows = publisher->options.max_rows;

	for (int settled_only = 1; settled_only >= 0 && view->count > max_rows; settled_only--) {
		uint32_t count =
			processes_find_smallest(publisher, view->count - max_rows, settled_only);

		for (uint32_t i = 0; i < count; i++)
			process_fold(publisher, view->smallest[i].process, at);
	}
	while (view->count > max_rows) /* without memory to choose: the newest rows */
		process_fold(publisher, view->series[view->count - 1].process, at);
}

/* Idle energy, which sleepers may be given as well, does not count. */
static bool has_run(const struct publisher *publisher, const uint64_t *deltas)
{
	return deltas && deltas[ledger_cpu_column(publisher->ledger)] > 0;
}

/* Sleeps, has no series, and is not all by which its container is known to live. */
static bool may_be_forgotten(const struct publisher *publisher, uint32_t process)
{
	const struct ledger_process *row = ledger_process_at(publisher->ledger, process);
	const uint64_t *deltas = ledger_deltas(publisher->ledger, LEVEL_PROCESS, process);

	return row->row.used && (!deltas || (!row->row.ended && !has_run(publisher, deltas))) &&
	       publisher->processes.series_of[process] == NO_SERIES &&
	       ledger_container_at(publisher->ledger, row->container)->living > 1;
}

void processes_forget(struct publisher *publisher, const struct moment *at)
{
	struct process_view *view = &publisher->processes;
	uint32_t slots = ledger_slots(publisher->ledger, LEVEL_PROCESS), found = 0;
	uint32_t wanted = ledger_refused(publisher->ledger, LEVEL_PROCESS);

	wanted = wanted < FORGOTTEN_MAX ? wanted : FORGOTTEN_MAX;
	if (wanted == 0 || ARRAY_RESERVE(view->smallest, view->smallest_size, wanted) < 0)
		return;
	for (uint32_t i = 0; i < slots; i++) {
		if (may_be_forgotten(publisher, i)) {
			const struct contender candidate = {
				usage_uj(publisher,
					 ledger_values(publisher->ledger, LEVEL_PROCESS, i)),
				i
			};

			keep_smallest(view->smallest, &found, wanted, &candidate);
		}
	}
	for (uint32_t i = 0; i < found; i++) {
		if (may_be_forgotten(publisher, view->smallest[i].process))
			process_release(publisher, view->smallest[i].process, at);
	}
}

/* Lives, was shown, and did not run in this interval: one that runs would be back at once. */
static bool may_be_folded(const struct publisher *publisher, uint32_t container)
{
	const struct container_series *series = &publisher->containers.series[container];
	const struct ledger_container *row = ledger_container_at(publisher->ledger, container);
	const uint64_t *deltas = ledger_deltas(publisher->ledger, LEVEL_CONTAINER, container);

	return container != 0 && row->row.used && !has_run(publisher, deltas) && !row->is_other &&
	       !row->replaced && series->published && series->age.settled && !series->folding;
}

static uint32_t smallest_container(const struct publisher *publisher)
{
	uint32_t slots = ledger_slots(publisher->ledger, LEVEL_CONTAINER), smallest = LEDGER_NONE;
	uint64_t least_uj = UINT64_MAX;

	for (uint32_t i = 0; i < slots; i++) {
		uint64_t used_uj;

		if (!may_be_folded(publisher, i))
			continue;
		used_uj = usage_uj(publisher, ledger_values(publisher->ledger, LEVEL_CONTAINER, i));
		if (used_uj < least_uj || smallest == LEDGER_NONE) {
			least_uj = used_uj;
			smallest = i;
		}
	}
	return smallest;
}

static void release_processes_of_folded(struct publisher *publisher, const struct moment *at)
{
	uint32_t slots = ledger_slots(publisher->ledger, LEVEL_PROCESS);

	for (uint32_t i = 0; i < slots; i++) {
		const struct ledger_process *row = ledger_process_at(publisher->ledger, i);

		if (row->row.used && publisher->containers.series[row->container].folding)
			process_release(publisher, i, at);
	}
}

void containers_fold(struct publisher *publisher, const struct moment *at)
{
	uint32_t folded[LEDGER_REFUSED_MAX], count = 0;
	uint32_t wanted = ledger_refused(publisher->ledger, LEVEL_CONTAINER);

	for (; count < wanted; count++) {
		folded[count] = smallest_container(publisher);
		if (folded[count] == LEDGER_NONE)
			break;
		publisher->containers.series[folded[count]].folding = true;
	}
	if (count == 0)
		return;
	release_processes_of_folded(publisher, at);
	for (uint32_t i = 0; i < count; i++)
		container_retire(publisher, folded[i], at);
	publisher->containers.folded += count;
}
