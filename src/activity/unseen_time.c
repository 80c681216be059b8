// SPDX-License-Identifier: Apache-2.0
#include "activity/unseen_time.h"

#include <math.h>

#include "base/num.h"

#define DEVIATIONS     5.0
#define USER_TICK_NS   (10 * NSEC_PER_MSEC)
#define CUT_NS         (5 * USER_TICK_NS) /* busy time is a sum of five numbers, each cut */
#define TICKS_PER_CPU  2
#define STATIC_NS      (500 * NSEC_PER_MSEC)
#define CLOCKS_SKEW_NS (10 * NSEC_PER_MSEC) /* two clocks that are read one after the other */

void unseen_time_init(struct unseen_time *unseen, uint64_t tick_ns)
{
	*unseen = (struct unseen_time){ .tick_ns = tick_ns };
}

/* A machine without idle CPUs still counts, and one that is idle does, too. */
static bool stands_still(struct unseen_time *unseen, const struct machine_time *now,
			 uint64_t passed_ns)
{
	const struct machine_time *last = &unseen->last;

	if (now->busy_ns != last->busy_ns || now->idle_ns != last->idle_ns ||
	    now->steal_ns != last->steal_ns)
		unseen->still_ns = 0;
	else
		unseen->still_ns += passed_ns;
	return unseen->still_ns >= STATIC_NS;
}

static bool is_comparable(const struct machine_time *last, const struct machine_time *now)
{
	uint64_t passed_ns = now->time_ns - last->time_ns;

	return now->cpus == last->cpus && now->busy_ns >= last->busy_ns &&
	       now->boottime_ns - last->boottime_ns <= passed_ns + CLOCKS_SKEW_NS;
}

static int64_t at_least(int64_t value, int64_t least)
{
	return value < least ? least : value;
}

static int64_t advance(struct unseen_time *unseen, const struct machine_time *now, uint64_t seen_ns)
{
	const struct machine_time *last = &unseen->last;
	int64_t capacity_ns = (int64_t)((now->time_ns - last->time_ns) * now->cpus);
	int64_t busy_ns = (int64_t)(now->busy_ns - last->busy_ns);
	int64_t idle_ns =
		(int64_t)(now->idle_ns - last->idle_ns) + (int64_t)(now->steal_ns - last->steal_ns);
	int64_t sampled_ns = busy_ns < capacity_ns - busy_ns ? busy_ns : capacity_ns - busy_ns;
	int64_t bound_ns;

	unseen->variance_ns2 += (double)at_least(sampled_ns, 0) * (double)unseen->tick_ns;
	bound_ns = (int64_t)(CUT_NS + TICKS_PER_CPU * now->cpus * unseen->tick_ns) +
		   (int64_t)(DEVIATIONS * sqrt(unseen->variance_ns2));
	unseen->busy_ahead_ns =
		at_least(unseen->busy_ahead_ns + busy_ns - (int64_t)seen_ns, -bound_ns);
	unseen->idle_ahead_ns = at_least(
		unseen->idle_ahead_ns + capacity_ns - idle_ns - (int64_t)seen_ns, -bound_ns);
	return bound_ns;
}

uint64_t unseen_time_add(struct unseen_time *unseen, const struct machine_time *now,
			 uint64_t seen_ns)
{
	int64_t ahead_ns, bound_ns;

	unseen->is_static =
		unseen->has_last && stands_still(unseen, now, now->time_ns - unseen->last.time_ns);
	if (!unseen->has_last || unseen->is_static || !is_comparable(&unseen->last, now)) {
		unseen->last = *now;
		unseen->has_last = true;
		return 0;
	}
	bound_ns = advance(unseen, now, seen_ns);
	unseen->last = *now;
	ahead_ns = unseen->busy_ahead_ns < unseen->idle_ahead_ns ? unseen->busy_ahead_ns
								 : unseen->idle_ahead_ns;
	if (ahead_ns <= bound_ns)
		return 0;
	unseen->busy_ahead_ns -= ahead_ns - bound_ns;
	unseen->idle_ahead_ns -= ahead_ns - bound_ns;
	return (uint64_t)(ahead_ns - bound_ns);
}
