// SPDX-License-Identifier: Apache-2.0
/*
 * Threads are keyed by (task address, tid). The address alone is not enough: it is used again, often by the same process, and the
 * end of the first owner may still be on its way. The tid alone is not enough either: when a thread that does not lead execs, it takes
 * over the leader's tid and start, and the old leader dies under the thread's tid. find_thread() knows both.
 *
 * Lost ends (the kernel's ring was full) leave rows behind. Passes are then full until each row was either told of or missed in
 * two passes in a row; such a row is removed, and what was told of it is taken from the run time that the kernel added up for lost threads:
 * the rest is what nobody was told yet, exact. `balance_ns` is the one account for all that has no name.
 *
 * Threads that find no room (`untracked`) are added up instead: in a full pass, the sum now less the sum before is what they ran.
 */
#include "activity/thread_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/map.h"
#include "base/num.h"

#define THREADS_PER_PROCESS 4
#define HELD_PASSES         3 /* a lost end's row is gone two passes after the loss is known */
#define MISSED_MAX          2
#define OVERDUE_NS          (3 * NSEC_PER_SEC) /* far more than a grace period takes */
#define OVERDUE_PASSES      30 /* overdue ends are looked into together: a full pass is dear */

struct thread_row {
	uint64_t task;
	uint64_t run_ns;      /* told so far */
	uint64_t exit_run_ns; /* as its exit had it: charged if its end does not come; 0: charged */
	uint32_t tid;
	uint32_t process; /* index, MAP_NONE: the row is free */
	uint32_t seen;    /* number of the last full pass that had it */
	uint32_t missed;  /* full passes in a row without it; in a free row: the next free one */
};

struct process_row {
	struct process_key key;
	uint64_t cgroup_id;
	uint64_t pending_ns;  /* for the next sample */
	uint64_t leader_task; /* 0: not seen yet */
	uint32_t threads;     /* rows */
	uint32_t cpu;
	uint32_t flags;
	uint32_t next_free; /* in a free row */
	bool used;
	bool active; /* in the list of the next samples */
	char comm[COMM_MAX];
};

/* An end to wait for. */
struct awaited_end {
	uint64_t task;
	uint64_t exit_ns; /* clock of the passes */
	uint32_t tid;
};

struct thread_table {
	struct map thread_map;
	struct map process_map;
	struct thread_row *threads;
	struct process_row *processes;
	uint32_t threads_size, threads_high, threads_free;
	uint32_t processes_size, processes_high, processes_free;

	uint32_t *active; /* as long as processes */
	uint32_t active_count;
	struct activity_sample *samples;
	uint32_t samples_size;
	struct dropped_cgroup lost[KEPLER_DROPS_MAX];
	uint32_t lost_count;
	bool lost_told; /* by the last finish: the next begin empties the list */

	struct awaited_end *awaited; /* oldest first */
	uint32_t awaited_count, awaited_size;

	uint64_t now_ns;  /* of the last pass */
	uint64_t lost_ns; /* the last pass that knew of lost ends */
	uint32_t passes;
	uint32_t full_passes;
	uint32_t last_full; /* pass */
	bool full;
	bool overdue;     /* an end did not come: a full pass tells whether it is a zombie */
	uint32_t missing; /* rows with missed > 0 */
	int64_t balance_ns; /* run time without a name, to be told in dropped_ns once it is positive */
	uint64_t untracked_ns,
		untracked_next_ns; /* sum over threads without a row: last pass, this one */
	bool untracked, untracked_next;
	uint64_t old_lost; /* rows that may yet turn out to be those of lost ends */
	uint64_t held_ns[HELD_PASSES];
};

int thread_table_new(uint32_t max_processes, struct thread_table **ret)
{
	struct thread_table *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	map_init(&table->process_map, max_processes);
	map_init(&table->thread_map, max_processes * THREADS_PER_PROCESS);
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
	free(table->threads);
	free(table->processes);
	free(table->active);
	free(table->samples);
	free(table->awaited);
	free(table);
}

bool thread_table_wants_full(const struct thread_table *table)
{
	if (table->overdue && table->passes - table->last_full >= OVERDUE_PASSES)
		return true;
	return table->passes == 0 || table->missing || table->untracked || table->old_lost;
}

static bool is_baseline(const struct thread_table *table)
{
	return table->passes == 0;
}

/* ---- rows ---- */

static struct map_key process_map_key(uint32_t pid, uint64_t start_ns)
{
	return (struct map_key){ start_ns, pid };
}

