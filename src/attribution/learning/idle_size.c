// SPDX-License-Identifier: Apache-2.0
/*
 * Processes are put in order of their owners by counting, then each owner's size is split over its
 * run of them: O(processes + owners). Where no process of an owner ran, each process weighs 1.
 */
#include "attribution/learning/idle_size.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/num.h"

void idle_size_scratch_release(struct idle_size_scratch *scratch)
{
	free(scratch->first);
	free(scratch->order);
	free(scratch->used_ns);
	free(scratch->parts);
	split_scratch_release(&scratch->split);
	*scratch = (struct idle_size_scratch){ 0 };
}

static int reserve(struct idle_size_scratch *scratch, size_t count, size_t owners)
{
	if (owners + 1 > scratch->owners) {
		if (ARRAY_RESIZE(scratch->first, owners + 1) < 0)
			return -ENOMEM;
		scratch->owners = owners + 1;
	}
	if (count > scratch->count) {
		if (ARRAY_RESIZE(scratch->order, count) < 0 ||
		    ARRAY_RESIZE(scratch->used_ns, count) < 0 ||
		    ARRAY_RESIZE(scratch->parts, count) < 0)
			return -ENOMEM;
		scratch->count = count;
	}
	return 0;
}

/* order[first[o]..first[o + 1]) are the processes of owner o. */
static void sort_by_owner(const struct idle_size_input *input, struct idle_size_scratch *scratch)
{
	size_t *first = scratch->first, at = 0;

	memset(first, 0, (input->owners + 1) * sizeof(*first));
	for (size_t i = 0; i < input->count; i++)
		first[input->owner[i]]++;
	for (size_t o = 0; o <= input->owners; o++) {
		size_t count = first[o];

		first[o] = at;
		at += count;
	}
	for (size_t i = 0; i < input->count; i++)
		scratch->order[first[input->owner[i]]++] = i;
	for (size_t o = input->owners; o > 0; o--) /* each had moved to the next one's start */
		first[o] = first[o - 1];
	first[0] = 0;
}

static uint64_t size_of(uint32_t millicpu, uint64_t dt_ns)
{
	if (millicpu > IDLE_SIZE_MAX_MILLICPU)
		millicpu = IDLE_SIZE_MAX_MILLICPU;
	return muldiv_u64(dt_ns, millicpu, 1000);
}

static int spread(const struct idle_size_input *input, size_t owner, uint64_t *weights,
		  struct idle_size_scratch *scratch)
{
	const size_t *order = scratch->order + scratch->first[owner];
	size_t count = scratch->first[owner + 1] - scratch->first[owner];
	uint64_t sum_ns = 0;
	int r;

	for (size_t i = 0; i < count; i++) {
		scratch->used_ns[i] = input->used_ns[order[i]];
		if (__builtin_add_overflow(sum_ns, scratch->used_ns[i], &sum_ns))
			return -EOVERFLOW;
	}
	if (!input->size_millicpu[owner]) {
		for (size_t i = 0; i < count; i++)
			weights[order[i]] = scratch->used_ns[i];
		return 0;
	}
	for (size_t i = 0; i < count && sum_ns == 0; i++)
		scratch->used_ns[i] = 1;
	r = split_exact(size_of(input->size_millicpu[owner], input->dt_ns), scratch->used_ns, count,
			scratch->parts, &scratch->split);
	for (size_t i = 0; i < count && r == 0; i++)
		weights[order[i]] = scratch->parts[i];
	return r;
}

int idle_size_weights(const struct idle_size_input *input, uint64_t *weights,
		      struct idle_size_scratch *scratch)
{
	int r = reserve(scratch, input->count, input->owners);

	if (r == 0)
		sort_by_owner(input, scratch);
	for (size_t owner = 0; owner < input->owners && r == 0; owner++) {
		if (scratch->first[owner] < scratch->first[owner + 1])
			r = spread(input, owner, weights, scratch);
	}
	if (r < 0 && input->count)
		memset(weights, 0, input->count * sizeof(*weights));
	return r;
}
