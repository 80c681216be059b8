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

/* If the energy cannot be split it waits: without samples, or without memory. */
void sample_share_charge(struct sample_share *share, struct profile *profile, uint64_t energy_uj,
			 struct share_scratch *scratch)
{
	share->waiting_uj += energy_uj;
	if (!share->count || !share->waiting_uj)
		return;
	if (ARRAY_RESERVE(scratch->parts, scratch->size, share->count) < 0 ||
	    split_exact(share->waiting_uj, share->weights, share->count, scratch->parts,
			&scratch->split) < 0)
		return;
	for (size_t i = 0; i < share->count; i++) {
		struct profile_node *node = &profile->nodes[share->nodes[i]];

		node->energy_uj[RUN_NOW] += scratch->parts[i];
		node->samples += !share->is_charged;
	}
	share->waiting_uj = 0;
	share->is_charged = true;
}

uint64_t sample_share_take_waiting(struct sample_share *share)
{
	uint64_t waiting_uj = share->waiting_uj;

	share->waiting_uj = 0;
	return waiting_uj;
}