static struct map_key thread_map_key(uint64_t task, uint32_t tid)
{
	return (struct map_key){ task, tid };
}

/* Doubles an array of rows; false when memory ran out, and then nothing changed. */
static bool grow_rows(void **rows, uint32_t *size, size_t row_size)
{
	uint32_t bigger_size = *size ? *size * 2 : 256;
	void *bigger = realloc(*rows, bigger_size * row_size);

	if (!bigger)
		return false;
	*rows = bigger;
	*size = bigger_size;
	return true;
}

static bool reserve_process(struct thread_table *table)
{
	uint32_t active_size = table->processes_size;

	if (table->processes_free != MAP_NONE || table->processes_high < table->processes_size)
		return true;
	return grow_rows((void **)&table->active, &active_size, sizeof(*table->active)) &&
	       grow_rows((void **)&table->processes, &table->processes_size,
			 sizeof(*table->processes));
}

static void activate(struct thread_table *table, uint32_t index)
{
	struct process_row *process = &table->processes[index];

	if (process->active)
		return;
	process->active = true;
	table->active[table->active_count++] = index;
}

static void charge(struct thread_table *table, uint32_t index, uint64_t run_ns)
{
	if (!run_ns)
		return;
	table->processes[index].pending_ns += run_ns;
	activate(table, index);
}

/* What @record says about its process; that of an end is the thread's own, so only the leader's counts. */
static void describe_process(struct process_row *process, const struct kepler_thread *record)
{
	process->cgroup_id = record->cgroup_id;
	process->cpu = record->cpu;
	process->flags = record->flags & KEPLER_KTHREAD ? ACTIVITY_KTHREAD : 0;
	memcpy(process->comm, record->comm, COMM_MAX - 1);
	process->comm[COMM_MAX - 1] = '\0';
}

static uint32_t add_process(struct thread_table *table, const struct kepler_thread *record)
{
	uint32_t index = table->processes_free;

	if (!reserve_process(table))
		return MAP_NONE;
	if (index == MAP_NONE)
		index = table->processes_high;
	if (map_put(&table->process_map, process_map_key(record->tgid, record->process_start_ns),
		    index) < 0)
		return MAP_NONE;
	if (index == table->processes_high)
		table->processes_high++;
	else
		table->processes_free = table->processes[index].next_free;
	table->processes[index] = (struct process_row){
		.key = { .pid = record->tgid, .start_ns = record->process_start_ns },
		.used = true,
	};
	describe_process(&table->processes[index], record);
	return index;
}

static void remove_process(struct thread_table *table, uint32_t index)
{
	struct process_row *process = &table->processes[index];

	(void)map_remove(&table->process_map,
			 process_map_key(process->key.pid, process->key.start_ns));
	process->used = false;
	process->next_free = table->processes_free;
	table->processes_free = index;
}

/* The youngest process of @tgid: for an end whose leader was freed first. Rare, so a scan will do. */
static uint32_t find_youngest(const struct thread_table *table, uint32_t tgid)
{
	uint32_t found = MAP_NONE;

	for (uint32_t i = 0; i < table->processes_high; i++) {
		const struct process_row *process = &table->processes[i];

		if (process->used && process->key.pid == tgid &&
		    (found == MAP_NONE ||
		     process->key.start_ns > table->processes[found].key.start_ns))
			found = i;
	}
	return found;
}

static uint32_t find_process(const struct thread_table *table, const struct kepler_thread *record)
{
	if (record->flags & KEPLER_START_UNKNOWN)
		return find_youngest(table, record->tgid);
	return map_find(&table->process_map,
			process_map_key(record->tgid, record->process_start_ns));
}

static uint32_t add_thread(struct thread_table *table, uint32_t process,
			   const struct kepler_thread *record)
{
	uint32_t index = table->threads_free;

	if (index == MAP_NONE && table->threads_high == table->threads_size &&
	    !grow_rows((void **)&table->threads, &table->threads_size, sizeof(*table->threads)))
		return MAP_NONE;
	if (index == MAP_NONE)
		index = table->threads_high;
	if (map_put(&table->thread_map, thread_map_key(record->key, record->tid), index) < 0)
		return MAP_NONE;
	if (index == table->threads_high)
		table->threads_high++;
	else
		table->threads_free = table->threads[index].missed;
	table->threads[index] = (struct thread_row){
		.task = record->key,
		.run_ns = record->run_ns,
		.tid = record->tid,
		.process = process,
		.seen = table->full_passes,
	};
	table->processes[process].threads++;
	if (record->flags & KEPLER_LEADER)
		table->processes[process].leader_task = record->key;
	return index;
}

