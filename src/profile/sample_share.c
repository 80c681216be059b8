// SPDX-License-Identifier: Apache-2.0
#include "profile/sample_share.h"

#include <stdlib.h>

#include "base/array.h"

#define WAITING_MAX 16384 /* samples of an event that no energy may ever follow */

void share_scratch_release(struct share_scratch *scratch)
{
	split_scratch_release(&scratch->split);
	free(scratch->parts);
	*scratch = (struct share_scratch){ .size = 0 };
}

uint64_t share_amounts_uj(const struct share_amounts *amounts)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < SAMPLE_CLOCKS; i++)
		sum += amounts->energy_uj[i];
	return sum;
}

void sample_share_release(struct sample_share *share)
{
	for (size_t i = 0; i < SAMPLE_CLOCKS; i++) {
		free(share->lists[i].nodes);
		free(share->lists[i].weights);
	}
	*share = (struct sample_share){ .waiting.cpu_ns = 0 };
}

int sample_share_add(struct sample_share *share, enum sample_clock clock, uint32_t node,
		     uint64_t weight)
{
	struct sample_list *list = &share->lists[clock];
	bool is_full = clock != SAMPLED_BY_TIME && list->count >= WAITING_MAX;
	size_t count = list->is_charged || is_full ? 0 : list->count;
	int r = ARRAY_RESERVE(list->nodes, list->node_size, count + 1);

	if (r == 0)
		r = ARRAY_RESERVE(list->weights, list->weight_size, count + 1);
	if (r < 0)
		return r;
	list->nodes[count] = node;
	list->weights[count] = weight;
	list->count = count + 1;
	list->is_charged = false;
	return 0;
}

/* The parts of @amount, one per sample, in scratch->parts; false: out of memory. */
static bool split_amount(const struct sample_list *list, uint64_t amount,
			 struct share_scratch *scratch)
{
	return ARRAY_RESERVE(scratch->parts, scratch->size, list->count) == 0 &&
	       split_exact(amount, list->weights, list->count, scratch->parts, &scratch->split) >=
		       0;
}

/* Splits the energy that waits for @clock over @list; without memory it waits on. */
static void split_energy(struct sample_share *share, enum sample_clock clock,
			 struct sample_list *list, struct profile *profile,
			 struct share_scratch *scratch)
{
	if (!list->count || !split_amount(list, share->waiting.energy_uj[clock], scratch))
		return;
	for (size_t i = 0; i < list->count; i++)
		profile->nodes[list->nodes[i]].energy_uj[RUN_NOW] += scratch->parts[i];
	share->waiting.energy_uj[clock] = 0;
}

static void split_time(struct sample_share *share, struct profile *profile,
		       struct share_scratch *scratch)
{
	const struct sample_list *list = &share->lists[SAMPLED_BY_TIME];

	if (!list->count || !split_amount(list, share->waiting.cpu_ns, scratch))
		return;
	for (size_t i = 0; i < list->count; i++)
		profile->nodes[list->nodes[i]].cpu_ns += scratch->parts[i];
	share->waiting.cpu_ns = 0;
}

/* Samples by time are those that the profile counts, once they have energy. */
static void count_samples(const struct sample_list *list, struct profile *profile)
{
	for (size_t i = 0; i < list->count; i++)
		profile->nodes[list->nodes[i]].samples++;
}

/* CPU time is split together with the energy that follows the same samples. */
static void charge_clock(struct sample_share *share, enum sample_clock clock,
			 struct profile *profile, struct share_scratch *scratch)
{
	struct sample_list *list = &share->lists[clock];

	if (!list->count || !share->waiting.energy_uj[clock])
		return;
	split_energy(share, clock, list, profile, scratch);
	if (share->waiting.energy_uj[clock])
		return;
	if (clock == SAMPLED_BY_TIME) {
		if (!list->is_charged)
			count_samples(list, profile);
		split_time(share, profile, scratch);
	}
	list->is_charged = true;
}

void sample_share_charge(struct sample_share *share, struct profile *profile,
			 const struct share_amounts *amounts, struct share_scratch *scratch)
{
	share->waiting.cpu_ns += amounts->cpu_ns;
	for (enum sample_clock clock = 0; clock < SAMPLE_CLOCKS; clock++) {
		share->waiting.energy_uj[clock] += amounts->energy_uj[clock];
		charge_clock(share, clock, profile, scratch);
	}
}

/* For energy that has no samples of its own clock. */
static void charge_any(struct sample_share *share, enum sample_clock clock, struct profile *profile,
		       struct share_scratch *scratch)
{
	for (enum sample_clock other = 0; other < SAMPLE_CLOCKS && share->waiting.energy_uj[clock];
	     other++)
		split_energy(share, clock, &share->lists[other], profile, scratch);
}

struct share_amounts sample_share_end(struct sample_share *share, struct profile *profile,
				      struct share_scratch *scratch)
{
	struct sample_list *by_time = &share->lists[SAMPLED_BY_TIME];
	struct share_amounts waiting;

	for (enum sample_clock clock = 0; clock < SAMPLE_CLOCKS; clock++)
		charge_any(share, clock, profile, scratch);
	if (share->waiting.cpu_ns)
		split_time(share, profile, scratch);
	if (!by_time->is_charged)
		count_samples(by_time, profile);
	by_time->is_charged = true;
	waiting = share->waiting;
	share->waiting = (struct share_amounts){ .cpu_ns = 0 };
	return waiting;
}
