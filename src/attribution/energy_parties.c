// SPDX-License-Identifier: Apache-2.0
/*
 * Most parts are split among what ran on the CPUs, as one list: its entries come first, so that
 * these need no search. What used a device, or is of a gap, gets entries of its own; the same
 * process may have several.
 */
#include "attribution/energy_parties.h"

void energy_parties_begin(struct energy_parties *parties, const struct parties *cpu)
{
	struct parties *own = &parties->parties;

	parties_begin(own, 0);
	parties->dropped_uj = parties->unseen_uj = 0;
	parties->has_energy = false;
	parties->cpu_party = cpu->party;
	parties->cpu_count = parties_reserve(own, cpu->count) < 0 ? 0 : cpu->count;
	for (size_t i = 0; i < parties->cpu_count; i++) {
		parties_add(own, cpu->party[i].process, cpu->party[i].container, 0, NULL);
		own->idle_weight[i] = 0;
	}
}

static void add_in_place(struct parties *own, size_t count, const struct attribution_result *result)
{
	for (size_t i = 0; i < count; i++) {
		own->cpu_ns[i] += result->parts[MODE_DYNAMIC][i];
		own->idle_weight[i] += result->parts[MODE_IDLE][i];
	}
}

static uint64_t sum_of(const uint64_t *parts, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += parts[i];
	return sum;
}

void energy_parties_add(struct energy_parties *parties, const struct party *party, size_t count,
			const struct attribution_result *result)
{
	struct parties *own = &parties->parties;
	const uint64_t *dynamic = result->parts[MODE_DYNAMIC], *idle = result->parts[MODE_IDLE];

	parties->has_energy |= result->mode_uj[MODE_DYNAMIC] || result->mode_uj[MODE_IDLE];
	parties->dropped_uj += result->unattributed_uj[MODE_DYNAMIC][UNATTRIBUTED_DROPPED];
	parties->unseen_uj += result->unattributed_uj[MODE_DYNAMIC][UNATTRIBUTED_UNSEEN] +
			      result->unattributed_uj[MODE_DYNAMIC][UNATTRIBUTED_NO_ACTIVITY];
	if (party == parties->cpu_party && count == parties->cpu_count) {
		add_in_place(own, count, result);
		return;
	}
	if (parties_reserve(own, own->count + count) < 0) {
		parties->dropped_uj += sum_of(dynamic, count);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		if (!dynamic[i] && !idle[i])
			continue;
		parties_add(own, party[i].process, party[i].container, dynamic[i], NULL);
		own->idle_weight[own->count - 1] = idle[i];
	}
}

bool energy_parties_have_energy(const struct energy_parties *parties)
{
	return parties->has_energy;
}

struct domain_work energy_parties_work(const struct energy_parties *parties, enum idle_share share)
{
	struct domain_work work = parties_work(&parties->parties, 0, parties->parties.count);

	work.input.rule = SHARE_PARTS;
	work.input.dropped_weight = parties->dropped_uj;
	work.input.unseen_weight = parties->unseen_uj;
	work.input.idle_share = share;
	if (share == IDLE_SHARE_USAGE)
		work.input.idle_weights = work.input.dynamic_weights;
	return work;
}

void energy_parties_release(struct energy_parties *parties)
{
	parties_release(&parties->parties);
	*parties = (struct energy_parties){ 0 };
}
