// SPDX-License-Identifier: Apache-2.0
/*
 * A thread is reported when it is freed (with all of its time) and, where the kernel guards a
 * process from BPF, also before, when it exits (with its identity, and nearly all of its time).
 * Only the end is charged. The exit makes a row for a thread that lived too short to be walked, so
 * that its process waits for it, and is charged if the end does not come.
 */
#include <string.h>

#include "activity/bpf_reader/thread_table_state.h"
#include "base/array.h"
#include "base/macro.h"
#include "base/num.h"

/*
 * Longer than a grace period normally takes. A longer one, as with lazy callbacks of RCU, costs a
 * full pass, and the end then adds the time that its exit did not report.
 */
#define OVERDUE_NS (3 * NSEC_PER_SEC)

/*
 * A process that the last two full passes, or the baseline, should have reported and did not, and
 * without an end that may still be on its way from before them, is guarded by the kernel. Its run
 * time was unseen.
 */
static bool is_unknown_of_old(const struct thread_table *table, const struct kepler_thread *record)
{
	uint64_t full_ns = table->before_full_ns ? table->before_full_ns : table->full_ns;

	return !(record->flags & KEPLER_START_UNKNOWN) &&
	       record->process_start_ns + LATE_NS < full_ns &&
	       thread_rows_find_process(table, record) == MAP_NONE;
}

/* Returns true if no pass can have reported it, although it existed during one. */
static bool is_unseen_life(const struct thread_table *table, const struct kepler_thread *record)
{
	if (record->flags & KEPLER_YOUNG)
		return false;
	return table->passes == 1 || table->sees_part ||
	       (!table->untracked && is_unknown_of_old(table, record));
}

/*
 * The time of an ended thread without a row that was reported before. A thread that is neither
 * young nor remembered either started after the full pass before the last one, or was swept: then
 * it cannot have run for longer than since that pass.
 */
static uint64_t reported_of_ended(struct thread_table *table, const struct kepler_thread *record)
{
	uint64_t longest_ns = table->now_ns - table->before_full_ns;

	if (record->flags & KEPLER_YOUNG || !table->before_full_ns || record->run_ns <= longest_ns)
		return 0;
	return record->run_ns - longest_ns;
}

/* An end of a thread that has no row. */
static void add_ended(struct thread_table *table, const struct kepler_thread *record,
		      const struct kepler_work *work)
{
	uint64_t run_ns = record->run_ns, reported_ns;
	uint32_t process;

	if (thread_swept_take(table, record, &reported_ns)) {
		run_ns -= reported_ns;
	} else if (is_unseen_life(table, record)) {
		return; /* such as one that left the list of tasks before the baseline */
	} else if (table->untracked && !(record->flags & KEPLER_YOUNG)) {
		table->balance_ns += (int64_t)run_ns;
		thread_work_lose(table, work);
		return;
	} else {
		run_ns -= reported_of_ended(table, record);
	}
	process = thread_rows_find_process(table, record);
	if (process == MAP_NONE && record->flags & KEPLER_START_UNKNOWN) {
		thread_table_lost_cgroup(table, record->cgroup_id, run_ns);
		thread_work_lose(table, work);
		return;
	}
	if (process == MAP_NONE)
		process = thread_rows_add_process(table, record);
	if (process == MAP_NONE) {
		table->overflows++;
		thread_table_lost_node(table, run_ns);
		thread_work_lose(table, work);
		return;
	}
	if (record->flags & KEPLER_LEADER)
		thread_rows_describe_process(&table->processes[process], record);
	thread_rows_charge(table, process, run_ns, record->cpu, work);
	thread_rows_activate(table, process);
}

/* The row of a thread that is not known yet but exits; its time is charged when it has ended. */
static uint32_t add_exiting(struct thread_table *table, const struct kepler_thread *record)
{
	struct kepler_thread unreported = *record;
	uint32_t process, thread;
	uint64_t reported_ns;

	if (is_unseen_life(table, record) || (table->untracked && !(record->flags & KEPLER_YOUNG)))
		return MAP_NONE; /* its end is another matter, see add_ended() */
	if (record->flags & KEPLER_START_UNKNOWN)
		return MAP_NONE;
	process = thread_rows_find_process(table, record);
	if (process == MAP_NONE)
		process = thread_rows_add_process(table, record);
	if (process == MAP_NONE)
		return MAP_NONE;
	unreported.run_ns = thread_swept_take(table, record, &reported_ns)
				    ? reported_ns
				    : reported_of_ended(table, record);
	thread = thread_rows_add_thread(table, process, &unreported);
	if (!table->processes[process].threads && !table->processes[process].active)
		thread_rows_remove_process(table, process);
	return thread;
}

