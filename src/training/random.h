/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers from a seed, the same on each machine: splitmix64 (Steele, Lea and Flood, 2014). */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct random {
	uint64_t state; /* the seed, in the beginning */
};

static inline uint64_t random_u64(struct random *random)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* 0 … below - 1; @below is at least 1. */
static inline size_t random_below(struct random *random, size_t below)
{
	return (size_t)(((unsigned __int128)random_u64(random) * below) >> 64);
}

/* Above 0, below 1. */
static inline double random_part(struct random *random)
{
	return ((double)(random_u64(random) >> 12) + 0.5) / 4503599627370496.0;
}

/* Puts 0 … count - 1 into @ret, in an order of chance. */
static inline void random_order(struct random *random, uint32_t *ret, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t other = random_below(random, i + 1);

		ret[i] = ret[other];
		ret[other] = (uint32_t)i;
	}
}
