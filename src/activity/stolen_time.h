/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of the run time of tasks a hypervisor has stolen: it took the CPU away while the guest
 * saw a task running. Pure.
 *
 * The machine's account (machine_time.h) has stolen time apart from busy time. The scheduler's run
 * time of a task has it inside, unless the kernel was built with CONFIG_PARAVIRT_TIME_ACCOUNTING,
 * and which of both is the case is not visible. So stolen time is subtracted only as far as run
 * time exceeds what the CPUs really ran, by both ways in which that is known: the busy time, which
 * is sampled at ticks, and the time that was neither idle nor stolen. Where nothing is stolen
 * nothing is subtracted.
 */
#pragma once

#include <stdint.h>

#include "activity/machine_time.h"

/*
 * The stolen part of @run_ns, the run time of all tasks between two readings of the account; at
 * most the time that the account reports as stolen. 0 if CPUs came or went, or the account went
 * back.
 */
uint64_t stolen_time(const struct machine_time *last, const struct machine_time *now,
		     uint64_t run_ns);
