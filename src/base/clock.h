/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The three clocks, in nanoseconds. Code that computes takes times as parameters; only the
 * program's loop and the readers ask the kernel.
 *
 * MONOTONIC stops while the machine sleeps, BOOTTIME does not: power is energy over MONOTONIC, and
 * start times are BOOTTIME.
 */
#pragma once

#include <stdint.h>
#include <time.h>

#include "base/num.h"

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	(void)clock_gettime(id, &ts); /* cannot fail for these clocks */
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}
