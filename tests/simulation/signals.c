// SPDX-License-Identifier: Apache-2.0
/*
 * The counts of work in addition to its CPU time. A machine has some counters, and each is missing
 * for some intervals. A process has its own frequency and its own misses; some processes are
 * counted only in part, or not at all.
 */
#include "world.h"

#include <string.h>

void signals_begin(struct world *world)
{
	uint64_t draw = chance_next(&world->signals);

	world->can_count = 0;
	if (!world_has(world, FEATURE_SIGNALS) || draw % 4 == 0)
		return;
	world->can_count = (uint32_t)(draw / 4 % 64);
	world->may_fit = world->can_count & COUNTED_TIME && draw / 256 % 4 == 0;
	world->interval.counting = world->can_count;
}

/* The part of a sample's time for which signals are known. */
static uint64_t counted_of(struct world *world, uint64_t cpu_ns)
{
	/* Else nothing is learned. */
	switch (world->may_fit ? 12 : chance_below(&world->signals, 12)) {
	case 0:
		return cpu_ns / 2;
	case 1:
		return cpu_ns / 16;
	case 2:
		return 0;
	case 3:
		return cpu_ns + cpu_ns / 64;
	default:
		return cpu_ns;
	}
}

/* Many are like the one before: a process keeps its nature, by its pid. */
static void count(struct world *world, struct sample *sample)
{
	uint64_t draw = chance_next(&world->signals);
	uint64_t mhz = 800 + sample->pid * 977 % 3400;
	uint64_t ns;

	sample->counted_ns = counted_of(world, sample->cpu_ns);
	ns = world->interval.counting & COUNTED_TIME ? sample->counted_ns : sample->cpu_ns;
	sample->paired_ns = draw % 3 == 0 ? 0 : (uint64_t)((double)ns * (double)(draw % 97) / 96);
	sample->cycles = ns * mhz / 1000;
	sample->instructions = sample->cycles / 8 * (1 + sample->pid % 23);
	sample->misses = draw % 5 == 0 ? 0 : ns * (sample->pid % 61) / 16;
	if (draw / 512 % 9 == 0)
		world->interval.owner_traffic[sample->owner] += ns * (draw / 65536 % 64);
}

void signals_step(struct world *world)
{
	struct world_interval *interval = &world->interval;
	uint64_t draw = chance_next(&world->signals);

	memset(interval->owner_traffic, 0, sizeof(interval->owner_traffic));
	if (draw % 12 == 0)
		interval->counting = world->can_count & (uint32_t)(draw / 64);
	else if (draw % 12 < 3 || !interval->counting)
		interval->counting = world->can_count;
	if (interval->pass_failed)
		interval->counting = 0;
	for (size_t i = 0; interval->counting && i < interval->count; i++)
		count(world, &world->samples[i]);
}