static void remove_thread(struct thread_table *table, uint32_t index)
{
	struct thread_row *thread = &table->threads[index];

	(void)map_remove(&table->thread_map, thread_map_key(thread->task, thread->tid));
	if (thread->missed)
		table->missing--;
	if (--table->processes[thread->process].threads == 0)
		activate(table, thread->process); /* its last sample */
	thread->process = MAP_NONE;
	thread->missed = table->threads_free;
	table->threads_free = index;
}

/* Removes a row whose end will never come: if it was lost, what was told of it is in the sum of the lost ones. */
static void forget_thread(struct thread_table *table, uint32_t index)
{
	if (table->old_lost && table->threads[index].run_ns) {
		table->old_lost--;
		table->balance_ns -= (int64_t)table->threads[index].run_ns;
	}
	remove_thread(table, index);
}

/* ---- who is this record? ---- */

static bool is_same_thread(const struct thread_table *table, const struct thread_row *thread,
			   const struct kepler_thread *record)
{
	const struct process_row *process = &table->processes[thread->process];

	return process->key.pid == record->tgid && record->run_ns >= thread->run_ns &&
	       (record->flags & KEPLER_START_UNKNOWN ||
		process->key.start_ns == record->process_start_ns);
}

/* After an exec by a thread that did not lead: its row is still under its old tid. Rare, so a scan will do. */
static uint32_t find_new_leader(struct thread_table *table, const struct kepler_thread *record)
{
	uint32_t process = find_process(table, record);

	if (process == MAP_NONE || !table->processes[process].leader_task ||
	    table->processes[process].leader_task == record->key)
		return MAP_NONE;
	for (uint32_t i = 0; i < table->threads_high; i++) {
		struct thread_row *thread = &table->threads[i];

		if (thread->process != process || thread->task != record->key)
			continue;
		(void)map_remove(&table->thread_map, thread_map_key(thread->task, thread->tid));
		thread->tid = record->tid;
		/* Cannot fail: an entry was just removed. */
		(void)map_put(&table->thread_map, thread_map_key(thread->task, thread->tid), i);
		table->processes[process].leader_task = record->key;
		return i;
	}
	return MAP_NONE;
}

/* The row of @record's thread, or MAP_NONE: a new one. */
static uint32_t find_thread(struct thread_table *table, const struct kepler_thread *record)
{
	uint32_t index = map_find(&table->thread_map, thread_map_key(record->key, record->tid));

	if (index != MAP_NONE) {
		if (is_same_thread(table, &table->threads[index], record))
			return index;
		forget_thread(table, index);
		return MAP_NONE;
	}
	if (record->flags & KEPLER_LEADER)
		return find_new_leader(table, record);
	/* A leader that another thread's exec replaced ends under that thread's tid. */
	index = map_find(&table->thread_map, thread_map_key(record->key, record->tgid));
	if (index != MAP_NONE && !is_same_thread(table, &table->threads[index], record))
		return MAP_NONE;
	return index;
}

/* ---- a pass ---- */

void thread_table_begin(struct thread_table *table, bool full, uint64_t now_ns)
{
	table->now_ns = now_ns;
	table->full = full;
	table->full_passes += full;
	table->untracked_next = false;
	table->untracked_next_ns = 0;
}

/* A living thread seen for the first time, or without room before. */
static void add_living(struct thread_table *table, const struct kepler_thread *record)
{
	uint32_t process = find_process(table, record);
	uint32_t thread = MAP_NONE;

	if (process == MAP_NONE)
		process = add_process(table, record);
	if (process != MAP_NONE)
		thread = add_thread(table, process, record);
	if (thread == MAP_NONE) {
		table->untracked_next = true;
		table->untracked_next_ns += record->run_ns;
	}
	if (process != MAP_NONE && !table->processes[process].threads &&
	    !table->processes[process].active)
		remove_process(table, process); /* added for nothing */
	if (is_baseline(table)) {
		if (thread != MAP_NONE)
			activate(table, process);
		return;
	}
	if (thread == MAP_NONE || table->untracked)
		table->balance_ns += (int64_t)record->run_ns;
	else
		charge(table, process, record->run_ns);
}

void thread_table_living(struct thread_table *table, const struct kepler_thread *record)
{
	uint32_t index = find_thread(table, record);
	struct thread_row *thread;

	if (index == MAP_NONE) {
		add_living(table, record);
		return;
	}
	thread = &table->threads[index];
	thread->seen = table->full_passes;
	if (thread->missed) {
		thread->missed = 0;
		table->missing--;
	}
	describe_process(&table->processes[thread->process], record);
	charge(table, thread->process, record->run_ns - thread->run_ns);
	thread->run_ns = record->run_ns;
}

