// SPDX-License-Identifier: Apache-2.0
/* One interval as the loop has it: what is told before the engine runs, and what follows. */
#include "base/clock.h"
#include "base/log.h"
#include "base/num.h"
#include "kepler/monitor_parts.h"

void monitor_enter_step(struct monitor *monitor, enum loop_step step)
{
	loop_steps_enter(&monitor->steps, step, clock_ns(CLOCK_MONOTONIC));
}

uint64_t monitor_hang_limit_ns(const struct config *config)
{
	return heartbeat_limit_ns(config->monitor.hang_limit_ns, config->monitor.interval_ns);
}

void monitor_run_interval(struct monitor *monitor)
{
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
	int r;

	loop_steps_enter(&monitor->steps, STEP_SELF, began_ns);
	self_stats_update(&monitor->session.stats);
	zone_watch_count(&monitor->zones, &monitor->session.sources);
	r = session_run_interval(&monitor->session);
	monitor_enter_step(monitor, STEP_SELF);
	if (r < 0)
		(void)log_warn_errno(r, "this interval is incomplete");
	monitor_follow_meters(monitor);
	zone_watch_look(&monitor->zones, monitor->session.engine, began_ns);
	monitor_tell_of_unseen(monitor);
	loop_steps_add_interval(&monitor->steps, clock_ns(CLOCK_MONOTONIC) - began_ns);
	exporters_turn(&monitor->exporters, began_ns);
	if (monitor->table)
		monitor_enter_step(monitor, STEP_TABLE);
	monitor_show_table(monitor);
}
