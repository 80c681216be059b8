/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bookkeeping between the kernel's records of threads and a pass's samples of processes. Pure:
 * no I/O, no clock.
 *
 * A thread's row holds the run time that was last reported; the difference to the next record is
 * charged to its process. Order of calls in a pass: begin, the ends so far, the lost ends, the
 * living, finish. Ends may also come between passes.
 *
 * Invariant: the run time that the kernel counted since the baseline is, for each thread, in one
 * sample, in a dropped cgroup, in dropped_ns, or still to come; it is never in two of them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "activity/activity_reader.h"
#include "bpf/kepler_types.h"
#include "bpf/kepler_work.h"

struct thread_table;

/*
 * @max_processes limits the processes, and the threads to four times that number; the time of
 * others goes to dropped_ns. 0 or -ENOMEM.
 */
int thread_table_new(uint32_t max_processes, struct thread_table **ret);
void thread_table_free(struct thread_table *table);
/*
 * From now on samples have their time per socket of @sockets, if there are several; borrowed. It
 * may change between passes: another socket that comes online is distinguished from the next pass
 * on.
 */
void thread_table_tell_sockets(struct thread_table *table, const struct cpu_sockets *sockets);
/*
 * From now on samples have their cycles, by the frequency of each thread's CPU at the time of the
 * pass; borrowed, and changes between passes. NULL: they have none.
 */
void thread_table_tell_frequencies(struct thread_table *table,
				   const struct cpu_frequencies *frequencies);
/*
 * From now on records come with what the context switches have shown, and samples have these
 * @signals of it; a record without it has none of them.
 */
void thread_table_tell_signals(struct thread_table *table, uint32_t signals);
/*
 * Declares that passes do not report every process of the machine, but ends do: the end of a
 * process that no pass reported is not charged, because it ran unseen.
 */
void thread_table_sees_part(struct thread_table *table);

/* Returns true if the next pass must report every living thread, idle ones too. */
bool thread_table_wants_full(const struct thread_table *table);
/* A pass begins, at @now_ns of CLOCK_BOOTTIME; @full: every living thread will be reported. */
void thread_table_begin(struct thread_table *table, bool full, uint64_t now_ns);
/* @works: of the records, or NULL. */
void thread_table_living(struct thread_table *table, const struct kepler_thread *records,
			 const struct kepler_work *works, size_t count);
/* An end, or (KEPLER_EXITING) the announcement of one. @work may be NULL. */
void thread_table_ended(struct thread_table *table, const struct kepler_thread *record,
			const struct kepler_work *work);
/*
 * Lost ends of @old_count threads that a pass may have reported, with their whole run time ...
 */
void thread_table_lost_old(struct thread_table *table, uint64_t old_count, uint64_t old_run_ns);
/* ... and of threads that no pass reported. */
void thread_table_lost_cgroup(struct thread_table *table, uint64_t cgroup_id, uint64_t run_ns);
void thread_table_lost_node(struct thread_table *table, uint64_t run_ns);
/* Exits that could not be reported: @count threads, which had run @run_ns. Their ends will come. */
void thread_table_unreported_exits(struct thread_table *table, uint64_t count, uint64_t run_ns);
/*
 * Ends the pass and fills @activity except its times; the first is the baseline. -ENOMEM: no sample
 * is returned and none is lost, the next pass returns both.
 */
int thread_table_finish(struct thread_table *table, struct activity *activity);

size_t thread_table_count(const struct thread_table *table); /* threads known */
/*
 * Times that a thread did not fit: living threads are retried in each pass. Also counts swept
 * threads that could not be remembered: their ends, if they come, are charged with at most the time
 * since the full passes that swept them.
 */
uint64_t thread_table_overflows(const struct thread_table *table);
/* Counted time (SIGNAL_COUNTED_TIME) of threads without a process, in ns: no sample has it. */
uint64_t thread_table_work_lost_ns(const struct thread_table *table);
/* Returns true if every thread of the last pass did fit. */
bool thread_table_is_complete(const struct thread_table *table);
void thread_table_visit(const struct thread_table *table, activity_visit_fn *fn, void *userdata);
