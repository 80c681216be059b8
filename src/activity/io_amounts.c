// SPDX-License-Identifier: Apache-2.0
#include "activity/io_amounts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

struct io_amounts_row {
	uint64_t cgroup_id;
	uint32_t idle; /* readings since its last amount */
	struct kepler_io last;
};

enum signal io_amounts_signal(enum kepler_io_amount amount)
{
	static const enum signal signals[KEPLER_IO_COUNT] = {
		[KEPLER_IO_NET_TX] = SIGNAL_NET_TX_IRQ,
		[KEPLER_IO_NET_RX] = SIGNAL_NET_RX_IRQ,
		[KEPLER_IO_BLOCK] = SIGNAL_BLOCK_IRQ,
		[KEPLER_IO_SOFTIRQ_NS] = SIGNAL_SOFTIRQ_TIME,
		[KEPLER_IO_NET_BYTES] = SIGNAL_NET_BYTES,
		[KEPLER_IO_BLOCK_BYTES] = SIGNAL_BLOCK_BYTES,
		[KEPLER_IO_PAGE_CACHE] = SIGNAL_PAGE_CACHE_HITS,
	};

	return signals[amount];
}

static struct map_key key_of(uint64_t cgroup_id)
{
	return (struct map_key){ 0, cgroup_id };
}

void io_amounts_init(struct io_amounts *amounts)
{
	*amounts = (struct io_amounts){ 0 };
	map_init(&amounts->rows_by_cgroup, KEPLER_IO_CGROUPS_MAX);
}

void io_amounts_release(struct io_amounts *amounts)
{
	map_release(&amounts->rows_by_cgroup);
	free(amounts->rows);
	free(amounts->changes);
	*amounts = (struct io_amounts){ 0 };
}

void io_amounts_begin(struct io_amounts *amounts)
{
	amounts->change_count = 0;
}

/* The row of a cgroup, a new one at 0; NULL: no memory. */
static struct io_amounts_row *row_of(struct io_amounts *amounts, uint64_t cgroup_id)
{
	uint32_t row = map_find(&amounts->rows_by_cgroup, key_of(cgroup_id));

	if (row != MAP_NONE)
		return &amounts->rows[row];
	row = (uint32_t)amounts->row_count;
	if (ARRAY_RESERVE(amounts->rows, amounts->row_size, amounts->row_count + 1) < 0 ||
	    map_put(&amounts->rows_by_cgroup, key_of(cgroup_id), row) < 0)
		return NULL;
	amounts->rows[row] = (struct io_amounts_row){ .cgroup_id = cgroup_id };
	amounts->row_count++;
	return &amounts->rows[row];
}

int io_amounts_take(struct io_amounts *amounts, uint64_t cgroup_id, const struct kepler_io *sums,
		    size_t cpus, uint32_t signals)
{
	struct io_amounts_row *row = row_of(amounts, cgroup_id);
	struct cgroup_signals change = { .cgroup_id = cgroup_id };
	struct kepler_io now = { 0 };
	bool has_grown = false;

	if (!row ||
	    ARRAY_RESERVE(amounts->changes, amounts->change_size, amounts->change_count + 1) < 0)
		return -ENOMEM;
	for (int i = 0; i < KEPLER_IO_COUNT; i++) {
		enum signal signal = io_amounts_signal((enum kepler_io_amount)i);

		for (size_t cpu = 0; cpu < cpus; cpu++)
			now.amount[i] += sums[cpu].amount[i];
		if (!(signals & SIGNAL_BIT(signal)) || now.amount[i] == row->last.amount[i])
			continue;
		change.amount[signal] = now.amount[i] - row->last.amount[i];
		has_grown = true;
	}
	row->last = now;
	if (has_grown) {
		row->idle = 0;
		amounts->changes[amounts->change_count++] = change;
		return 0;
	}
	row->idle++;
	return row->idle >= IO_AMOUNTS_IDLE;
}

void io_amounts_forget(struct io_amounts *amounts, uint64_t cgroup_id)
{
	uint32_t row = map_remove(&amounts->rows_by_cgroup, key_of(cgroup_id));
	const struct io_amounts_row *last;

	if (row == MAP_NONE)
		return;
	last = &amounts->rows[--amounts->row_count];
	if (row == amounts->row_count)
		return;
	amounts->rows[row] = *last;
	/* It is in the map already, so this takes no memory. */
	(void)map_put(&amounts->rows_by_cgroup, key_of(last->cgroup_id), row);
}
