// SPDX-License-Identifier: Apache-2.0
#include "snapshot/ranking.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"

void ranking_release(struct ranking *ranking)
{
	free(ranking->ranked);
	*ranking = (struct ranking){ 0 };
}

int ranking_begin(struct ranking *ranking, uint32_t wanted)
{
	int r = wanted ? ARRAY_RESERVE(ranking->ranked, ranking->size, wanted) : 0;

	ranking->count = 0;
	ranking->wanted = r < 0 ? 0 : wanted;
	return r;
}

static bool is_larger(const struct ranked *a, const struct ranked *b)
{
	return a->used_uj != b->used_uj ? a->used_uj > b->used_uj : a->row > b->row;
}

static void sift_down(const struct ranking *ranking, uint32_t at)
{
	struct ranked *heap = ranking->ranked;

	for (;;) {
		uint32_t child = 2 * at + 1;
		struct ranked held = heap[at];

		if (child >= ranking->count)
			return;
		if (child + 1 < ranking->count && is_larger(&heap[child + 1], &heap[child]))
			child++;
		if (!is_larger(&heap[child], &held))
			return;
		heap[at] = heap[child];
		heap[child] = held;
		at = child;
	}
}

/* It is a heap only once it is full. */
void ranking_offer(struct ranking *ranking, uint64_t used_uj, uint32_t row)
{
	const struct ranked offered = { used_uj, row };

	if (ranking->count < ranking->wanted) {
		ranking->ranked[ranking->count++] = offered;
		for (uint32_t parent = ranking->count / 2;
		     ranking->count == ranking->wanted && parent-- > 0;)
			sift_down(ranking, parent);
	} else if (ranking->wanted && is_larger(&ranking->ranked[0], &offered)) {
		ranking->ranked[0] = offered;
		sift_down(ranking, 0);
	}
}

static int by_smallest(const void *a, const void *b)
{
	return is_larger(a, b) ? 1 : -1; /* no two are of the same row */
}

static int by_largest(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->used_uj != y->used_uj)
		return x->used_uj < y->used_uj ? 1 : -1;
	return x->row > y->row ? 1 : -1;
}

void ranking_sort_smallest_first(struct ranking *ranking)
{
	if (ranking->count)
		qsort(ranking->ranked, ranking->count, sizeof(*ranking->ranked), by_smallest);
}

void ranking_sort_largest_first(struct ranking *ranking)
{
	if (ranking->count)
		qsort(ranking->ranked, ranking->count, sizeof(*ranking->ranked), by_largest);
}
