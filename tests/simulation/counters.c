// SPDX-License-Identifier: Apache-2.0
/* The work that is counted in addition to its CPU time. */
#include <string.h>

#include "world.h"

/* Known from the start, later, or never. */
void counters_begin(struct world *world)
{
	for (size_t c = 0; c < WORLD_COUNTERS; c++) {
		uint64_t draw = chance_next(&world->counting);

		if (world_has(world, FEATURE_COUNTERS) && draw % 4)
			world->counted_from[c] = draw % 4 == 1 ? 2 + draw / 4 % 60 : 1;
	}
}

/* Before the interval's samples are made up. Now and then a counter is lost for an interval. */
void counters_step(struct world *world)
{
	struct world_interval *interval = &world->interval;

	interval->counter_owner = (uint32_t)chance_below(&world->counting, world->owner_count);
	for (size_t c = 0; c < WORLD_COUNTERS; c++) {
		uint64_t draw = chance_next(&world->counting);
		bool is_there = world->counted_from[c] &&
				interval->number >= world->counted_from[c] &&
				!interval->pass_failed;

		interval->counter_is_known[c] =
			is_there && (draw % 100 || interval->number == world->counted_from[c]);
		interval->owner_counted[c] = interval->counted[c] = 0;
		if (!interval->counter_is_known[c] || interval->number == 1)
			continue;
		interval->owner_counted[c] = draw / 128 % 4 ? 0 : draw / 512 % 1000000;
		interval->counted[c] = draw / 1048576 % 4 ? 0 : draw / 4194304 % 5000;
		interval->counted[c] += interval->owner_counted[c];
	}
}

void counters_count(struct world *world, struct sample *sample)
{
	struct world_interval *interval = &world->interval;

	for (size_t c = 0; c < WORLD_COUNTERS; c++) {
		uint64_t draw = chance_next(&world->counting);

		sample->counted[c] = 0;
		if (interval->counter_is_known[c] && interval->number > 1 && draw % 4)
			sample->counted[c] = draw / 4 % 10000000000;
		interval->counted[c] += sample->counted[c];
	}
}
