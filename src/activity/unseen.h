/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes in /proc that BPF's passes do not report. Some kernels guard processes from BPF,
 * usually their first one. They are read from /proc instead, in ticks, and their number is
 * reported. Guarded processes beyond the limit are only in the machine's account, see
 * unseen_time.h.
 *
 * This is exact, since nothing is inferred from clocks: a process that started before a full pass
 * and still lives must have been in it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "activity/bpf_reader/thread_table.h"

#define UNSEEN_MAX 32 /* of them that are watched; there may be more */

struct unseen;

/* 0 or -errno. */
int unseen_open(const char *procfs, struct unseen **ret);
void unseen_close(struct unseen *unseen);
/*
 * Searches all of procfs for processes that are in none of the passes that @table knows. The last
 * full pass was at @full_boottime_ns. Costs as much as listing /proc. Returns their number,
 * at most UNSEEN_MAX, and watches those that can be read. On -errno the number is unknown, and
 * processes that were watched still are. -EAGAIN: passes do not report all threads; -EXDEV: procfs
 * belongs to another pid namespace than BPF's; -EACCES: it hides processes; else the error of
 * reading it.
 */
int unseen_look(struct unseen *unseen, const struct thread_table *table, uint64_t full_boottime_ns);
/*
 * The run time of each of them since the last call, or since it was found; one small read per
 * process. A process that has ended is reported with its flag and no time, and forgotten. Returns
 * how many of @samples were written; their cgroups are unknown.
 */
size_t unseen_take(struct unseen *unseen, struct activity_sample samples[UNSEEN_MAX]);
/* NULL has none. */
uint32_t unseen_count(const struct unseen *unseen);
uint32_t unseen_first_pid(const struct unseen *unseen); /* 0: there is none */
uint64_t unseen_cpu_ns(const struct unseen *unseen);
