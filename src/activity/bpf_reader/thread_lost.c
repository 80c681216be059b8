// SPDX-License-Identifier: Apache-2.0
/*
 * Run time of unknown threads or processes: of lost ends, and of threads that did not fit. For some
 * the cgroup is known, and so the owner; the rest is charged to the node, through `balance_ns`.
 */
#include "activity/bpf_reader/thread_table_state.h"
#include "base/macro.h"

static void empty_reported_list(struct thread_table *table)
{
	if (table->lost_reported)
		table->lost_count = 0;
	table->lost_reported = false;
}

void thread_table_lost_old(struct thread_table *table, uint64_t old_count, uint64_t old_run_ns)
{
	if (thread_table_is_baseline(table))
		return;
	if (old_count)
		table->last_lost = table->passes;
	table->old_lost += old_count;
	table->held_ns[0] += old_run_ns;
}

void thread_table_lost_cgroup(struct thread_table *table, uint64_t cgroup_id, uint64_t run_ns)
{
	if (thread_table_is_baseline(table) || !run_ns)
		return;
	empty_reported_list(table);
	table->last_lost = table->passes;
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
	if (!thread_table_is_baseline(table))
		table->balance_ns += (int64_t)run_ns;
}

void thread_table_tell_lost(struct thread_table *table, struct activity *activity)
{
	empty_reported_list(table);
	activity->dropped_cgroups = table->lost;
	activity->dropped_cgroup_count = table->lost_count;
	for (uint32_t i = 0; i < table->lost_count; i++)
		activity->busy_ns += table->lost[i].cpu_ns;
	table->lost_reported = true;
}