/* An end of a thread that no pass told of. */
static void add_ended(struct thread_table *table, const struct kepler_thread *record)
{
	bool young = record->flags & KEPLER_YOUNG;
	uint32_t process;

	if (table->passes == 1 && !young)
		return; /* left the list of tasks before the baseline walked it */
	if (table->untracked && !young) {
		table->balance_ns += (int64_t)record->run_ns;
		return;
	}
	process = find_process(table, record);
	if (process == MAP_NONE && record->flags & KEPLER_START_UNKNOWN) {
		thread_table_lost_cgroup(table, record->cgroup_id, record->run_ns);
		return;
	}
	if (process == MAP_NONE)
		process = add_process(table, record);
	if (process == MAP_NONE) {
		thread_table_lost_node(table, record->run_ns);
		return;
	}
	if (record->flags & KEPLER_LEADER)
		describe_process(&table->processes[process], record);
	charge(table, process, record->run_ns);
	activate(table, process);
}

/* The row of a thread that is not known yet but exits; its time is charged when it has ended. */
static uint32_t add_exiting(struct thread_table *table, const struct kepler_thread *record)
{
	struct kepler_thread untold = *record;
	uint32_t process, thread;

	if (!(record->flags & KEPLER_YOUNG) && (table->untracked || table->passes == 1))
		return MAP_NONE; /* its end is another matter, see add_ended() */
	if (record->flags & KEPLER_START_UNKNOWN)
		return MAP_NONE;
	process = find_process(table, record);
	if (process == MAP_NONE)
		process = add_process(table, record);
	if (process == MAP_NONE)
		return MAP_NONE;
	untold.run_ns = 0;
	thread = add_thread(table, process, &untold);
	if (!table->processes[process].threads && !table->processes[process].active)
		remove_process(table, process);
	return thread;
}

static void await_end(struct thread_table *table, const struct kepler_thread *record)
{
	uint32_t index = find_thread(table, record);

	if (index == MAP_NONE)
		index = add_exiting(table, record);
	if (index == MAP_NONE)
		return;
	if (table->awaited_count == table->awaited_size &&
	    !grow_rows((void **)&table->awaited, &table->awaited_size, sizeof(*table->awaited)))
		return; /* a full pass will find out */
	table->threads[index].exit_run_ns = record->run_ns;
	table->awaited[table->awaited_count++] = (struct awaited_end){
		.task = record->key,
		.tid = table->threads[index].tid,
		.exit_ns = table->now_ns,
	};
}

/*
 * What exited long ago and did not end is a zombie, or its end was left out by the kernel. Either way it ran what its exit said;
 * if it is none of the living, the next full passes remove it. After a loss the end was counted there instead.
 */
static void charge_overdue(struct thread_table *table)
{
	uint32_t done = 0;

	while (done < table->awaited_count &&
	       table->now_ns - table->awaited[done].exit_ns >= OVERDUE_NS) {
		const struct awaited_end *end = &table->awaited[done++];
		uint32_t index = map_find(&table->thread_map, thread_map_key(end->task, end->tid));
		struct thread_row *thread;

		if (index == MAP_NONE)
			continue;
		thread = &table->threads[index];
		if (thread->exit_run_ns > thread->run_ns && table->lost_ns < end->exit_ns) {
			charge(table, thread->process, thread->exit_run_ns - thread->run_ns);
			thread->run_ns = thread->exit_run_ns;
		}
		table->overdue = true;
	}
	table->awaited_count -= done;
	memmove(table->awaited, table->awaited + done,
		table->awaited_count * sizeof(*table->awaited));
}

void thread_table_ended(struct thread_table *table, const struct kepler_thread *record)
{
	uint32_t index, process;

	if (is_baseline(table))
		return; /* ran before anything was counted */
	if (record->flags & KEPLER_EXITING) {
		await_end(table, record);
		return;
	}
	index = find_thread(table, record);
	if (index == MAP_NONE) {
		add_ended(table, record);
		return;
	}
	process = table->threads[index].process;
	if (record->flags & KEPLER_LEADER)
		describe_process(&table->processes[process], record);
	charge(table, process, record->run_ns - table->threads[index].run_ns);
	remove_thread(table, index);
}

