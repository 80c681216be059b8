// SPDX-License-Identifier: Apache-2.0
/*
 * Lost ends (the kernel's ring was full) leave rows behind. Passes are then full until each row was
 * either reported or missing in two passes in a row. Such a row is removed, and its reported time
 * is subtracted from the run time that the kernel added up for lost threads: the difference is
 * exactly the time not reported yet. `balance_ns` is the one account for all run time without a
 * process.
 *
 * Threads that do not fit (`untracked`) are added up instead: in a full pass, their run time is the
 * sum now less the sum before.
 */
#include "activity/bpf_reader/thread_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "activity/bpf_reader/thread_table_state.h"
#include "base/array.h"
#include "base/macro.h"
#include "base/num.h"

#define THREADS_PER_PROCESS 4
#define MISSED_MAX          2
#define OVERDUE_PASSES      30 /* overdue ends are checked together: a full pass is expensive */

int thread_table_new(uint32_t max_processes, struct thread_table **ret)
{
	struct thread_table *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	map_init(&table->process_map, max_processes);
	map_init(&table->thread_map, max_processes * THREADS_PER_PROCESS);
	thread_swept_init(&table->swept, max_processes);
	table->threads_free = table->processes_free = MAP_NONE;
	*ret = table;
	return 0;
}

void thread_table_free(struct thread_table *table)
{
	if (!table)
		return;
	map_release(&table->thread_map);
	map_release(&table->process_map);
	thread_swept_release(&table->swept);
	free(table->threads);
	free(table->processes);
	free(table->active);
	free(table->samples);
	free(table->pending_socket_ns);
	free(table->sample_socket_ns);
	thread_work_release(table);
	free(table->awaited);
	free(table);
}

void thread_table_tell_sockets(struct thread_table *table, const struct cpu_sockets *sockets)
{
	table->sockets = sockets;
}

void thread_table_tell_frequencies(struct thread_table *table,
				   const struct cpu_frequencies *frequencies)
{
	table->frequencies = frequencies;
}

void thread_table_sees_part(struct thread_table *table)
{
	table->sees_part = true;
}

bool thread_table_wants_full(const struct thread_table *table)
{
	if (table->overdue && table->passes - table->last_full >= OVERDUE_PASSES)
		return true;
	return table->passes == 0 || table->missing || table->untracked || table->old_lost;
}

/* ---- a pass ---- */

void thread_table_begin(struct thread_table *table, bool full, uint64_t now_ns)
{
	thread_rows_follow_sockets(table);
	table->now_ns = now_ns;
	table->full = full;
	table->full_passes += full;
	table->untracked_next = false;
	table->untracked_next_ns = 0;
}

/*
 * The time of a living thread without a row that is not work of this interval. A process that the
 * last full pass should have reported and did not is new only to this table: its run time was never
 * seen.
 */
static uint64_t reported_of_living(struct thread_table *table, const struct kepler_thread *record,
				   bool is_process_known)
{
	uint64_t reported_ns;

	if (thread_swept_take(table, record, &reported_ns))
		return reported_ns;
	if (!is_process_known && !table->untracked &&
	    record->process_start_ns + FORK_NS < table->full_ns)
		return record->run_ns;
	return 0;
}

/* A living thread seen for the first time, or without room before. */
static void add_living(struct thread_table *table, const struct kepler_thread *record,
		       const struct kepler_work *work)
{
	uint32_t process = thread_rows_find_process(table, record);
	uint64_t reported_ns = reported_of_living(table, record, process != MAP_NONE);
	uint32_t thread = MAP_NONE;

	if (process == MAP_NONE)
		process = thread_rows_add_process(table, record);
	if (process != MAP_NONE)
		thread = thread_rows_add_thread(table, process, record);
	if (thread == MAP_NONE) {
		table->untracked_next = true;
		table->overflows++;
		table->untracked_next_ns += record->run_ns;
	}
	if (process != MAP_NONE && !table->processes[process].threads &&
	    !table->processes[process].active)
		thread_rows_remove_process(table, process); /* added for nothing */
	if (thread_table_is_baseline(table)) {
		if (thread != MAP_NONE)
			thread_rows_activate(table, process);
		return;
	}
	if (thread == MAP_NONE || table->untracked) {
		table->balance_ns += (int64_t)(record->run_ns - reported_ns);
		thread_work_lose(table, work);
	} else {
		thread_rows_charge(table, process, record->run_ns - reported_ns, record->cpu, work);
	}
}

static void take_living(struct thread_table *table, const struct kepler_thread *record,
			const struct kepler_work *work)
{
	uint32_t index = thread_rows_find_thread(table, record);
	struct thread_row *thread;

	if (index == MAP_NONE) {
		add_living(table, record, work);
		return;
	}
	thread = &table->threads[index];
	thread->seen = table->full_passes;
	if (thread->missed) {
		thread->missed = 0;
		table->missing--;
	}
	thread_rows_describe_process(&table->processes[thread->process], record);
	thread_rows_charge(table, thread->process, record->run_ns - thread->run_ns, record->cpu,
			   work);
	thread_rows_set_run(table, index, record->run_ns, thread->exit_run_ns);
}

