/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The work of a thread as the context switches show it (bpf/switches.bpf.h), and how it is handed
 * over. Shared by the kernel side and user space, as kepler_types.h is.
 */
#pragma once

#include "kepler_types.h"

#define KEPLER_COUNTERS_MAX 4           /* events of the processor, each in its fixed place */
#define KEPLER_PLACES_MAX   8           /* sockets with a run time of their own */
#define KEPLER_CPU_NONE     0xffffffffU /* no sibling, no place */
#define KEPLER_TICK_NS_MAX  10000000    /* the scheduler's tick, at 100 Hz */
#define KEPLER_DUTY_NS      (1U << 28)  /* of struct kepler_counter_duty, at most */

struct kepler_work {
	__u64 counted_ns; /* run time between the switches */
	__u64 paired_ns;  /* of it, with the core's other thread busy, too */
	__u64 counters[KEPLER_COUNTERS_MAX];
	__u64 place_ns[KEPLER_PLACES_MAX]; /* of counted_ns, by socket */
};

/*
 * The work of one thread, in its own storage. Only the CPU that the thread leaves writes the first,
 * and only a pass (or the thread's end) writes the second, so neither needs an atomic instruction:
 * the difference has not been handed over yet. Everything that a switch needs is in one cache line.
 */
struct kepler_thread_work {
	struct kepler_work all;
	struct kepler_work handed_over;
};

/* A record as it is written where the switches are counted. */
struct kepler_counted_thread {
	struct kepler_thread thread;
	struct kepler_work work;
};

struct kepler_counter_value {
	__u64 count;
	__u64 enabled_ns, running_ns; /* these differ while an event shares its counter */
};

/* The same times of the last tenths of a second: for how much of them an event had its counter. */
struct kepler_counter_duty {
	__u64 enabled_ns, running_ns;
};

/* One CPU. User space sets `sibling` and `place`, and the CPU itself the rest. */
struct kepler_cpu {
	/*
	 * One word, so that the sibling can read it without a lock. While the CPU is busy: for how
	 * long it has been idle, in ns. While it is idle: the same, less the time since which it
	 * is, which is negative; the idle time at a time t is then `idle` + t. Without siblings it
	 * is 0 or -1, because no clock is read.
	 */
	__s64 idle;
	__u64 since_ns;        /* the time of the last switch, with siblings */
	__s64 sibling_idle_ns; /* at that switch, of the sibling */
	__u32 sibling;         /* the core's other CPU, or KEPLER_CPU_NONE */
	__u32 place;           /* of the socket, or KEPLER_CPU_NONE */
	__u32 is_seen;         /* there was a switch, or a flush */
	__u32 turn;            /* counts switches */
	__u32 valid;           /* bit i: last[i] was read at the last switch */
	__u32 shared;          /* bit i: the event shares its counter with others */
	__u32 running;         /* the thread that the last switch has brought */
	__u32 reserved[3];
	__u64 came_run_ns; /* what that thread had run by then */
	struct kepler_counter_value last[KEPLER_COUNTERS_MAX];
	struct kepler_counter_duty duty[KEPLER_COUNTERS_MAX]; /* of shared events */
	__u64 reserved_too[3];                                /* whole cache lines */
};

/* For how long a CPU has been idle until @now_ns, by the word of struct kepler_cpu. */
static inline __s64 kepler_idle_ns_at(__s64 idle, __u64 now_ns)
{
	return idle < 0 ? idle + (__s64)now_ns : idle;
}

/*
 * The same, where it was @before_ns at the last look. The clock of a CPU that has not switched for
 * a tick is late: a sibling that has become idle since is not idle yet by that clock, and what the
 * word says is less than before.
 */
static inline __s64 kepler_idle_ns_since(__s64 before_ns, __s64 idle, __u64 now_ns)
{
	__s64 idle_ns = kepler_idle_ns_at(idle, now_ns);

	if (idle_ns < before_ns && before_ns - idle_ns < KEPLER_TICK_NS_MAX)
		return before_ns;
	return idle_ns;
}

/*
 * The part of a slice in which a sibling was busy, whose idle time has grown from @before_ns to
 * @now_ns during the slice. Clocks of two CPUs may differ a little.
 */
static inline __u64 kepler_paired_ns(__u64 slice_ns, __s64 before_ns, __s64 now_ns)
{
	__s64 idle_ns = now_ns - before_ns;

	if (idle_ns <= 0)
		return slice_ns;
	return (__u64)idle_ns < slice_ns ? slice_ns - (__u64)idle_ns : 0;
}

static inline __u64 kepler_extrapolate(__u64 count, __u64 enabled_ns, __u64 running_ns)
{
	if (running_ns >= enabled_ns)
		return count;
	if (enabled_ns >> 32) { /* longer than 4 s: less exact, so that no product overflows */
		enabled_ns >>= 12;
		running_ns >>= 12;
	}
	if (!running_ns)
		return 0;
	return count / running_ns * enabled_ns + count % running_ns * enabled_ns / running_ns;
}

/* @enabled_ns is less than KEPLER_DUTY_NS. */
static inline void kepler_duty_add(struct kepler_counter_duty *duty, __u64 enabled_ns,
				   __u64 running_ns)
{
	duty->enabled_ns += enabled_ns;
	duty->running_ns += running_ns;
	if (duty->enabled_ns >= KEPLER_DUTY_NS) {
		duty->enabled_ns /= 2;
		duty->running_ns /= 2;
	}
}

/*
 * The count from @before to @now. An event that had its counter for a part of that time is
 * extrapolated; one that was opened again in between counts nothing.
 *
 * Events take turns at a counter, some milliseconds each. A slice that is not much longer than that
 * has the counter for all of its time or for none, so it is extrapolated by the turns of the last
 * tenths of a second: its own times would make nothing of the slices without a counter, and no more
 * of the others.
 */
static inline __u64 kepler_counter_difference(const struct kepler_counter_value *before,
					      const struct kepler_counter_value *now,
					      struct kepler_counter_duty *duty)
{
	__u64 enabled_ns = now->enabled_ns - before->enabled_ns;
	__u64 running_ns = now->running_ns - before->running_ns;
	__u64 count = now->count - before->count;

	if (now->count < before->count || now->enabled_ns < before->enabled_ns ||
	    now->running_ns < before->running_ns)
		return 0;
	if (enabled_ns >= KEPLER_DUTY_NS) {
		duty->enabled_ns = duty->running_ns = 0;
		return kepler_extrapolate(count, enabled_ns, running_ns);
	}
	kepler_duty_add(duty, enabled_ns, running_ns);
	return kepler_extrapolate(count, duty->enabled_ns, duty->running_ns);
}
