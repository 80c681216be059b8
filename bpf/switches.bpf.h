/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The work of each thread while it ran, taken at the context switches: events of the processor, the
 * time next to a busy sibling, the time in each socket. Its programs are loaded only if there is
 * something to count; CPU time itself needs no hook (kepler.bpf.c).
 *
 * At a switch the difference since the CPU's last one goes to the thread that leaves. It is kept in
 * the thread's own storage, which a switch only looks up: memory is reserved when a thread is made,
 * and by the passes for the threads that were there before. Under the lock of the run queue nothing
 * is reserved, because that could wait for the lock itself.
 *
 * Threads that run across a pass are charged by `flush`, which user space runs on each busy CPU
 * before a pass. It runs in an interrupt, and switches run with interrupts disabled, so on one CPU
 * neither comes on top of the other.
 */
#pragma once

#include "kepler_core.bpf.h"
#include "kepler_work.h"

#define CHECK_EVERY    64      /* switches */
#define CHECK_AFTER_NS 1000000 /* of a thread's run time */
#define ERRORS         4095    /* of an errno, as a number without a sign */

/* Set before load: what is not counted costs nothing, because the verifier removes its code. */
const volatile __u32 counters = 0; /* bit i: events has event i */
const volatile bool has_siblings = false;
const volatile bool has_places = false;

__u64 threads_without_work; /* no memory for their storage */

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct kepler_thread_work);
} thread_work SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* user space sets it to the number of CPUs */
	__type(key, __u32);
	__type(value, struct kepler_cpu);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, KEPLER_COUNTERS_MAX); /* user space sets it: as many for each CPU */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} events SEC(".maps");

/*
 * The time by the clock that the scheduler has just read for its own account: reading
 * CLOCK_MONOTONIC takes 65 ns on some machines, more than all else of a switch. It leads from
 * @task, which runs on this CPU, to the CPU's run queue. In a flush it is as old as the account of
 * that task, which is a tick at most.
 */
static __always_inline __u64 scheduler_clock_ns(struct task_struct *task)
{
	if (!bpf_core_field_exists(task->se.cfs_rq))
		return bpf_ktime_get_ns();
	return task->se.cfs_rq->rq->clock;
}

/* The part of the ending slice in which the core's other thread was busy. */
static __always_inline __u64 paired_time(struct kepler_cpu *cpu, __u64 slice_ns, __u64 now_ns)
{
	__u32 number = cpu->sibling;
	struct kepler_cpu *sibling = bpf_map_lookup_elem(&cpus, &number);
	__s64 before_ns = cpu->sibling_idle_ns;

	if (!sibling)
		return 0;
	cpu->sibling_idle_ns =
		kepler_idle_ns_since(before_ns, *(const volatile __s64 *)&sibling->idle, now_ns);
	return kepler_paired_ns(slice_ns, before_ns, cpu->sibling_idle_ns);
}

/* All of event @i, with its times. */
static __always_inline bool read_all(__u32 number, __u32 i, struct kepler_counter_value *ret)
{
	struct bpf_perf_event_value value;

	if (bpf_perf_event_read_value(&events, number * KEPLER_COUNTERS_MAX + i, &value,
				      sizeof(value)))
		return false;
	ret->count = value.counter;
	ret->enabled_ns = value.enabled;
	ret->running_ns = value.running;
	return true;
}

/* Only its count, which takes half as long. */
static __always_inline bool read_count(__u32 number, __u32 i, __u64 *ret)
{
	*ret = bpf_perf_event_read(&events, number * KEPLER_COUNTERS_MAX + i);
	return *ret < (__u64)-ERRORS; /* the helper reports errors so */
}

/*
 * The count of event @i, which was not known to share its counter, since the last switch. Its times
 * cover the time since they were last looked at.
 */
static __always_inline __u64 find_shared(struct kepler_cpu *cpu, __u32 i,
					 const struct kepler_counter_value *now)
{
	const struct kepler_counter_value *last = &cpu->last[i];
	__u64 enabled_ns = now->enabled_ns - last->enabled_ns;
	__u64 running_ns = now->running_ns - last->running_ns;

	if (enabled_ns <= running_ns)
		return now->count - last->count;
	cpu->shared |= 1U << i;
	cpu->duty[i] = (struct kepler_counter_duty){ 0 };
	return kepler_extrapolate(now->count - last->count, enabled_ns, running_ns);
}

/*
 * The count of event @i of this CPU since the last switch. Events are taken to have a counter of
 * their own; every now and then, and after long slices (@is_turn), their times show whether that is
 * so, and from then on those are read each time.
 */
