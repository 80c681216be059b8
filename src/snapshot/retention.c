// SPDX-License-Identifier: Apache-2.0
#include "snapshot/retention.h"

static bool has_passed(uint64_t since_ns, uint64_t now_ns, uint64_t span_ns)
{
	return now_ns >= since_ns && now_ns - since_ns >= span_ns;
}

/* When a snapshot could first show what happened at @time_ns. */
static uint64_t first_seen_ns(uint64_t time_ns, const struct moment *at)
{
	return time_ns >= at->hidden_ns && time_ns < at->visible_ns ? at->visible_ns : time_ns;
}

struct series_age series_age_born(const struct moment *at)
{
	return (struct series_age){ .born_ms = at->boottime_ms,
				    .since_ns = at->now_ns,
				    .settled = at->first };
}

bool series_age_settle(struct series_age *age, const struct publisher_options *options,
		       const struct moment *at)
{
	if (age->settled)
		return true;
	/* It is seen with 0 from its first snapshot on. */
	age->since_ns = first_seen_ns(age->since_ns, at);
	if (has_passed(age->since_ns, at->now_ns, options->settle_ns)) {
		age->settled = true;
		age->since_ns = at->now_ns;
	}
	return age->settled;
}

enum retention retention_of(const struct series_age *age, uint64_t last_ns,
			    const struct publisher_options *options, const struct moment *at)
{
	uint64_t since_ns = first_seen_ns(last_ns > age->since_ns ? last_ns : age->since_ns, at);

	if (!age->settled)
		return RETENTION_HIDDEN;
	if (!has_passed(since_ns, at->now_ns, options->settle_ns))
		return RETENTION_SHOWN;
	return has_passed(since_ns, at->now_ns, options->keep_ns) ? RETENTION_OVER
								  : RETENTION_EARLY;
}
