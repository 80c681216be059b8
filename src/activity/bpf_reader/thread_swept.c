// SPDX-License-Identifier: Apache-2.0
/*
 * A thread that full passes do not report any more is swept, but its end may still come: the kernel
 * reports it a grace period after it left the list of tasks, and with lazy callbacks, callbacks
 * moved to other CPUs or starved kernel threads that takes 10 s and more. So its reported time is
 * kept for a minute, and its end is charged with the difference.
 *
 * Rows keep their index, free ones are chained, and all memory is released when no row is left,
 * which is the normal state.
 */
#include <stdlib.h>

#include "activity/bpf_reader/thread_table_state.h"
#include "base/array.h"
#include "base/num.h"

void thread_swept_release(struct thread_swept *swept)
{
	uint32_t limit = swept->map.limit;

	map_release(&swept->map);
	free(swept->rows);
	*swept = (struct thread_swept){ .free = MAP_NONE };
	map_init(&swept->map, limit);
}

void thread_swept_init(struct thread_swept *swept, uint32_t limit)
{
	*swept = (struct thread_swept){ .free = MAP_NONE };
	map_init(&swept->map, limit);
}

static void remove_row(struct thread_swept *swept, uint32_t index)
{
	struct swept_thread *row = &swept->rows[index];

	(void)map_remove(&swept->map, thread_rows_key(row->task, row->tid));
	row->task = 0;
	row->next_free = swept->free;
	swept->free = index;
}

/* Index of a row to fill, entered into the map; MAP_NONE: no room. */
static uint32_t add_row(struct thread_swept *swept, const struct thread_row *thread)
{
	uint32_t index = swept->free;

	if (index == MAP_NONE && swept->high == swept->size &&
	    ARRAY_RESERVE(swept->rows, swept->size, swept->high + 1U) < 0)
		return MAP_NONE;
	if (index == MAP_NONE)
		index = swept->high;
	if (map_put(&swept->map, thread_rows_key(thread->task, thread->tid), index) < 0)
		return MAP_NONE;
	if (index == swept->high)
		swept->high++;
	else
		swept->free = swept->rows[index].next_free;
	return index;
}

void thread_swept_keep(struct thread_table *table, const struct thread_row *thread)
{
	struct thread_swept *swept = &table->swept;
	uint32_t known = map_find(&swept->map, thread_rows_key(thread->task, thread->tid));
	uint32_t index;

	if (known != MAP_NONE)
		remove_row(swept, known); /* an earlier owner of the same memory */
	if (!swept->map.used)
		swept->expire_ns = table->now_ns + LATE_NS;
	index = add_row(swept, thread);
	if (index == MAP_NONE) {
		table->overflows++;
		return;
	}
	swept->rows[index] = (struct swept_thread){
		.task = thread->task,
		.run_ns = thread->run_ns,
		.swept_ns = table->now_ns,
		.key = table->processes[thread->process].key,
		.tid = thread->tid,
		.as_lost = thread_rows_is_lost(table, thread),
	};
}

static bool is_it(const struct swept_thread *row, const struct kepler_thread *record)
{
	return row->key.pid == record->tgid && record->run_ns >= row->run_ns &&
	       (record->flags & KEPLER_START_UNKNOWN ||
		row->key.start_ns == record->process_start_ns);
}

bool thread_swept_take(struct thread_table *table, const struct kepler_thread *record,
		       uint64_t *ret_reported_ns)
{
	struct thread_swept *swept = &table->swept;
	uint32_t index;

	if (!swept->map.used)
		return false;
	index = map_find(&swept->map, thread_rows_key(record->key, record->tid));
	if (index == MAP_NONE) /* a leader; another thread took its tid by exec */
		index = map_find(&swept->map, thread_rows_key(record->key, record->tgid));
	if (index == MAP_NONE || !is_it(&swept->rows[index], record))
		return false;
	*ret_reported_ns = swept->rows[index].run_ns;
	if (swept->rows[index].as_lost) { /* it was not: the lost one is still to be found */
		table->old_lost++;
		table->balance_ns += (int64_t)swept->rows[index].run_ns;
	}
	remove_row(swept, index);
	return true;
}

void thread_swept_expire(struct thread_table *table)
{
	struct thread_swept *swept = &table->swept;
	uint64_t next_ns = UINT64_MAX;

	if (!swept->rows || (swept->map.used && table->now_ns < swept->expire_ns))
		return;
	for (uint32_t i = 0; i < swept->high; i++) {
		const struct swept_thread *row = &swept->rows[i];

		if (!row->task)
			continue;
		if (table->now_ns - row->swept_ns >= LATE_NS)
			remove_row(swept, i);
		else if (row->swept_ns + LATE_NS < next_ns)
			next_ns = row->swept_ns + LATE_NS;
	}
	swept->expire_ns = next_ns;
	if (!swept->map.used)
		thread_swept_release(swept);
}
