/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A limit on requests: one in each interval, and at most a burst of them at once after a pause.
 * Pure. The state is the time at which the allowance is full again (the generic cell rate
 * algorithm, ITU-T I.371).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct http_rate {
	uint64_t full_ns; /* 0 at first */
};

/* May a request be answered at @now_ns? @interval_ns 0: always. @burst is 1 or more. */
static inline bool http_rate_admits(struct http_rate *rate, uint64_t interval_ns, uint32_t burst,
				    uint64_t now_ns)
{
	uint64_t full_ns = rate->full_ns > now_ns ? rate->full_ns : now_ns;

	if (interval_ns && (full_ns - now_ns) / interval_ns >= burst)
		return false;
	/* With a part of an interval left, the burst is not yet whole. */
	if (interval_ns && full_ns - now_ns > (burst - 1) * interval_ns)
		return false;
	rate->full_ns = full_ns + interval_ns;
	return true;
}
