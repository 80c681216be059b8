// SPDX-License-Identifier: Apache-2.0
#include "activity/stolen_time.h"

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

uint64_t stolen_time(const struct machine_time *last, const struct machine_time *now,
		     uint64_t run_ns)
{
	int64_t steal_ns = (int64_t)(now->steal_ns - last->steal_ns);
	int64_t busy_ns = (int64_t)(now->busy_ns - last->busy_ns);
	int64_t idle_ns = (int64_t)(now->idle_ns - last->idle_ns);
	int64_t capacity_ns = (int64_t)((now->time_ns - last->time_ns) * now->cpus);
	int64_t run = (int64_t)run_ns, excess_ns;

	if (now->cpus != last->cpus || steal_ns <= 0 || busy_ns < 0)
		return 0;
	excess_ns = least(run - busy_ns, run + idle_ns + steal_ns - capacity_ns);
	excess_ns = least(least(excess_ns, steal_ns), run);
	return excess_ns > 0 ? (uint64_t)excess_ns : 0;
}
