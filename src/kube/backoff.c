// SPDX-License-Identifier: Apache-2.0
/* Back-off by the kind of the failure. */
#include "kube/backoff.h"

#include "base/num.h"

/* Evenly from 0 to @span. */
static uint64_t draw(uint64_t span, uint32_t chance)
{
	return muldiv_u64(span, chance, UINT32_MAX);
}

static uint64_t at_most(uint64_t value, uint64_t limit)
{
	return value < limit ? value : limit;
}

void backoff_init(struct backoff *backoff, const struct backoff_limits *limits)
{
	*backoff = (struct backoff){ .limits = *limits };
}

void backoff_succeeded(struct backoff *backoff)
{
	backoff->delay_ms = 0;
}

uint64_t backoff_failed(struct backoff *backoff, const struct backoff_failure *failure,
			uint32_t chance)
{
	const struct backoff_limits *limits = &backoff->limits;
	uint64_t told_ms = at_most(failure->retry_after_ms, BACKOFF_TOLD_MAX_MS);

	if (failure->absent) {
		backoff->delay_ms = 0;
		return limits->refused_min_ms +
		       draw(limits->refused_max_ms - limits->refused_min_ms, chance);
	}
	backoff->delay_ms = backoff->delay_ms ? at_most(backoff->delay_ms * 2, limits->retry_max_ms)
					      : limits->retry_min_ms;
	if (told_ms)
		return (told_ms > limits->retry_min_ms ? told_ms : limits->retry_min_ms) +
		       draw(limits->retry_min_ms, chance);
	return backoff->delay_ms + draw(backoff->delay_ms / 2, chance);
}
