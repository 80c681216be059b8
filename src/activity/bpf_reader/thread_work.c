// SPDX-License-Identifier: Apache-2.0
/*
 * The work of threads as the context switches have shown it, added up by process: amounts of a few
 * signals. Records bring differences, so each amount is added once; what belongs to no process is
 * counted as lost.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "activity/bpf_reader/thread_table_state.h"
#include "base/array.h"
#include "base/macro.h"
#include "base/num.h"

_Static_assert(SIGNAL_CPU_CYCLES + KEPLER_COUNTERS_MAX == WORK_SIGNALS, "counters in their order");

void thread_table_tell_signals(struct thread_table *table, uint32_t signals)
{
	table->signals = signals;
}

uint64_t thread_table_work_lost_ns(const struct thread_table *table)
{
	return table->work_lost_ns;
}

void thread_work_release(struct thread_table *table)
{
	free(TAKE_PTR(table->pending_signals));
	free(TAKE_PTR(table->sample_signals));
}

bool thread_work_reserve(struct thread_table *table)
{
	uint32_t before = table->pending_signal_cells, rows = table->processes_high + 1U;

	if (!table->signals)
		return true;
	if (ARRAY_RESERVE(table->pending_signals, table->pending_signal_cells,
			  (size_t)rows * WORK_SIGNALS) < 0)
		return false;
	memset(table->pending_signals + before, 0,
	       (table->pending_signal_cells - before) * sizeof(*table->pending_signals));
	return true;
}

void thread_work_lose(struct thread_table *table, const struct kepler_work *work)
{
	if (work && !thread_table_is_baseline(table))
		table->work_lost_ns += work->counted_ns;
}

bool thread_work_charge(struct thread_table *table, uint32_t index, const struct kepler_work *work)
{
	uint64_t *pending;

	if (!work || !table->signals || thread_table_is_baseline(table))
		return false;
	pending = table->pending_signals + (size_t)index * WORK_SIGNALS;
	pending[SIGNAL_COUNTED_TIME] += work->counted_ns;
	pending[SIGNAL_PAIRED_TIME] += work->paired_ns;
	for (size_t i = 0; i < KEPLER_COUNTERS_MAX; i++)
		pending[SIGNAL_CPU_CYCLES + i] += work->counters[i];
	return work->counted_ns;
}

bool thread_work_spread(const struct kepler_work *work, uint32_t places, uint64_t run_ns,
			uint64_t *pending_ns)
{
	uint64_t counted_ns = 0, given_ns = 0, so_far_ns = 0;

	if (places > KEPLER_PLACES_MAX)
		return false;
	for (uint32_t i = 0; i < places; i++)
		counted_ns += work->place_ns[i];
	if (!counted_ns)
		return false;
	/* By running sums, so that the parts add up to the whole. */
	for (uint32_t i = 0; i < places; i++) {
		uint64_t until_ns;

		so_far_ns += work->place_ns[i];
		until_ns = muldiv_u64(run_ns, so_far_ns, counted_ns);
		pending_ns[i] += until_ns - given_ns;
		given_ns = until_ns;
	}
	return true;
}

int thread_work_begin_samples(struct thread_table *table, uint32_t count, struct activity *activity)
{
	if (!table->signals)
		return 0;
	if (ARRAY_RESERVE(table->sample_signals, table->sample_signal_cells,
			  (size_t)count * WORK_SIGNALS) < 0)
		return -ENOMEM;
	activity->signals = table->signals;
	for (size_t signal = 0; signal < WORK_SIGNALS; signal++) {
		if (table->signals & SIGNAL_BIT(signal))
			activity->signal[signal] = table->sample_signals + signal * count;
	}
	return 0;
}

void thread_work_take(struct thread_table *table, uint32_t index, uint32_t sample)
{
	uint64_t *pending = table->pending_signals + (size_t)index * WORK_SIGNALS;

	for (size_t signal = 0; signal < WORK_SIGNALS; signal++)
		table->sample_signals[signal * table->active_count + sample] = pending[signal];
	memset(pending, 0, WORK_SIGNALS * sizeof(*pending));
}
