// SPDX-License-Identifier: Apache-2.0
#include "judging/interval.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/macro.h"
#include "base/num.h"

#define DRAWS 1000

/* SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014). */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Sums before each pair, twice around, so that each block is one difference. */
struct sum {
	double actual, predicted;
};

static struct sum *running_sums(const struct pair *pairs, size_t count)
{
	struct sum *sums = calloc(2 * count + 1, sizeof(*sums));
	for (size_t i = 0; sums && i < 2 * count; i++) {
		const struct pair *pair = &pairs[i % count];
		sums[i + 1].actual = sums[i].actual + pair->span_s * pair->actual;
		sums[i + 1].predicted = sums[i].predicted + pair->span_s * pair->predicted;
	}
	return sums;
}

int ratio_interval(const struct pair *pairs, size_t count, double *ret_low, double *ret_high)
{
	double ratios[DRAWS];
	uint64_t state = 0x4b65706c6572ULL;

	*ret_low = *ret_high = NAN;
	if (count < INTERVAL_PAIRS_LEAST)
		return 0;
	CLEANUP_FREE struct sum *sums = running_sums(pairs, count);
	if (!sums)
		return -ENOMEM;
	size_t block = (size_t)sqrt((double)count), blocks = count / block;
	for (size_t i = 0; i < DRAWS; i++) {
		struct sum drawn = { 0, 0 };
		for (size_t b = 0; b < blocks; b++) {
			size_t at = next_random(&state) % count;
			drawn.actual += sums[at + block].actual - sums[at].actual;
			drawn.predicted += sums[at + block].predicted - sums[at].predicted;
		}
		ratios[i] = drawn.predicted / drawn.actual;
		if (!isfinite(ratios[i]))
			return 0;
	}
	qsort(ratios, DRAWS, sizeof(*ratios), compare_doubles);
	*ret_low = ratios[DRAWS / 40];
	*ret_high = ratios[DRAWS - 1 - DRAWS / 40];
	return 0;
}
