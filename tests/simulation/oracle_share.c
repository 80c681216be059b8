// SPDX-License-Identifier: Apache-2.0
/*
 * The weight of each sample by its counts, and the basis by which a zone's energy is shared: as
 * docs/attribution.md describes it, in floating point.
 */
#include "oracle.h"

#include <math.h>
#include <string.h>

#define SMT_FACTOR      0.575
#define MIX_PAIRED      0.5
#define MIX_INSTRUCTION 0.75

static double seen_of(const struct world_interval *interval, const struct sample *sample)
{
	if (!(interval->counting & COUNTED_TIME))
		return (double)sample->cpu_ns;
	return fmin((double)sample->counted_ns, (double)sample->cpu_ns);
}

/* @whole, in which the amount next to a busy sibling counts @factor. */
static double unpaired(const struct world_interval *interval, const struct sample *sample,
		       double whole, double factor)
{
	double paired;

	if (!(interval->counting & COUNTED_TIME) || !(interval->counting & COUNTED_PAIRED) ||
	    !sample->counted_ns)
		return whole;
	paired = fmin(1, (double)sample->paired_ns / (double)sample->counted_ns);
	return whole * (1 - (1 - factor) * paired);
}

static double raw_weight(const struct world_interval *interval, const struct sample *sample,
			 enum basis basis)
{
	switch (basis) {
	case BASIS_SMT:
		return unpaired(interval, sample, seen_of(interval, sample), SMT_FACTOR);
	case BASIS_CYCLES:
		return unpaired(interval, sample, (double)sample->cycles, SMT_FACTOR);
	case BASIS_MIX:
		return unpaired(interval, sample, (double)sample->cycles, MIX_PAIRED) +
		       MIX_INSTRUCTION * (double)sample->instructions;
	case BASIS_MISSES:
		return (double)sample->misses;
	case BASIS_TIME:
		return (double)sample->cpu_ns;
	case BASIS_TRAFFIC: /* owners have it, and samples have not */
	case BASIS_COUNT:
		break;
	}
	return 0;
}

/* At least half of the time must have been counted. */
static bool is_counted(const struct world *world)
{
	const struct world_interval *interval = &world->interval;
	double seen = 0, all = (double)interval->dropped_owner_ns;

	if (!(interval->counting & COUNTED_TIME)) /* of a cgroup without processes nothing is */
		return true;
	for (size_t i = 0; i < interval->count; i++) {
		seen += seen_of(interval, &world->samples[i]);
		all += (double)world->samples[i].cpu_ns;
	}
	return 2 * seen >= all;
}

static void find_known(struct basis_weights *weights, const struct world *world)
{
	uint32_t counted = world->interval.counting;
	bool usable = is_counted(world);
	bool *known = weights->known;

	known[BASIS_TIME] = true;
	known[BASIS_SMT] = usable && counted & COUNTED_TIME && counted & COUNTED_PAIRED;
	known[BASIS_CYCLES] = usable && counted & COUNTED_CYCLES;
	known[BASIS_MIX] = known[BASIS_CYCLES] && counted & COUNTED_INSTRUCTIONS;
	known[BASIS_MISSES] = usable && counted & COUNTED_MISSES;
	known[BASIS_TRAFFIC] = counted & COUNTED_TRAFFIC;
}

static double mean_of(const struct world *world, enum basis basis)
{
	const struct world_interval *interval = &world->interval;
	bool by_time = basis == BASIS_TRAFFIC || !(interval->counting & COUNTED_TIME);
	double weight = 0, ns = by_time ? (double)interval->dropped_owner_ns : 0;

	for (size_t i = 0; i < interval->count; i++) {
		const struct sample *sample = &world->samples[i];

		weight += raw_weight(interval, sample, basis);
		ns += by_time ? (double)sample->cpu_ns : seen_of(interval, sample);
	}
	for (size_t i = 0; basis == BASIS_TRAFFIC && i < world->owner_count; i++)
		weight += (double)interval->owner_traffic[i];
	return ns > 0 ? weight / ns : 0;
}

static double weight_of(const struct world_interval *interval, const struct sample *sample,
			enum basis basis, double mean)
{
	double raw = raw_weight(interval, sample, basis), seen = seen_of(interval, sample);
	double all = (double)sample->cpu_ns;

	if (basis == BASIS_TRAFFIC || seen >= all)
		return raw;
	return seen * 8 >= all ? raw * all / seen : raw + mean * (all - seen);
}

void basis_weigh(struct basis_weights *weights, const struct world *world)
{
	find_known(weights, world);
	for (enum basis basis = BASIS_SMT; basis < BASIS_COUNT; basis++) {
		if (!weights->known[basis])
			continue;
		weights->mean[basis] = mean_of(world, basis);
		for (size_t i = 0; i < world->interval.count; i++)
			weights->sample[basis][i] = weight_of(&world->interval, &world->samples[i],
							      basis, weights->mean[basis]);
		/* Nothing is counted for a cgroup without processes. */
		weights->nameless_owner[basis] =
			basis == BASIS_TRAFFIC || !(world->interval.counting & COUNTED_TIME)
				? 0
				: weights->mean[basis] * (double)world->interval.dropped_owner_ns;
	}
}

enum basis basis_choose(const struct basis_weights *weights, enum zone_type type)
{
	static const enum basis cores[] = { BASIS_MIX, BASIS_CYCLES, BASIS_SMT, BASIS_TIME };
	static const enum basis uncore[] = { BASIS_TRAFFIC, BASIS_MISSES, BASIS_MIX,
					     BASIS_CYCLES,  BASIS_SMT,    BASIS_TIME };
	static const enum basis memory[] = { BASIS_TRAFFIC, BASIS_MISSES, BASIS_TIME };
	const enum basis *list = type == TYPE_UNCORE ? uncore : type == TYPE_DRAM ? memory : cores;

	if (type == TYPE_GPU)
		return BASIS_TIME;
	while (!weights->known[*list])
		list++;
	return *list;
}