static __always_inline __u64 count(struct kepler_cpu *cpu, __u32 number, __u32 i, bool is_turn)
{
	struct kepler_counter_value *last = &cpu->last[i], now;
	bool was_valid = cpu->valid & 1U << i, is_shared = cpu->shared & 1U << i;
	__u64 counted = 0;

	if (!is_shared && !is_turn) {
		if (!read_count(number, i, &now.count))
			goto unknown;
		if (was_valid && now.count > last->count)
			counted = now.count - last->count;
		last->count = now.count;
		cpu->valid |= 1U << i;
		return counted;
	}
	if (!read_all(number, i, &now))
		goto unknown;
	if (was_valid && is_shared)
		counted = kepler_counter_difference(last, &now, &cpu->duty[i]);
	else if (was_valid && now.count >= last->count)
		counted = find_shared(cpu, i, &now);
	*last = now;
	cpu->valid |= 1U << i;
	return counted;
unknown:
	cpu->valid &= ~(1U << i);
	return 0;
}

/*
 * @task leaves the CPU, or is charged while it runs; @now_ns is 0 without siblings. Run time is the
 * scheduler's own account, which is up to date right before a switch: no clock is read.
 *
 * Where a kernel guards a process from BPF no program runs at its switches: a slice of another
 * thread than the one that came is of several, and neither its time nor its events are counted.
 */
static __always_inline void charge(struct kepler_cpu *cpu, __u32 number, struct task_struct *task,
				   __u64 now_ns, bool is_turn)
{
	struct kepler_thread_work *storage = NULL;
	bool is_own_slice = cpu->running == (__u32)task->pid;
	__u64 paired_ns = 0, run_ns = task->se.sum_exec_runtime - cpu->came_run_ns;

	if (has_siblings) {
		paired_ns = paired_time(cpu, now_ns - cpu->since_ns, now_ns);
		if (!cpu->is_seen)
			paired_ns = 0; /* there is no slice yet */
		cpu->since_ns = now_ns;
	}
	if (task->pid && is_own_slice)
		storage = bpf_task_storage_get(&thread_work, task, NULL, 0);
	if (storage) {
		storage->all.counted_ns += run_ns;
		if (has_siblings)
			storage->all.paired_ns += paired_ns < run_ns ? paired_ns : run_ns;
		if (has_places && cpu->place < KEPLER_PLACES_MAX)
			storage->all.place_ns[cpu->place] += run_ns;
	}
	is_turn |= is_own_slice && run_ns > CHECK_AFTER_NS;
#pragma unroll
	for (__u32 i = 0; i < KEPLER_COUNTERS_MAX; i++) {
		if (counters & 1U << i) {
			__u64 counted = count(cpu, number, i, is_turn);

			if (storage)
				storage->all.counters[i] += counted;
		}
	}
}

static __always_inline void set_idle(struct kepler_cpu *cpu, bool is_idle, __u64 now_ns)
{
	if (!has_siblings)
		cpu->idle = is_idle ? -1 : 0;
	else if (cpu->idle < 0 && !is_idle)
		cpu->idle += (__s64)now_ns;
	else if (cpu->idle >= 0 && is_idle)
		cpu->idle -= (__s64)now_ns;
}

/* @next_run_ns: what the thread that comes has run so far. */
static __always_inline int switched(struct task_struct *prev, int next_pid, __u64 next_run_ns)
{
	__u32 number = bpf_get_smp_processor_id();
	struct kepler_cpu *cpu = bpf_map_lookup_elem(&cpus, &number);
	__u64 now_ns = 0;

	if (!cpu)
		return 0;
	if (has_siblings)
		now_ns = scheduler_clock_ns(prev);
	charge(cpu, number, prev, now_ns, counters && !(cpu->turn++ % CHECK_EVERY));
	set_idle(cpu, next_pid == 0, now_ns);
	cpu->running = (__u32)next_pid;
	cpu->came_run_ns = next_run_ns;
	cpu->is_seen = 1;
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switch_typed, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return switched(prev, next->pid, next->se.sum_exec_runtime);
}

/* The same where typed tracepoints are refused: the thread that leaves is still the current one. */
SEC("raw_tp/sched_switch")
int BPF_PROG(switch_raw, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return switched(bpf_get_current_task_btf(), BPF_CORE_READ(next, pid),
			BPF_CORE_READ(next, se.sum_exec_runtime));
}

/* Charges the thread that runs on this CPU; the first time it says what the CPU does. */
SEC("raw_tp")
int flush(void *ctx)
{
	__u32 number = bpf_get_smp_processor_id();
	struct kepler_cpu *cpu = bpf_map_lookup_elem(&cpus, &number);
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 now_ns = 0;

	if (!cpu)
		return 0;
	if (has_siblings)
		now_ns = scheduler_clock_ns(task);
	charge(cpu, number, task, now_ns, true);
	if (!cpu->is_seen)
		set_idle(cpu, task->pid == 0, now_ns);
	cpu->running = (__u32)task->pid;
	cpu->came_run_ns = task->se.sum_exec_runtime;
	cpu->is_seen = 1;
	return 0;
}

/* ---- storage for new threads ---- */

static __always_inline int made(struct task_struct *task)
{
	if (!bpf_task_storage_get(&thread_work, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE))
		__sync_fetch_and_add(&threads_without_work, 1);
	return 0;
}

SEC("tp_btf/task_newtask")
int BPF_PROG(thread_made, struct task_struct *task, unsigned long clone_flags)
{
	return made(task);
}