void thread_table_lost_old(struct thread_table *table, uint64_t old_count, uint64_t old_run_ns)
{
	if (is_baseline(table))
		return;
	if (old_count)
		table->lost_ns = table->now_ns;
	table->old_lost += old_count;
	table->held_ns[0] += old_run_ns;
}

static void empty_told_list(struct thread_table *table)
{
	if (table->lost_told)
		table->lost_count = 0;
	table->lost_told = false;
}

void thread_table_lost_cgroup(struct thread_table *table, uint64_t cgroup_id, uint64_t run_ns)
{
	if (is_baseline(table) || !run_ns)
		return;
	empty_told_list(table);
	table->lost_ns = table->now_ns;
	for (uint32_t i = 0; i < table->lost_count; i++) {
		if (table->lost[i].cgroup_id == cgroup_id) {
			table->lost[i].cpu_ns += run_ns;
			return;
		}
	}
	if (table->lost_count == ARRAY_SIZE(table->lost)) {
		thread_table_lost_node(table, run_ns);
		return;
	}
	table->lost[table->lost_count++] = (struct dropped_cgroup){ cgroup_id, run_ns };
}

void thread_table_lost_node(struct thread_table *table, uint64_t run_ns)
{
	if (!is_baseline(table))
		table->balance_ns += (int64_t)run_ns;
}

/* Rows that a full pass did not have: their end is on its way, or was lost. */
static void sweep(struct thread_table *table)
{
	for (uint32_t i = 0; i < table->threads_high; i++) {
		struct thread_row *thread = &table->threads[i];

		if (thread->process == MAP_NONE || thread->seen == table->full_passes)
			continue;
		if (!thread->missed++)
			table->missing++;
		if (thread->missed >= MISSED_MAX)
			forget_thread(table, i);
	}
}

/* Settles the account of what has no name; returns what can be told of it. */
static uint64_t settle(struct thread_table *table)
{
	uint64_t held_ns = 0, told_ns;

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
		table->old_lost = 0; /* the rest were never told of, so they have no rows */
	told_ns = table->balance_ns > 0 ? (uint64_t)table->balance_ns : 0;
	table->balance_ns -= (int64_t)told_ns;
	return told_ns;
}

static void fill_sample(struct activity_sample *sample, const struct process_row *process)
{
	*sample = (struct activity_sample){
		.key = process->key,
		.cpu_ns = process->pending_ns,
		.cgroup_id = process->cgroup_id,
		.cpu = process->cpu,
		.flags = process->flags | (process->threads ? 0 : ACTIVITY_ENDED),
	};
	memcpy(sample->comm, process->comm, COMM_MAX);
}

/* Moves what is pending into samples; returns its sum. */
static uint64_t take_samples(struct thread_table *table)
{
	uint64_t busy_ns = 0;

	for (uint32_t i = 0; i < table->active_count; i++) {
		uint32_t index = table->active[i];
		struct process_row *process = &table->processes[index];

		fill_sample(&table->samples[i], process);
		busy_ns += process->pending_ns;
		process->pending_ns = 0;
		process->active = false;
		if (!process->threads)
			remove_process(table, index);
	}
	return busy_ns;
}

int thread_table_finish(struct thread_table *table, struct activity *activity)
{
	uint32_t count;

	if (table->full) {
		table->last_full = table->passes;
		table->overdue = false;
		sweep(table);
	}
	if (table->awaited_count)
		charge_overdue(table);
	count = table->active_count;
	while (table->samples_size < count) {
		if (!grow_rows((void **)&table->samples, &table->samples_size,
			       sizeof(*table->samples)))
			return -ENOMEM;
	}
	empty_told_list(table);
	activity->samples = table->samples;
	activity->count = count;
	activity->busy_ns = take_samples(table);
	activity->dropped_ns = settle(table);
	activity->dropped_cgroups = table->lost;
	activity->dropped_cgroup_count = table->lost_count;
	activity->busy_ns += activity->dropped_ns;
	for (uint32_t i = 0; i < table->lost_count; i++)
		activity->busy_ns += table->lost[i].cpu_ns;
	table->lost_told = true;
	table->active_count = 0;
	table->passes++;
	return 0;
}

size_t thread_table_count(const struct thread_table *table)
{
	return table->thread_map.used;
}

void thread_table_visit(const struct thread_table *table, activity_visit_fn *fn, void *userdata)
{
	for (uint32_t i = 0; i < table->processes_high; i++) {
		if (table->processes[i].used && table->processes[i].threads)
			fn(userdata, &table->processes[i].key);
	}
}
