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

/* The account of a busy machine still changes, and so does the account of an idle one. */
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

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t at_least(int64_t value, int64_t minimum)
{
	return value < minimum ? minimum : value;
}

/*
 * Advances one estimate. Returns the part that is discarded: the part below @floor_ns for all of an
 * interval. A deficit only at its end may be work after the account was read.
 */
static int64_t advance_one(int64_t *ahead_ns, int64_t change_ns, int64_t floor_ns)
{
	int64_t highest_ns = at_least(*ahead_ns, *ahead_ns + change_ns);
	int64_t forgotten_ns = at_least(floor_ns - highest_ns, 0);

	*ahead_ns += change_ns + forgotten_ns;
	return forgotten_ns;
}

/* Advances both estimates; returns the bound. */
static int64_t advance(struct unseen_time *unseen, const struct machine_time *now, uint64_t seen_ns)
{
	const struct machine_time *last = &unseen->last;
	int64_t capacity_ns = (int64_t)((now->time_ns - last->time_ns) * now->cpus);
	int64_t busy_ns = (int64_t)(now->busy_ns - last->busy_ns);
	int64_t idle_ns =
		(int64_t)(now->idle_ns - last->idle_ns) + (int64_t)(now->steal_ns - last->steal_ns);
	int64_t sampled_ns = least(busy_ns, capacity_ns - busy_ns);
	int64_t bound_ns, forgotten_ns;

	unseen->variance_ns2 += (double)at_least(sampled_ns, 0) * (double)unseen->tick_ns;
	bound_ns = (int64_t)(CUT_NS + TICKS_PER_CPU * now->cpus * unseen->tick_ns) +
		   (int64_t)(DEVIATIONS * sqrt(unseen->variance_ns2));
	forgotten_ns = advance_one(&unseen->busy_ahead_ns, busy_ns - (int64_t)seen_ns, -bound_ns);
	forgotten_ns = least(forgotten_ns,
			     advance_one(&unseen->idle_ahead_ns,
					 capacity_ns - idle_ns - (int64_t)seen_ns, -bound_ns));
	forgotten_ns = least(forgotten_ns, unseen->found_ns);
	unseen->found_ns -= forgotten_ns;
	unseen->owed_ns += forgotten_ns;
	return bound_ns;
}

/* Time that is found first compensates for time that was reported as unseen and was seen later. */
static uint64_t give(struct unseen_time *unseen, int64_t found_ns)
{
	int64_t paid_ns = least(found_ns, unseen->owed_ns);

	unseen->busy_ahead_ns -= found_ns;
	unseen->idle_ahead_ns -= found_ns;
	unseen->owed_ns -= paid_ns;
	unseen->found_ns += found_ns; /* also the compensated part: it may be seen later as well */
	return (uint64_t)(found_ns - paid_ns);
}

/* An interval that cannot be compared: part of the time seen in it was expected. */
static void skip(struct unseen_time *unseen, const struct machine_time *now, uint64_t seen_ns)
{
	int64_t come_ns = unseen->has_last ? least((int64_t)seen_ns, unseen->coming_ns) : 0;

	unseen->busy_ahead_ns -= come_ns;
	unseen->idle_ahead_ns -= come_ns;
	unseen->last = *now;
	unseen->has_last = true;
}

uint64_t unseen_time_add(struct unseen_time *unseen, const struct machine_time *now,
			 uint64_t seen_ns, uint64_t coming_ns)
{
	int64_t found_ns, bound_ns;

	unseen->is_static =
		unseen->has_last && stands_still(unseen, now, now->time_ns - unseen->last.time_ns);
	if (!unseen->has_last || unseen->is_static || !is_comparable(&unseen->last, now)) {
		skip(unseen, now, seen_ns);
		unseen->coming_ns = (int64_t)coming_ns;
		return 0;
	}
	bound_ns = advance(unseen, now, seen_ns);
	unseen->last = *now;
	unseen->coming_ns = (int64_t)coming_ns;
	found_ns =
		least(unseen->busy_ahead_ns, unseen->idle_ahead_ns) - bound_ns - unseen->coming_ns;
	return found_ns > 0 ? give(unseen, found_ns) : 0;
}
