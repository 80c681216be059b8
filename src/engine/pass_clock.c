// SPDX-License-Identifier: Apache-2.0
#include "engine/pass_clock.h"

#include <math.h>

#include "base/num.h"
#include "host/topology.h"

bool pass_clock_follow_cpus(struct pass_clock *clock, uint32_t online, const char *sysfs)
{
	bool has_changed = online && clock->online && online != clock->online;
	struct topology topology = { 0 };

	if (online)
		clock->online = online;
	if (!has_changed)
		return false;
	if (sysfs)
		(void)topology_read(sysfs, &topology);
	clock->cpus = topology.cpus ? topology.cpus : online;
	return true;
}

struct zone_activity pass_clock_measure(struct pass_clock *clock, const struct activity *activity)
{
	struct zone_activity measured = { 0 };

	if (clock->monotonic_ns) {
		uint64_t boot_ns = activity->boottime_ns - clock->boottime_ns;

		measured.dt_ns = activity->time_ns - clock->monotonic_ns;
		/* The clocks are read one after the other, so a sleep must take more than 10 ms. */
		if (boot_ns > measured.dt_ns + 10 * NSEC_PER_MSEC)
			measured.asleep_ns = boot_ns - measured.dt_ns;
	}
	if (measured.dt_ns && clock->cpus)
		measured.utilisation = fmin(1.0, (double)activity->busy_ns /
							 ((double)measured.dt_ns * clock->cpus));
	clock->monotonic_ns = activity->time_ns;
	clock->boottime_ns = activity->boottime_ns;
	return measured;
}
