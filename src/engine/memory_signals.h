/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that containers hold, as a signal of a pass. It covers the cgroups in which something has
 * run since the start, whether it runs now or sleeps. Only with monitor.resident-every. If sockets
 * are distinguished and their NUMA nodes are known, it also has the memory at each socket.
 */
#pragma once

#include <stdint.h>

#include "activity/activity.h"
#include "host/cpu_sockets.h"

struct memory_signals;

/* @sockets may be NULL, and outlives it, as @sysfs does. 0 or -errno, as resident_memory_open(). */
int memory_signals_open(const char *cgroupfs, const char *sysfs, const struct cpu_sockets *sockets,
			uint64_t every_ns, struct memory_signals **ret);
void memory_signals_close(struct memory_signals *signals);
/*
 * Adds the signal to a pass, whose cgroup_signals then belong to @signals, until the next call.
 * Without memory for that the pass is as it was.
 */
void memory_signals_add(struct memory_signals *signals, struct activity *activity);
