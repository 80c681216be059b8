// SPDX-License-Identifier: Apache-2.0
/* Back-off by the kind of the failure. */
#include "net/backoff.h"

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

uint64_t backoff_first(uint64_t uptime_ms, uint64_t window_ms, uint64_t spread_ms, uint32_t chance)
{
	return uptime_ms < window_ms ? draw(spread_ms, chance) : 0;
}

uint64_t backoff_resume(const struct backoff *backoff, uint32_t chance)
{
	return backoff->limits.resume_ms + draw(backoff->limits.resume_ms, chance);
}

static uint64_t after_failure(struct backoff *backoff, const struct backoff_failure *failure,
			      uint32_t chance)
{
	const struct backoff_limits *limits = &backoff->limits;
	uint64_t spread_ms = backoff->delay_ms ? 0 : limits->spread_ms;

	backoff->delay_ms = limits->retry_ms;
	if (failure->lasted_ms >= limits->retry_ms)
		return backoff_resume(backoff, chance);
	return limits->retry_ms + draw(spread_ms, chance);
}

static uint64_t after_denial(struct backoff *backoff, uint32_t chance)
{
	const struct backoff_limits *limits = &backoff->limits;

	backoff->delay_ms = backoff->delay_ms
				    ? at_most(backoff->delay_ms * 2, limits->denied_max_ms)
				    : limits->retry_ms;
	return backoff->delay_ms + draw(backoff->delay_ms / 2, chance);
}

uint64_t backoff_failed(struct backoff *backoff, const struct backoff_failure *failure,
			uint32_t chance)
{
	const struct backoff_limits *limits = &backoff->limits;
	uint64_t told_ms = at_most(failure->retry_after_ms, BACKOFF_TOLD_MAX_MS);

	if (failure->kind != backoff->kind)
		backoff->delay_ms = 0;
	backoff->kind = failure->kind;
	if (failure->kind == BACKOFF_ABSENT)
		return limits->refused_min_ms +
		       draw(limits->refused_max_ms - limits->refused_min_ms, chance);
	if (told_ms)
		return (told_ms > limits->retry_ms ? told_ms : limits->retry_ms) +
		       draw(limits->retry_ms, chance);
	return failure->kind == BACKOFF_DENIED ? after_denial(backoff, chance)
					       : after_failure(backoff, failure, chance);
}

struct backoff_failure backoff_both(const struct backoff_failure *one,
				    const struct backoff_failure *other)
{
	struct backoff_failure both = *one;

	if (one->kind == BACKOFF_ABSENT || other->kind == BACKOFF_ABSENT)
		both.lasted_ms = one->kind == BACKOFF_ABSENT ? other->lasted_ms : one->lasted_ms;
	else
		both.lasted_ms = at_most(one->lasted_ms, other->lasted_ms);
	if (one->kind != other->kind)
		both.kind = BACKOFF_FAILED;
	if (other->retry_after_ms > one->retry_after_ms)
		both.retry_after_ms = other->retry_after_ms;
	return both;
}
