// SPDX-License-Identifier: Apache-2.0
/*
 * Threads are keyed by (task address, tid). The address alone is not enough: it is used again,
 * often by the same process, and the end of the first owner may still be on its way. The tid alone
 * is not enough either: when a thread that does not lead execs, it takes over the leader's tid and
 * start, and the old leader dies under the thread's tid. Looking up knows both.
 *
 * Rows keep their index for life; free ones are chained. Both arrays double and never shrink.
 */
#include <stdlib.h>
#include <string.h>

#include "activity/bpf_reader/thread_table_state.h"
#include "base/array.h"
#include "base/macro.h"

static struct map_key process_map_key(uint32_t pid, uint64_t start_ns)
{
	return (struct map_key){ start_ns, pid };
}

struct map_key thread_rows_key(uint64_t task, uint32_t tid)
{
	return (struct map_key){ task, tid };
}

/* Room for one process more than there are rows. */
static bool reserve_sockets(struct thread_table *table)
{
	uint32_t before = table->pending_cells, rows = table->processes_high + 1U;

	if (!table->places)
		return true;
	if (ARRAY_RESERVE(table->pending_socket_ns, table->pending_cells,
			  (size_t)rows * table->places) < 0)
		return false;
	memset(table->pending_socket_ns + before, 0,
	       (table->pending_cells - before) * sizeof(*table->pending_socket_ns));
	return true;
}

/* Time pending in the old number of places loses its socket; without memory all time does. */
void thread_rows_follow_sockets(struct thread_table *table)
{
	uint32_t places = cpu_sockets_differ(table->sockets) ? table->sockets->count : 0;

	if (places == table->places)
		return;
	free(TAKE_PTR(table->pending_socket_ns));
	free(TAKE_PTR(table->sample_socket_ns));
	table->pending_cells = table->sample_cells = 0;
	table->places = places;
	if (!reserve_sockets(table))
		table->places = 0;
}

static bool reserve_process(struct thread_table *table)
{
	uint32_t active_size = table->processes_size;

	if (table->processes_free != MAP_NONE)
		return true;
	if (!reserve_sockets(table) || !thread_work_reserve(table))
		return false;
	if (table->processes_high < table->processes_size)
		return true;
	return ARRAY_RESERVE(table->active, active_size, active_size + 1U) == 0 &&
	       ARRAY_RESERVE(table->processes, table->processes_size, table->processes_size + 1U) ==
		       0;
}

void thread_rows_activate(struct thread_table *table, uint32_t index)
{
	struct process_row *process = &table->processes[index];

	if (process->active)
		return;
	process->active = true;
	table->active[table->active_count++] = index;
}

static void charge_sockets(struct thread_table *table, uint32_t index, uint64_t run_ns,
			   uint32_t cpu, const struct kepler_work *work)
{
	uint64_t *pending_ns = table->pending_socket_ns + (size_t)index * table->places;
	uint32_t place = cpu_sockets_of(table->sockets, cpu);

	if (work && thread_work_spread(work, table->places, run_ns, pending_ns))
		return;
	if (place < table->places)
		pending_ns[place] += run_ns;
}

void thread_rows_charge(struct thread_table *table, uint32_t index, uint64_t run_ns, uint32_t cpu,
			const struct kepler_work *work)
{
	if (thread_work_charge(table, index, work))
		thread_rows_activate(table, index);
	if (!run_ns)
		return;
	table->processes[index].pending_ns += run_ns;
	table->processes[index].pending_cycles +=
		cpu_frequencies_cycles(table->frequencies, cpu, run_ns);
	if (table->places)
		charge_sockets(table, index, run_ns, cpu, work);
	thread_rows_activate(table, index);
}

/*
 * Takes facts about the process from @record; an end has the facts of its thread, so only the
 * leader's count.
 */
void thread_rows_describe_process(struct process_row *process, const struct kepler_thread *record)
{
	process->cgroup_id = record->cgroup_id;
	process->cgroup_set = record->cgroup_set;
	process->cpu = record->cpu;
	if (record->parent)
		process->parent = (struct process_key){ record->parent, record->parent_start_ns };
	process->flags = (record->flags & KEPLER_KTHREAD ? ACTIVITY_KTHREAD : 0) |
			 (record->flags & KEPLER_EXE_READ ? ACTIVITY_EXE_READ : 0) |
			 (record->flags & KEPLER_HYPERVISOR ? ACTIVITY_HYPERVISOR : 0) |
			 (record->flags & KEPLER_USER ? ACTIVITY_USER : 0);
	process->user = record->user;
	memcpy(process->comm, record->comm, COMM_MAX - 1);
	process->comm[COMM_MAX - 1] = '\0';
}

uint32_t thread_rows_add_process(struct thread_table *table, const struct kepler_thread *record)
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
	thread_rows_describe_process(&table->processes[index], record);
	return index;
}

void thread_rows_remove_process(struct thread_table *table, uint32_t index)
{
	struct process_row *process = &table->processes[index];

	(void)map_remove(&table->process_map,
			 process_map_key(process->key.pid, process->key.start_ns));
	process->used = false;
	process->next_free = table->processes_free;
	table->processes_free = index;
}

/*
 * The youngest process of @tgid, for an end after its leader was freed. Rare, so a scan is enough.
 */
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

