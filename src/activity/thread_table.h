/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bookkeeping between what the kernel tells of threads and what a pass tells of processes.
 * Pure: no I/O, no clock.
 *
 * A thread's row holds the run time that was last told; the difference to the next record is
 * charged to its process. Order of calls in a pass: begin, the ends so far, the lost ends, the
 * living, finish. Ends may also come between passes.
 *
 * Invariant: what the kernel counted since the baseline is, for each thread, in one sample, in a
 * dropped cgroup, in dropped_ns, or still to come; never twice.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "activity/activity.h"
#include "bpf/kepler_types.h"

struct thread_table;

/*
 * @max_processes bounds processes, four times that many threads; what does not fit goes to
 * dropped_ns. 0 or -ENOMEM.
 */
int thread_table_new(uint32_t max_processes, struct thread_table **ret);
void thread_table_free(struct thread_table *table);
/*
 * Samples say in which of @sockets their time was run, where there are several; borrowed. It may
 * change between passes: another socket that comes online is told apart from the next pass on.
 */
void thread_table_tell_sockets(struct thread_table *table, const struct cpu_sockets *sockets);
/*
 * Passes do not have every process of the machine, ends do: an end whose life no pass told of is
 * not charged, since it was lived unseen.
 */
void thread_table_sees_part(struct thread_table *table);

/* Whether the next pass must hand over every living thread, idle ones too. */
bool thread_table_wants_full(const struct thread_table *table);
/* A pass begins, at @now_ns of CLOCK_BOOTTIME; @full: every living thread will be told. */
void thread_table_begin(struct thread_table *table, bool full, uint64_t now_ns);
void thread_table_living(struct thread_table *table, const struct kepler_thread *record);
/* An end, or (KEPLER_EXITING) the announcement of one. */
void thread_table_ended(struct thread_table *table, const struct kepler_thread *record);
/*
 * Ends that were lost: @old_count threads that a pass may have told of, with their whole run time
 * ...
 */
void thread_table_lost_old(struct thread_table *table, uint64_t old_count, uint64_t old_run_ns);
/* ... and such as no pass told of. */
void thread_table_lost_cgroup(struct thread_table *table, uint64_t cgroup_id, uint64_t run_ns);
void thread_table_lost_node(struct thread_table *table, uint64_t run_ns);
/* Exits that could not be told of: @count threads, which had run @run_ns. Their ends will come. */
void thread_table_untold_exits(struct thread_table *table, uint64_t count, uint64_t run_ns);
/*
 * Ends the pass and fills @activity but for its times; the first is the baseline. -ENOMEM: nothing
 * is given, nothing is lost, the next pass gives both.
 */
int thread_table_finish(struct thread_table *table, struct activity *activity);

size_t thread_table_count(const struct thread_table *table); /* threads known */
/*
 * Times that a thread found no room: the living are asked anew in each pass. Also swept threads
 * that could not be remembered: their ends, should they come, are charged at most the time since
 * the full passes that swept them.
 */
uint64_t thread_table_overflows(const struct thread_table *table);
/* Every thread of the last pass has found room. */
bool thread_table_is_complete(const struct thread_table *table);
void thread_table_visit(const struct thread_table *table, activity_visit_fn *fn, void *userdata);
