/* SPDX-License-Identifier: Apache-2.0 */
/* Is the newest snapshot pushed? The times of snapshots decide. Pure. */
#pragma once

#include <stdint.h>

enum write_turn {
	WRITE_TURN_NONE, /* it is the last one */
	WRITE_TURN_NEXT,
	WRITE_TURN_BACK, /* the clock was set back: pushed, with its time, and counted */
};

/* Times are realtime; @last_ms 0: there was none. */
static inline enum write_turn write_turn_of(int64_t last_ms, int64_t now_ms)
{
	if (now_ms == last_ms)
		return WRITE_TURN_NONE;
	return now_ms < last_ms ? WRITE_TURN_BACK : WRITE_TURN_NEXT;
}
