// SPDX-License-Identifier: Apache-2.0
#include "service/heartbeat.h"

void heartbeat_init(struct heartbeat *heartbeat, uint64_t now_ns, uint64_t limit_ns)
{
	*heartbeat = (struct heartbeat){ now_ns, limit_ns, "starting" };
}

void heartbeat_beat(struct heartbeat *heartbeat, uint64_t now_ns)
{
	__atomic_store_n(&heartbeat->beat_ns, now_ns, __ATOMIC_RELAXED);
}

void heartbeat_doing(struct heartbeat *heartbeat, const char *doing)
{
	__atomic_store_n(&heartbeat->doing, doing, __ATOMIC_RELAXED);
}

void heartbeat_set_limit(struct heartbeat *heartbeat, uint64_t limit_ns)
{
	__atomic_store_n(&heartbeat->limit_ns, limit_ns, __ATOMIC_RELAXED);
}

uint64_t heartbeat_limit_ns(uint64_t hang_limit_ns, uint64_t interval_ns)
{
	uint64_t intervals_ns = HEARTBEAT_INTERVALS * interval_ns;

	return hang_limit_ns > intervals_ns ? hang_limit_ns : intervals_ns;
}

struct heartbeat_state heartbeat_look(const struct heartbeat *heartbeat, uint64_t now_ns)
{
	struct heartbeat_state state = {
		.silence_ns = now_ns - __atomic_load_n(&heartbeat->beat_ns, __ATOMIC_RELAXED),
		.limit_ns = __atomic_load_n(&heartbeat->limit_ns, __ATOMIC_RELAXED),
		.doing = __atomic_load_n(&heartbeat->doing, __ATOMIC_RELAXED),
	};

	/* A beat after the caller asked for the time. */
	if ((int64_t)state.silence_ns < 0)
		state.silence_ns = 0;
	state.alive = state.silence_ns <= state.limit_ns;
	return state;
}
