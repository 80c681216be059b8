/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chance from a seed (splitmix64: Steele, Lea, Flood 2014). Each part of the simulation draws from
 * a stream of its own, so that a part that is switched off leaves the others as they were.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct chance {
	uint64_t state;
};

static inline uint64_t chance_next(struct chance *chance)
{
	uint64_t z = chance->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static inline struct chance chance_stream(uint64_t seed, uint64_t stream)
{
	struct chance chance = { seed * 0xd1342543de82ef95ULL + stream * 0xaf251af3b0f025b5ULL };

	(void)chance_next(&chance);
	return chance;
}

/* 0..bound-1; 0 when bound is 0. */
static inline uint64_t chance_below(struct chance *chance, uint64_t bound)
{
	return bound ? chance_next(chance) % bound : 0;
}

static inline bool chance_one_in(struct chance *chance, uint64_t times)
{
	return chance_below(chance, times) == 0;
}

/* min..max, both included. */
static inline uint64_t chance_from(struct chance *chance, uint64_t min, uint64_t max)
{
	return min + chance_below(chance, max - min + 1);
}