uint32_t thread_rows_find_process(const struct thread_table *table,
				  const struct kepler_thread *record)
{
	if (record->flags & KEPLER_START_UNKNOWN)
		return find_youngest(table, record->tgid);
	return map_find(&table->process_map,
			process_map_key(record->tgid, record->process_start_ns));
}

uint32_t thread_rows_add_thread(struct thread_table *table, uint32_t process,
				const struct kepler_thread *record)
{
	uint32_t index = table->threads_free;

	if (index == MAP_NONE && table->threads_high == table->threads_size &&
	    ARRAY_RESERVE(table->threads, table->threads_size, table->threads_size + 1U) < 0)
		return MAP_NONE;
	if (index == MAP_NONE)
		index = table->threads_high;
	if (map_put(&table->thread_map, thread_rows_key(record->key, record->tid), index) < 0)
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

/* Updates the time of an exited thread that will be charged when its end comes. */
static void expect(struct thread_table *table, const struct thread_row *thread, int sign)
{
	if (!thread->exit_run_ns)
		return;
	table->coming.threads += (uint64_t)sign;
	if (thread->exit_run_ns > thread->run_ns)
		table->coming.run_ns += (uint64_t)sign * (thread->exit_run_ns - thread->run_ns);
}

void thread_rows_set_run(struct thread_table *table, uint32_t index, uint64_t run_ns,
			 uint64_t exit_run_ns)
{
	struct thread_row *thread = &table->threads[index];

	expect(table, thread, -1);
	thread->run_ns = run_ns;
	thread->exit_run_ns = exit_run_ns;
	expect(table, thread, 1);
}

void thread_rows_remove_thread(struct thread_table *table, uint32_t index)
{
	struct thread_row *thread = &table->threads[index];

	(void)map_remove(&table->thread_map, thread_rows_key(thread->task, thread->tid));
	if (thread->missed)
		table->missing--;
	thread_rows_set_run(table, index, thread->run_ns, 0);
	if (--table->processes[thread->process].threads == 0)
		thread_rows_activate(table, thread->process); /* its last sample */
	thread->process = MAP_NONE;
	thread->missed = table->threads_free;
	table->threads_free = index;
}

bool thread_rows_is_lost(const struct thread_table *table, const struct thread_row *thread)
{
	return table->old_lost && thread->run_ns;
}

/*
 * Removes a row without an end to come: if the end was lost, the reported time is in the sum of the
 * lost ones.
 */
void thread_rows_forget_thread(struct thread_table *table, uint32_t index)
{
	if (thread_rows_is_lost(table, &table->threads[index])) {
		table->old_lost--;
		table->balance_ns -= (int64_t)table->threads[index].run_ns;
	}
	thread_rows_remove_thread(table, index);
}

/* ---- which thread does this record belong to? ---- */

/*
 * A thread's run time never falls, but its exit may be read after a walk that saw the thread later
 * than it exited.
 */
static bool is_same_thread(const struct thread_table *table, const struct thread_row *thread,
			   const struct kepler_thread *record)
{
	const struct process_row *process = &table->processes[thread->process];

	return process->key.pid == record->tgid &&
	       (record->flags & KEPLER_EXITING || record->run_ns >= thread->run_ns) &&
	       (record->flags & KEPLER_START_UNKNOWN ||
		process->key.start_ns == record->process_start_ns);
}

/*
 * After an exec by a thread that was not the leader: its row still has its old tid. Rare, so a scan
 * is enough.
 */
static uint32_t find_new_leader(struct thread_table *table, const struct kepler_thread *record)
{
	uint32_t process = thread_rows_find_process(table, record);

	if (process == MAP_NONE || !table->processes[process].leader_task ||
	    table->processes[process].leader_task == record->key)
		return MAP_NONE;
	for (uint32_t i = 0; i < table->threads_high; i++) {
		struct thread_row *thread = &table->threads[i];

		if (thread->process != process || thread->task != record->key)
			continue;
		(void)map_remove(&table->thread_map, thread_rows_key(thread->task, thread->tid));
		thread->tid = record->tid;
		/* Cannot fail: an entry was just removed. */
		(void)map_put(&table->thread_map, thread_rows_key(thread->task, thread->tid), i);
		table->processes[process].leader_task = record->key;
		return i;
	}
	return MAP_NONE;
}

void thread_rows_prefetch(const struct thread_table *table, const struct kepler_thread *record)
{
	map_prefetch(&table->thread_map, thread_rows_key(record->key, record->tid));
}

/* The row of @record's thread, or MAP_NONE: a new one. */
uint32_t thread_rows_find_thread(struct thread_table *table, const struct kepler_thread *record)
{
	uint32_t index = map_find(&table->thread_map, thread_rows_key(record->key, record->tid));

	if (index != MAP_NONE) {
		if (is_same_thread(table, &table->threads[index], record))
			return index;
		thread_rows_forget_thread(table, index);
		return MAP_NONE;
	}
	if (record->flags & KEPLER_LEADER)
		return find_new_leader(table, record);
	/* A leader that another thread's exec replaced ends under that thread's tid. */
	index = map_find(&table->thread_map, thread_rows_key(record->key, record->tgid));
	if (index != MAP_NONE && !is_same_thread(table, &table->threads[index], record))
		return MAP_NONE;
	return index;
}
