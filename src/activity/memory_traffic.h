/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides the memory traffic that resctrl's groups counted among processes: adds the signal
 * SIGNAL_MEMORY_TRAFFIC to a pass.
 *
 * - A process is in the group that lists its leader. One that is not listed yet is in the group of
 *   the others in its cgroup, if these are in one group: a child begins in its parent's group. Else
 *   it is in the default group.
 * - The bytes of a group are divided among its processes that ran, by their cache misses where
 *   these are known, else by their CPU time, to the byte. So processes that are only in the default
 *   group share the rest of the machine's traffic, as it would share the energy without groups.
 * - If no process of a group ran, its bytes are divided with the bytes of the default group.
 *
 * If not all groups could be read in an interval, the signal is unknown. No I/O.
 */
#pragma once

#include "activity/activity_reader.h"
#include "activity/resctrl.h"

#define MEMORY_TRAFFIC_REPEATS 5

struct memory_traffic;

/* 0 or -ENOMEM. */
int memory_traffic_new(struct memory_traffic **ret);
void memory_traffic_free(struct memory_traffic *traffic);
/*
 * Adds the signal to @activity, whose column then belongs to @traffic, until the next call. Without
 * a @reading, for none has come in time, each group is taken to have moved what it did before, in
 * at most MEMORY_TRAFFIC_REPEATS passes after one another. Without memory the pass is as it was.
 */
void memory_traffic_add(struct memory_traffic *traffic, const struct resctrl_reading *reading,
			struct activity *activity);
