/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a peer may be asked again after a failure. Pure: random bits and times are passed in.
 *
 * - It was absent (refused, no route, no such host): it saw no request, and names must be correct
 *   10 s after its return. So: between refused_min_ms and refused_max_ms, for ever.
 * - It was there and failed (5xx, a cut answer, a deadline): after retry_ms, for ever, and the
 *   first time up to spread_ms later by chance. At most one request in 10 s, and names within 10 s
 *   of its return, need a period of exactly 10 s; nodes that begin at different times stay apart.
 *   After a request that itself took so long: between resume_ms and twice that.
 * - It was there and denied the request (401, 403, 404, a certificate that cannot be verified): an
 *   administrator has to correct that. The same, but twice as long each time, up to denied_max_ms,
 *   plus a random time of up to half of that.
 * - It sent a time (Retry-After): not before that nor before retry_ms, plus a random time of up to
 *   retry_ms, so that a thousand nodes that were refused together do not return together.
 * - It was never asked, and this machine has just booted: after a random time of up to spread_ms,
 *   because it may be one of a thousand that were powered on together.
 */
#pragma once

#include <stdint.h>

#define BACKOFF_TOLD_MAX_MS 300000 /* more is ignored: names would be missing for too long */

struct backoff_limits {
	uint64_t refused_min_ms, refused_max_ms;
	uint64_t resume_ms, retry_ms, spread_ms, denied_max_ms;
};

enum backoff_kind { BACKOFF_FAILED, BACKOFF_ABSENT, BACKOFF_DENIED };

struct backoff {
	struct backoff_limits limits;
	enum backoff_kind kind; /* of the last failure: another kind starts over */
	uint64_t delay_ms;      /* after it, without chance; 0 after a success */
};

struct backoff_failure {
	enum backoff_kind kind;
	uint64_t lasted_ms;      /* from the request to its failure */
	uint64_t retry_after_ms; /* 0: not sent */
};

void backoff_init(struct backoff *backoff, const struct backoff_limits *limits);
void backoff_succeeded(struct backoff *backoff);
/* How long to wait from now; @chance is anything of 32 evenly drawn bits. */
uint64_t backoff_failed(struct backoff *backoff, const struct backoff_failure *failure,
			uint32_t chance);
/* Before the first request to a peer that many share; @uptime_ms of the machine. */
uint64_t backoff_first(uint64_t uptime_ms, uint64_t window_ms, uint64_t spread_ms, uint32_t chance);
/* After a stream that had worked and was cut, and is to be resumed from where it was. */
uint64_t backoff_resume(const struct backoff *backoff, uint32_t chance);
/*
 * Combines the failures of two peers that were asked one after the other: an ordinary failure if
 * the kinds differ (so that a peer that denies requests is also asked every retry_ms), with the
 * shorter duration and the longer Retry-After.
 */
struct backoff_failure backoff_both(const struct backoff_failure *one,
				    const struct backoff_failure *other);
