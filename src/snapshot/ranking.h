/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks rows by their use if there is not room for all of them: keeps the @wanted smallest of the
 * rows that are offered. Pure.
 *
 * A heap with the largest on top: n offers cost O(n log wanted). No two rows are equal (of the same
 * use the lower row is the smaller), so that the choice is the same whatever the order of offers.
 */
#pragma once

#include <stdint.h>

struct ranked {
	uint64_t used_uj;
	uint32_t row;
};

struct ranking {
	struct ranked *ranked; /* [count]; in order once sorted */
	uint32_t count;
	uint32_t wanted;
	uint32_t size;
};

void ranking_release(struct ranking *ranking);
/* Starts over. 0, or -ENOMEM: then nothing is wanted. */
int ranking_begin(struct ranking *ranking, uint32_t wanted);
/* Each row once. */
void ranking_offer(struct ranking *ranking, uint64_t used_uj, uint32_t row);
/* After the last offer. */
void ranking_sort_smallest_first(struct ranking *ranking);
void ranking_sort_largest_first(struct ranking *ranking);
