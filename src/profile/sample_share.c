// SPDX-License-Identifier: Apache-2.0
#include "profile/sample_share.h"

#include <stdlib.h>

#include "base/array.h"

void share_scratch_release(struct share_scratch *scratch)
{
	split_scratch_release(&scratch->split);
	free(scratch->parts);
	*scratch = (struct share_scratch){ .size = 0 };
}

void sample_share_release(struct sample_share *share)
{
	free(share->nodes);
	free(share->weights);
	*share = (struct sample_share){ .count = 0 };
}

int sample_share_add(struct sample_share *share, uint32_t node, uint64_t weight)
{
	size_t count = share->is_charged ? 0 : share->count;
	int r = ARRAY_RESERVE(share->nodes, share->node_size, count + 1);

	if (r == 0)
		r = ARRAY_RESERVE(share->weights, share->weight_size, count + 1);
	if (r < 0)
		return r;
	share->nodes[count] = node;
	share->weights[count] = weight;
	share->count = count + 1;
	share->is_charged = false;
	return 0;
}

/* The parts of @amount, one per sample, in scratch->parts; false: out of memory. */
static bool split_amount(const struct sample_share *share, uint64_t amount,
			 struct share_scratch *scratch)
{
	return ARRAY_RESERVE(scratch->parts, scratch->size, share->count) == 0 &&
	       split_exact(amount, share->weights, share->count, scratch->parts, &scratch->split) >=
		       0;
}

/* Splits all that waits; without memory it waits on. */
static void split_waiting(struct sample_share *share, struct profile *profile,
			  struct share_scratch *scratch)
{
	struct profile_node *nodes = profile->nodes;

	if (!split_amount(share, share->waiting.energy_uj, scratch))
		return;
	for (size_t i = 0; i < share->count; i++) {
		nodes[share->nodes[i]].energy_uj[RUN_NOW] += scratch->parts[i];
		nodes[share->nodes[i]].samples += !share->is_charged;
	}
	share->waiting.energy_uj = 0;
	share->is_charged = true;
	if (!split_amount(share, share->waiting.cpu_ns, scratch))
		return;
	for (size_t i = 0; i < share->count; i++)
		nodes[share->nodes[i]].cpu_ns += scratch->parts[i];
	share->waiting.cpu_ns = 0;
}

void sample_share_charge(struct sample_share *share, struct profile *profile,
			 struct share_amounts amounts, struct share_scratch *scratch)
{
	share->waiting.energy_uj += amounts.energy_uj;
	share->waiting.cpu_ns += amounts.cpu_ns;
	if (share->count && share->waiting.energy_uj)
		split_waiting(share, profile, scratch);
}

struct share_amounts sample_share_end(struct sample_share *share, struct profile *profile,
				      struct share_scratch *scratch)
{
	struct share_amounts waiting;

	if (share->count && share->waiting.cpu_ns)
		split_waiting(share, profile, scratch);
	waiting = share->waiting;
	share->waiting = (struct share_amounts){ .energy_uj = 0 };
	return waiting;
}
