/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that /proc shows and BPF's passes do not. Some kernels guard processes from being
 * looked at, their first one as a rule. They are read from /proc instead, in ticks, and it is said
 * how many there are. What is guarded beyond the limit is in the machine's account alone, see
 * unseen_time.h.
 *
 * Exact, since nothing is inferred from clocks: a process that started before a pass which tells of
 * every thread, and lives still, must have been in it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "activity/thread_table.h"

#define UNSEEN_MAX 32 /* of them that are watched; there may be more */

struct unseen;

/* 0 or -errno. */
int unseen_open(const char *procfs, struct unseen **ret);
void unseen_close(struct unseen *unseen);
/*
 * Looks through all of procfs: which processes are in none of the passes that @table knows, the
 * last full one of which was at @full_boottime_ns? Costs as much as listing /proc. Returns how many
 * there are, UNSEEN_MAX at most, of which those that can be are watched. Or -errno: how many is not
 * known, and those that were watched still are. -EAGAIN: passes do not tell of all threads; -EXDEV:
 * procfs is not of the pid namespace that BPF counts in; -EACCES: it hides processes; or what
 * reading it failed with.
 */
int unseen_look(struct unseen *unseen, const struct thread_table *table, uint64_t full_boottime_ns);
/*
 * What each of them ran since the last call, or since it was found; one small read a process. One
 * that has ended is told with its flag and no time, and forgotten. Returns how many of @samples
 * were written; their cgroups are unknown.
 */
size_t unseen_take(struct unseen *unseen, struct activity_sample samples[UNSEEN_MAX]);
/* NULL has none. */
uint32_t unseen_count(const struct unseen *unseen);
uint32_t unseen_first_pid(const struct unseen *unseen); /* 0: there is none */
uint64_t unseen_cpu_ns(const struct unseen *unseen);
