// SPDX-License-Identifier: Apache-2.0
/*
 * Quotas first: total × w / Σw as a 128-bit product gives each part its floor and leaves a
 * remainder below Σw. The left-over units, fewer than there are positive remainders, go one each to
 * the largest.
 *
 * Which are the largest is decided by a quick-select over indices, ordered by (remainder down,
 * index up). That order has no ties, so the chosen set does not depend on how the selection got
 * there.
 */
#include "attribution/split.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

void split_scratch_release(struct split_scratch *scratch)
{
	free(scratch->remainders);
	free(scratch->order);
	*scratch = (struct split_scratch){ 0 };
}

static int scratch_reserve(struct split_scratch *scratch, size_t n)
{
	size_t size = scratch->size ? scratch->size : 64;

	if (n <= scratch->size)
		return 0;
	while (size < n)
		size *= 2;
	split_scratch_release(scratch);
	scratch->remainders = calloc(size, sizeof(*scratch->remainders));
	scratch->order = calloc(size, sizeof(*scratch->order));
	if (!scratch->remainders || !scratch->order) {
		split_scratch_release(scratch);
		return -ENOMEM;
	}
	scratch->size = size;
	return 0;
}

static int sum_weights(const uint64_t *weights, size_t n, uint64_t *ret_sum)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		if (__builtin_add_overflow(sum, weights[i], &sum))
			return -EOVERFLOW;
	}
	if (sum == 0)
		return -EDOM;
	*ret_sum = sum;
	return 0;
}

static bool goes_before(const uint64_t *remainders, uint32_t a, uint32_t b)
{
	if (remainders[a] != remainders[b])
		return remainders[a] > remainders[b];
	return a < b;
}

static void swap_at(uint32_t *order, size_t a, size_t b)
{
	uint32_t held = order[a];

	order[a] = order[b];
	order[b] = held;
}

/*
 * Partitions order[low..high] around the median of its first, middle and last element and returns
 * the pivot's final place. The median guards against the sorted input that equal-sized parties
 * make.
 */
static size_t partition(const uint64_t *remainders, uint32_t *order, size_t low, size_t high)
{
	size_t middle = low + (high - low) / 2, store = low;

	if (goes_before(remainders, order[middle], order[low]))
		swap_at(order, middle, low);
	if (goes_before(remainders, order[high], order[low]))
		swap_at(order, high, low);
	if (goes_before(remainders, order[middle], order[high]))
		swap_at(order, middle, high);
	for (size_t i = low; i < high; i++) {
		if (goes_before(remainders, order[i], order[high]))
			swap_at(order, i, store++);
	}
	swap_at(order, store, high);
	return store;
}

/* Moves the @wanted elements that come first in order to the front of order[0..n). */
static void select_first(const uint64_t *remainders, uint32_t *order, size_t n, size_t wanted)
{
	size_t low = 0, high = n - 1;

	while (low < high) {
		size_t place = partition(remainders, order, low, high);

		if (place == wanted)
			return;
		if (place < wanted)
			low = place + 1;
		else
			high = place - 1; /* place > wanted >= 0 */
	}
}

int split_exact(uint64_t total, const uint64_t *weights, size_t n, uint64_t *parts,
		struct split_scratch *scratch)
{
	uint64_t sum, left = total;
	size_t candidates = 0;
	int r;

	if (n)
		memset(parts, 0, n * sizeof(*parts));
	if (n > UINT32_MAX)
		return -EOVERFLOW;
	r = sum_weights(weights, n, &sum);
	if (r == 0)
		r = scratch_reserve(scratch, n);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		parts[i] = muldiv_u64(total, weights[i], sum);
		/* It is below sum, so the product's higher half does not matter. */
		scratch->remainders[i] = total * weights[i] - parts[i] * sum;
		left -= parts[i];
		if (scratch->remainders[i])
			scratch->order[candidates++] = (uint32_t)i;
	}
	if (left == 0)
		return 0;
	/* Σ remainders = left × sum and each is below sum, so that left < candidates. */
	select_first(scratch->remainders, scratch->order, candidates, (size_t)left);
	for (size_t i = 0; i < left; i++)
		parts[scratch->order[i]]++;
	return 0;
}
