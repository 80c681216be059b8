// SPDX-License-Identifier: Apache-2.0
#include "service/schedule.h"

void schedule_start(struct schedule *schedule, uint64_t now_ns, uint64_t interval_ns)
{
	*schedule = (struct schedule){ now_ns + interval_ns, interval_ns };
}

void schedule_set_interval(struct schedule *schedule, uint64_t now_ns, uint64_t interval_ns)
{
	if (interval_ns == schedule->interval_ns)
		return;
	schedule->interval_ns = interval_ns;
	if (now_ns + interval_ns < schedule->next_ns)
		schedule->next_ns = now_ns + interval_ns;
}

bool schedule_is_due(const struct schedule *schedule, uint64_t now_ns)
{
	return now_ns >= schedule->next_ns;
}

uint64_t schedule_wait_ns(const struct schedule *schedule, uint64_t now_ns)
{
	return schedule_is_due(schedule, now_ns) ? 0 : schedule->next_ns - now_ns;
}

uint64_t schedule_advance(struct schedule *schedule, uint64_t now_ns)
{
	uint64_t missed = schedule_is_due(schedule, now_ns)
				  ? (now_ns - schedule->next_ns) / schedule->interval_ns
				  : 0;

	schedule->next_ns += (missed + 1) * schedule->interval_ns;
	return missed;
}
