/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When may a peer be asked again that did not answer well? Pure: chance and times are given.
 *
 * - It was not there (refused, no route, no such host): it saw nothing of us, and 10 s after its
 *   return the names must be right. So: between refused_min_ms and refused_max_ms, for ever.
 * - It was there and failed (5xx, a cut answer, a deadline, 401, 403): from retry_min_ms on, twice
 *   as long each time, up to retry_max_ms, and up to half of that more by chance.
 * - It said when (Retry-After): not before, and up to retry_min_ms later by chance, so that
 *   a thousand nodes that were sent away together do not come back together.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define BACKOFF_TOLD_MAX_MS 300000 /* more is not believed: names would be missing for too long */

struct backoff_limits {
	uint64_t refused_min_ms, refused_max_ms;
	uint64_t retry_min_ms, retry_max_ms;
};

struct backoff {
	struct backoff_limits limits;
	uint64_t delay_ms; /* the last one without chance; 0 after a success */
};

struct backoff_failure {
	bool absent;             /* it was not there */
	uint64_t retry_after_ms; /* 0: it did not say */
};

void backoff_init(struct backoff *backoff, const struct backoff_limits *limits);
void backoff_succeeded(struct backoff *backoff);
/* How long to wait from now; @chance is anything of 32 evenly drawn bits. */
uint64_t backoff_failed(struct backoff *backoff, const struct backoff_failure *failure,
			uint32_t chance);