static void await_end(struct thread_table *table, const struct kepler_thread *record)
{
	uint32_t index = thread_rows_find_thread(table, record);

	if (index == MAP_NONE)
		index = add_exiting(table, record);
	if (index == MAP_NONE)
		return;
	if (ARRAY_RESERVE(table->awaited, table->awaited_size, table->awaited_count + 1U) < 0)
		return; /* a full pass will find out */
	thread_rows_set_run(table, index, table->threads[index].run_ns, record->run_ns);
	table->awaited[table->awaited_count++] = (struct awaited_end){
		.task = record->key,
		.tid = table->threads[index].tid,
		.pass = table->passes,
		.cpu = record->cpu,
	};
}

/*
 * Records of exits have no time. Their age counts from the pass that follows them: from the one
 * before, an exit right before a pass would be as old as the interval is long.
 */
static void date_new_exits(struct thread_table *table)
{
	for (uint32_t i = table->awaited_count;
	     i > 0 && table->awaited[i - 1].pass == table->passes; i--)
		table->awaited[i - 1].exit_ns = table->now_ns;
}

/*
 * A thread that exited long ago and did not end is a zombie, or the kernel did not report its end.
 * In both cases it ran as long as its exit said; if it is not alive, the next full passes remove
 * it. After a loss its end was counted among the lost ones instead.
 */
void thread_table_charge_overdue(struct thread_table *table)
{
	uint32_t done = 0;

	date_new_exits(table);
	while (done < table->awaited_count &&
	       table->now_ns - table->awaited[done].exit_ns >= OVERDUE_NS) {
		const struct awaited_end *end = &table->awaited[done++];
		uint32_t index = map_find(&table->thread_map, thread_rows_key(end->task, end->tid));
		const struct thread_row *thread;
		uint64_t run_ns;

		if (index == MAP_NONE)
			continue;
		thread = &table->threads[index];
		run_ns = thread->run_ns;
		if (thread->exit_run_ns > run_ns && table->last_lost < end->pass) {
			thread_rows_charge(table, thread->process, thread->exit_run_ns - run_ns,
					   end->cpu, NULL);
			run_ns = thread->exit_run_ns;
		}
		thread_rows_set_run(table, index, run_ns, 0);
		table->overdue = true;
	}
	table->awaited_count -= done;
	memmove(table->awaited, table->awaited + done,
		table->awaited_count * sizeof(*table->awaited));
}

void thread_table_ended(struct thread_table *table, const struct kepler_thread *record,
			const struct kepler_work *work)
{
	uint32_t index, process;

	if (thread_table_is_baseline(table))
		return; /* ran before anything was counted */
	if (record->flags & KEPLER_EXITING) {
		await_end(table, record);
		return;
	}
	index = thread_rows_find_thread(table, record);
	if (index == MAP_NONE) {
		add_ended(table, record, work);
		return;
	}
	process = table->threads[index].process;
	if (record->flags & KEPLER_LEADER)
		thread_rows_describe_process(&table->processes[process], record);
	thread_rows_charge(table, process, record->run_ns - table->threads[index].run_ns,
			   record->cpu, work);
	thread_rows_remove_thread(table, index);
}

/* ---- what is known to come ---- */

void thread_table_unreported_exits(struct thread_table *table, uint64_t count, uint64_t run_ns)
{
	table->unreported[0].threads += count;
	table->unreported[0].run_ns += run_ns;
}

/*
 * It is unknown which ends belong to them: they are expected for as long as those of other exits.
 */
static void age_unreported(struct thread_table *table)
{
	if (table->now_ns - table->unreported_since_ns < OVERDUE_NS)
		return;
	table->unreported[1] = table->unreported[0];
	table->unreported[0] = (struct coming_time){ 0 };
	table->unreported_since_ns = table->now_ns;
}

void thread_table_tell_coming(struct thread_table *table, struct activity *activity)
{
	uint64_t threads = table->coming.threads, run_ns = table->coming.run_ns;

	/* As long as it is negative, that much of the run time that is found is not reported. */
	run_ns += table->balance_ns < 0 ? -(uint64_t)table->balance_ns : 0;
	for (size_t i = 0; i < ARRAY_SIZE(table->held_ns); i++)
		run_ns += table->held_ns[i];
	for (size_t i = 0; i < ARRAY_SIZE(table->unreported); i++) {
		threads += table->unreported[i].threads;
		run_ns += table->unreported[i].run_ns;
	}
	activity->coming_ns = run_ns;
	activity->coming_threads = threads < UINT32_MAX ? (uint32_t)threads : UINT32_MAX;
	age_unreported(table);
}
