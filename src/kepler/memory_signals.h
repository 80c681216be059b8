/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that containers hold, as a signal of a pass: it is of cgroups in which something ran since
 * the start, whether it runs now or sleeps. Only with monitor.resident-every.
 */
#pragma once

#include <stdint.h>

#include "activity/activity.h"

struct memory_signals;

/* 0 or -errno, as resident_memory_open(). */
int memory_signals_open(const char *cgroupfs, uint64_t every_ns, struct memory_signals **ret);
void memory_signals_close(struct memory_signals *signals);
/*
 * Adds the signal to a pass, whose cgroup_signals then belong to @signals, until the next call.
 * Without memory for that the pass is as it was.
 */
void memory_signals_add(struct memory_signals *signals, struct activity *activity);
