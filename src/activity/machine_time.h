/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine's own account of its CPU time, for all uses: the first lines of /proc/stat.
 *
 * Busy time is the time of tasks, including guests, and of interrupts, without steal, which is the
 * time of other virtual machines. Most kernels sample it at each tick, while the run time of a task
 * is exact. Idle time is exact where ticks stop in idle. The sums include CPUs that are offline
 * now.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct machine_time {
	uint64_t time_ns; /* CLOCK_MONOTONIC of the reading */
	uint64_t boottime_ns;
	uint64_t busy_ns; /* cumulative, all CPUs; cut to ticks of USER_HZ in each of its parts */
	uint64_t idle_ns; /* also of all CPUs; waiting for I/O is idle */
	uint64_t steal_ns;
	uint32_t cpus; /* online */
};

/*
 * Pure: the text of /proc/stat, or its beginning, with USER_HZ ticks of @tick_ns. Sets all but the
 * times. 0; -EINVAL: no such text; -EMSGSIZE: it ends within the lines of CPUs.
 */
int machine_time_parse(const char *text, size_t len, uint64_t tick_ns, struct machine_time *ret);

struct machine_clock;

/* Opens @procfs/stat. 0 or -errno: procfs may hide it (subset=pid). */
int machine_clock_open(const char *procfs, struct machine_clock **ret);
void machine_clock_close(struct machine_clock *clock); /* NULL is fine */
/* One pread(). 0 or -errno. */
int machine_clock_read(struct machine_clock *clock, struct machine_time *ret);