void thread_table_living(struct thread_table *table, const struct kepler_thread *records,
			 const struct kepler_work *works, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i + MAP_AHEAD < count)
			thread_rows_prefetch(table, &records[i + MAP_AHEAD]);
		take_living(table, &records[i], works ? &works[i] : NULL);
	}
}

/* Rows that a full pass did not report: their end is on its way, or was lost. */
static void sweep(struct thread_table *table)
{
	for (uint32_t i = 0; i < table->threads_high; i++) {
		struct thread_row *thread = &table->threads[i];

		if (thread->process == MAP_NONE || thread->seen == table->full_passes)
			continue;
		if (!thread->missed++)
			table->missing++;
		if (thread->missed < MISSED_MAX || (thread->exit_run_ns && !table->old_lost))
			continue; /* the time that its exit reported is charged first */
		thread_swept_keep(table, thread);
		thread_rows_forget_thread(table, i);
	}
}

/* Settles the account of run time without a process; returns the part that can be reported. */
static uint64_t settle(struct thread_table *table)
{
	uint64_t held_ns = 0, reported_ns;

	table->balance_ns -= (int64_t)table->untracked_ns;
	table->untracked_ns = table->untracked_next_ns;
	table->untracked = table->untracked_next;

	table->balance_ns += (int64_t)table->held_ns[HELD_PASSES - 1];
	for (int i = HELD_PASSES - 1; i > 0; i--) {
		table->held_ns[i] = table->held_ns[i - 1];
		held_ns += table->held_ns[i];
	}
	table->held_ns[0] = 0;
	if (!held_ns && !table->missing)
		table->old_lost = 0; /* the others were never reported, so they have no rows */
	reported_ns = table->balance_ns > 0 ? (uint64_t)table->balance_ns : 0;
	table->balance_ns -= (int64_t)reported_ns;
	return reported_ns;
}

static void fill_sample(struct activity_sample *sample, const struct process_row *process)
{
	*sample = (struct activity_sample){
		.key = process->key,
		.parent = process->parent,
		.user = process->user,
		.cpu_ns = process->pending_ns,
		.cycles = process->pending_cycles,
		.cgroup_id = process->cgroup_id,
		.cgroup_set = process->cgroup_set,
		.cpu = process->cpu,
		.flags = process->flags | (process->threads ? 0 : ACTIVITY_ENDED),
	};
	memcpy(sample->comm, process->comm, COMM_MAX);
}

static void take_sockets(struct thread_table *table, uint32_t process, uint32_t sample)
{
	uint64_t *pending = table->pending_socket_ns + (size_t)process * table->places;
	size_t bytes = table->places * sizeof(*pending);

	memcpy(table->sample_socket_ns + (size_t)sample * table->places, pending, bytes);
	memset(pending, 0, bytes);
}

/* Moves pending time into samples; returns its sum. */
static uint64_t take_samples(struct thread_table *table)
{
	uint64_t busy_ns = 0;

	for (uint32_t i = 0; i < table->active_count; i++) {
		uint32_t index = table->active[i];
		struct process_row *process = &table->processes[index];

		fill_sample(&table->samples[i], process);
		if (table->places)
			take_sockets(table, index, i);
		if (table->signals)
			thread_work_take(table, index, i);
		busy_ns += process->pending_ns;
		process->pending_ns = process->pending_cycles = 0;
		process->active = false;
		if (!process->threads)
			thread_rows_remove_process(table, index);
	}
	return busy_ns;
}

int thread_table_finish(struct thread_table *table, struct activity *activity)
{
	uint32_t count;

	if (table->awaited_count)
		thread_table_charge_overdue(table); /* then a full pass can remove their rows */
	if (table->full) {
		table->last_full = table->passes;
		table->overdue = false;
		sweep(table);
		table->before_full_ns = table->full_ns;
		table->full_ns = table->now_ns;
	}
	thread_swept_expire(table);
	count = table->active_count;
	if (ARRAY_RESERVE(table->samples, table->samples_size, count) < 0 ||
	    ARRAY_RESERVE(table->sample_socket_ns, table->sample_cells,
			  (size_t)count * table->places) < 0 ||
	    thread_work_begin_samples(table, count, activity) < 0)
		return -ENOMEM;
	activity->samples = table->samples;
	activity->count = count;
	activity->socket_ns = table->places ? table->sample_socket_ns : NULL;
	activity->sockets = table->places;
	activity->busy_ns = take_samples(table);
	activity->dropped_ns = settle(table);
	activity->busy_ns += activity->dropped_ns;
	thread_table_tell_lost(table, activity);
	thread_table_tell_coming(table, activity);
	table->active_count = 0;
	table->passes++;
	return 0;
}

size_t thread_table_count(const struct thread_table *table)
{
	return table->thread_map.used;
}

uint64_t thread_table_overflows(const struct thread_table *table)
{
	return table->overflows;
}

bool thread_table_is_complete(const struct thread_table *table)
{
	return !table->untracked;
}

void thread_table_visit(const struct thread_table *table, activity_visit_fn *fn, void *userdata)
{
	for (uint32_t i = 0; i < table->processes_high; i++) {
		struct activity_sample sample;

		if (!table->processes[i].used || !table->processes[i].threads)
			continue;
		fill_sample(&sample, &table->processes[i]);
		sample.cpu_ns = sample.cycles = 0; /* pending time comes with the pass */
		fn(userdata, &sample);
	}
}
