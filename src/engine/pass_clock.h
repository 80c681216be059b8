/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much time has passed between two passes over the processes, how long the machine slept in it,
 * and which part of the time of its CPUs was busy. CPUs may come and go.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "activity/activity.h"
#include "attribution/accountant.h"

struct pass_clock {
	unsigned cpus;         /* busy time is a part of their time */
	uint32_t online;       /* CPUs in the account of the last pass; 0 unknown */
	uint64_t monotonic_ns; /* of the last pass; 0 before the first */
	uint64_t boottime_ns;
};

/*
 * Takes the number of CPUs in the account of a pass, @online; 0: unknown. True if CPUs came or went
 * since the pass before. An account may be a container's and change with its limits: how many CPUs
 * the machine has is then read from @sysfs, and at the start it is as the host's facts say.
 */
bool pass_clock_follow_cpus(struct pass_clock *clock, uint32_t online, const char *sysfs);
/* From the pass before to @activity; all zero at the first pass. */
struct zone_activity pass_clock_measure(struct pass_clock *clock, const struct activity *activity);
