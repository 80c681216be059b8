// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * For bench/bench-switches.c: a program that does nothing, and the shape that other meters count
 * context switches in: tables for the whole machine, of processes and of the times at which threads
 * came, from which the entry is removed when the thread leaves.
 */
#include "kepler_core.bpf.h"

#define COUNTERS 3

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile __u32 counters = 0; /* how many of the events are read */

__u64 clock_ns; /* the last that shape_clock has read */

struct process {
	__u64 cgroup_id, run_ns, counted[COUNTERS];
	char comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, __u32);
	__type(value, struct process);
} processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, __u32);
	__type(value, __u64);
} came_ns SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 256);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} shape_event_0 SEC(".maps"), shape_event_1 SEC(".maps"), shape_event_2 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 256);
	__type(key, __u32);
	__type(value, __u64);
} last_0 SEC(".maps"), last_1 SEC(".maps"), last_2 SEC(".maps");

static __always_inline __u64 read_event(void *events, void *last, __u32 cpu)
{
	struct bpf_perf_event_value value = {};
	__u64 *before, difference = 0;

	if (bpf_perf_event_read_value(events, cpu, &value, sizeof(value)))
		return 0;
	before = bpf_map_lookup_elem(last, &cpu);
	if (before && value.counter > *before)
		difference = value.counter - *before;
	bpf_map_update_elem(last, &cpu, &value.counter, BPF_ANY);
	return difference;
}

static __always_inline void know_process(__u32 tgid)
{
	struct process fresh = {};

	if (bpf_map_lookup_elem(&processes, &tgid))
		return;
	fresh.cgroup_id = bpf_get_current_cgroup_id();
	bpf_get_current_comm(fresh.comm, sizeof(fresh.comm));
	bpf_map_update_elem(&processes, &tgid, &fresh, BPF_NOEXIST);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(shape_tables, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u32 cpu = bpf_get_smp_processor_id(), tid = prev->pid, tgid = prev->tgid;
	__u64 now_ns = bpf_ktime_get_ns(), run_ns = 0, counted[COUNTERS] = {};
	struct process *process;
	__u64 *came;

	if (counters > 0)
		counted[0] = read_event(&shape_event_0, &last_0, cpu);
	if (counters > 1)
		counted[1] = read_event(&shape_event_1, &last_1, cpu);
	if (counters > 2)
		counted[2] = read_event(&shape_event_2, &last_2, cpu);
	came = bpf_map_lookup_elem(&came_ns, &tid);
	if (came) {
		run_ns = now_ns - *came;
		bpf_map_delete_elem(&came_ns, &tid);
	}
	process = bpf_map_lookup_elem(&processes, &tgid);
	if (process && run_ns) {
		process->run_ns += run_ns;
		for (int i = 0; i < COUNTERS; i++)
			process->counted[i] += counted[i];
	}
	know_process(tgid);
	tid = next->pid;
	now_ns = bpf_ktime_get_ns();
	bpf_map_update_elem(&came_ns, &tid, &now_ns, BPF_ANY);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(shape_empty, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return 0;
}

/* The cost of reading the clock alone. */
SEC("tp_btf/sched_switch")
int BPF_PROG(shape_clock, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	clock_ns = bpf_ktime_get_ns();
	return 0;
}
