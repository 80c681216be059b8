/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When may a peer be asked again that did not answer well? Pure: chance and times are given.
 *
 * - It was not there (refused, no route, no such host): it saw nothing of us, and 10 s after its
 *   return the names must be right. So: between refused_min_ms and refused_max_ms, for ever.
 * - It was there and failed (5xx, a cut answer, a deadline): after retry_ms, for ever, and the
 *   first time up to spread_ms later by chance. One request in 10 s and names within 10 s of its
 *   return meet at a period of exactly 10 s; those who begin apart stay apart. After a request
 *   that itself took so long: between resume_ms and twice that.
 * - It was there and wants nothing of us (401, 403, 404, a certificate that cannot be verified):
 *   somebody has to put that right. The same, but twice as long each time, up to denied_max_ms,
 *   and up to half of that more by chance.
 * - It said when (Retry-After): not before that nor before retry_ms, and up to retry_ms later by
 *   chance, so that a thousand nodes that were sent away together do not come back together.
 * - It was never asked, and this machine has just booted: at once or up to spread_ms later by
 *   chance, for it may be one of a thousand that have power again.
 */
#pragma once

#include <stdint.h>

#define BACKOFF_TOLD_MAX_MS 300000 /* more is not believed: names would be missing for too long */

struct backoff_limits {
	uint64_t refused_min_ms, refused_max_ms;
	uint64_t resume_ms, retry_ms, spread_ms, denied_max_ms;
};

enum backoff_kind { BACKOFF_FAILED, BACKOFF_ABSENT, BACKOFF_DENIED };

struct backoff {
	struct backoff_limits limits;
	enum backoff_kind kind; /* of the last failure: another one begins anew */
	uint64_t delay_ms;      /* after it, without chance; 0 after a success */
};

struct backoff_failure {
	enum backoff_kind kind;
	uint64_t lasted_ms;      /* from the request to its failure */
	uint64_t retry_after_ms; /* 0: it did not say */
};

void backoff_init(struct backoff *backoff, const struct backoff_limits *limits);
void backoff_succeeded(struct backoff *backoff);
/* How long to wait from now; @chance is anything of 32 evenly drawn bits. */
uint64_t backoff_failed(struct backoff *backoff, const struct backoff_failure *failure,
			uint32_t chance);
/* Before the first request to a peer that many share; @uptime_ms of the machine. */
uint64_t backoff_first(uint64_t uptime_ms, uint64_t window_ms, uint64_t spread_ms, uint32_t chance);
/* After a stream that had worked and was cut, and is to go on from where it was. */
uint64_t backoff_resume(const struct backoff *backoff, uint32_t chance);
/*
 * What two peers that were asked after one another make together: a failure where the kinds differ
 * (so that one that denies us is asked each retry_ms, too), which took as long as the shorter one,
 * with the longer Retry-After.
 */
struct backoff_failure backoff_both(const struct backoff_failure *one,
				    const struct backoff_failure *other);
