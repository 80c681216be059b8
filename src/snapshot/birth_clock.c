// SPDX-License-Identifier: Apache-2.0
#include "snapshot/birth_clock.h"

#include <stdlib.h>

#define STEP_MS 1000

int64_t birth_clock_follow(struct birth_clock *clock, int64_t boottime_ms, int64_t realtime_ms)
{
	int64_t offset_ms = realtime_ms - boottime_ms;

	if (!clock->known || llabs(offset_ms - clock->offset_ms) > STEP_MS)
		*clock = (struct birth_clock){ .known = true, .offset_ms = offset_ms };
	return clock->offset_ms;
}
