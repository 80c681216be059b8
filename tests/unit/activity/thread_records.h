/* SPDX-License-Identifier: Apache-2.0 */
/* Crafted records for the tests of the thread table, and a table that has seen its baseline. */
#pragma once

#include "activity/bpf_reader/thread_table.h"
#include "tests/unit/unit.h"

#define TASK_A 0xffff888000001000ULL
#define TASK_B 0xffff888000002000ULL
#define START  5000000000ULL

static inline struct kepler_thread thread(uint64_t task, uint32_t tgid, uint32_t tid,
					  uint64_t run_ns)
{
	return (struct kepler_thread){
		.key = task,
		.run_ns = run_ns,
		.process_start_ns = START,
		.cgroup_id = 77,
		.cgroup_set = 78,
		.tgid = tgid,
		.tid = tid,
		.cpu = 3,
		.flags = tgid == tid ? KEPLER_LEADER : 0,
		.comm = "name",
	};
}

static inline struct kepler_thread young(struct kepler_thread record)
{
	record.flags |= KEPLER_YOUNG;
	return record;
}

static inline void living(struct thread_table *table, struct kepler_thread record)
{
	thread_table_living(table, &record, NULL, 1);
}

static inline void ended(struct thread_table *table, struct kepler_thread record)
{
	thread_table_ended(table, &record, NULL);
}

static inline struct activity finish(struct thread_table *table)
{
	struct activity activity = { 0 };

	assert_int_equal(thread_table_finish(table, &activity), 0);
	return activity;
}

static inline const struct activity_sample *sample_of(const struct activity *activity, uint32_t pid)
{
	const struct activity_sample *found = NULL;

	for (size_t i = 0; i < activity->count; i++) {
		if (activity->samples[i].key.pid != pid)
			continue;
		assert_null(found); /* one sample a process */
		found = &activity->samples[i];
	}
	return found;
}

/* A table past its baseline at @now_ns, which had process 100 with one thread that had run 1 s. */
static inline struct thread_table *new_table(uint64_t now_ns)
{
	struct thread_table *table = NULL;

	assert_int_equal(thread_table_new(1000, &table), 0);
	thread_table_begin(table, true, now_ns);
	living(table, thread(TASK_A, 100, 100, 1000000000));
	(void)finish(table);
	return table;
}
