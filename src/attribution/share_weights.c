// SPDX-License-Identifier: Apache-2.0
/*
 * Two passes over the parties compute the weights of counted work with their mean per nanosecond,
 * then the weights of all work. Then follow the part of the place and, last, the work without a
 * name.
 */
#include "attribution/share_weights.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/num.h"

/* The limit for one party, so that a sum over as many as fit into memory fits 128 bits. */
#define WEIGHT_MAX  SHARE_WEIGHTS_MAX
#define MEMORY_UNIT (1ULL << 20)
#define MEMORY_MAX  (1ULL << 60) /* of a container; more than any machine has */

typedef unsigned __int128 wide;

void share_weights_release(struct share_weights *weights)
{
	free(weights->weight);
	free(weights->held);
	free(weights->held_there);
	*weights = (struct share_weights){ 0 };
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* a × b / c, or WEIGHT_MAX if that is more; 0 if @c is 0. */
static uint64_t scaled(wide a, uint64_t b, wide c)
{
	wide product;

	if (!c || !a || !b)
		return 0;
	if (a > UINT64_MAX) /* more than any machine counts in an interval: fewer digits do */
		return scaled(a >> 32, b, (c >> 32) + 1);
	product = a * b / c;
	return product < WEIGHT_MAX ? (uint64_t)product : WEIGHT_MAX;
}

static uint64_t amount_of(const struct parties *parties, enum signal signal, size_t i)
{
	return parties->signals & SIGNAL_BIT(signal) ? parties->signal[signal][i] : 0;
}

/* The CPU time of party @i that signals of counted time are of: all, where that is not known. */
static uint64_t counted_ns(const struct parties *parties, size_t i)
{
	uint64_t cpu_ns = parties->cpu_ns[i];

	if (!(parties->signals & SIGNAL_BIT(SIGNAL_COUNTED_TIME)))
		return cpu_ns;
	return least(parties->signal[SIGNAL_COUNTED_TIME][i], cpu_ns);
}

uint32_t share_weights_signals(const struct parties *parties)
{
	const uint32_t of_counted_time = (SIGNAL_BIT(SIGNAL_CACHE_MISSES) << 1) - 1;
	wide all_ns = 0, seen_ns = 0;

	if (!(parties->signals & of_counted_time))
		return parties->signals;
	for (size_t i = 0; i < parties->count; i++) {
		all_ns += parties->cpu_ns[i];
		seen_ns += counted_ns(parties, i);
	}
	return seen_ns * 2 >= all_ns ? parties->signals : parties->signals & ~of_counted_time;
}

/* @whole, in which the amount with a busy sibling counts smt_ppm. */
static uint64_t weigh_pairing(const struct parties *parties, size_t i, uint64_t whole,
			      uint64_t smt_ppm)
{
	uint64_t time_ns = amount_of(parties, SIGNAL_COUNTED_TIME, i);
	uint64_t paired_ns = least(amount_of(parties, SIGNAL_PAIRED_TIME, i), time_ns);
	uint64_t paired = scaled(whole, paired_ns, time_ns);

	return whole - scaled(paired, SHARE_PPM - smt_ppm, SHARE_PPM);
}

static uint64_t sum_of_two(const struct parties *parties, size_t i, enum signal a, enum signal b)
{
	return least(amount_of(parties, a, i), WEIGHT_MAX / 2) +
	       least(amount_of(parties, b, i), WEIGHT_MAX / 2);
}

static uint64_t weigh_mix(const struct parties *parties, size_t i, uint64_t pairing_ppm)
{
	uint64_t cycles =
		weigh_pairing(parties, i, amount_of(parties, SIGNAL_CPU_CYCLES, i), pairing_ppm);
	uint64_t instructions = scaled(amount_of(parties, SIGNAL_INSTRUCTIONS, i),
				       SHARE_MIX_INSTRUCTION_PPM, SHARE_PPM);

	return least(cycles, WEIGHT_MAX / 2) + least(instructions, WEIGHT_MAX / 2);
}

static uint64_t weigh_by_fit(const struct share_weights *weights, const struct parties *parties,
			     size_t i)
{
	struct share_factor factor =
		weights->factor ? weights->factor[i] : (struct share_factor){ 1, 1 };
	double coefficient[POWER_FIT_FEATURES];
	uint64_t amounts[SIGNAL_COUNT];
	struct power_fit_work work;

	for (enum signal signal = 0; signal < SIGNAL_COUNT; signal++) {
		amounts[signal] = amount_of(parties, signal, i);
		/* As much as was counted: add_uncounted() takes the rest of all signals alike. */
		if (!signal_is_of_counted_time(signal))
			amounts[signal] =
				scaled(amounts[signal], counted_ns(parties, i), parties->cpu_ns[i]);
	}
	for (size_t f = 0; f < POWER_FIT_FEATURES; f++)
		coefficient[f] = weights->coefficient[f] * factor.all *
				 (f == POWER_FIT_AWAKE ? 1 : factor.work);
	power_fit_work_of(amounts, parties->signals, &work);
	power_fit_work_set_awake(&work, weights->awake_ratio);
	return least(power_fit_weight(coefficient, &work), WEIGHT_MAX);
}

#define HELD_UNKNOWN UINT64_MAX

/* By container, the memory at @place; unknown where all of it is. 0 or -ENOMEM. */
static int sum_memory_there(struct share_weights *weights, const struct parties *parties,
			    uint32_t place, size_t containers)
{
	if (ARRAY_RESERVE(weights->held_there, weights->held_there_size, containers) < 0)
		return -ENOMEM;
	for (size_t c = 0; c < containers; c++)
		weights->held_there[c] = parties->knows_held && weights->held[c] ? 0 : HELD_UNKNOWN;
	for (size_t i = 0; parties->knows_held && i < parties->count; i++) {
		uint64_t *there = &weights->held_there[parties->party[i].container];

		if (*there != HELD_UNKNOWN)
			*there = least(*there + least(parties->held[place][i], MEMORY_MAX),
				       MEMORY_MAX);
	}
	return 0;
}

/*
 * Adds up the memory of each container. A container without known memory gets the mean of the
 * others, weighted by their CPU time. 0 or -ENOMEM.
 */
static int sum_memory(struct share_weights *weights, const struct parties *parties, uint32_t place)
{
	wide product = 0, time_ns = 0;
	size_t containers = 0;
	uint64_t mean;

	for (size_t i = 0; i < parties->count; i++) {
		if (parties->party[i].container >= containers)
			containers = (size_t)parties->party[i].container + 1;
	}
	if (ARRAY_RESERVE(weights->held, weights->held_size, containers) < 0)
		return -ENOMEM;
	memset(weights->held, 0, containers * sizeof(*weights->held));
	for (size_t i = 0; i < parties->count; i++) {
		uint64_t *held = &weights->held[parties->party[i].container];

		*held = least(*held + least(amount_of(parties, SIGNAL_RESIDENT, i), MEMORY_MAX),
			      MEMORY_MAX);
	}
	if (place < parties->sockets && sum_memory_there(weights, parties, place, containers) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < parties->count; i++) {
		uint64_t held = weights->held[parties->party[i].container];

		product += (wide)held * parties->cpu_ns[i];
		time_ns += held ? parties->cpu_ns[i] : 0;
	}
	mean = time_ns ? (uint64_t)(product / time_ns) : 0;
	for (size_t c = 0; c < containers; c++)
		weights->held[c] = weights->held[c] ? weights->held[c] : mean;
	return 0;
}

static uint64_t weigh_by_memory(const struct share_weights *weights, const struct parties *parties,
				size_t i)
{
	return scaled(parties->cpu_ns[i], weights->held[parties->party[i].container], MEMORY_UNIT);
}

/* The weight of the known amounts of party @i. */
static uint64_t weigh(const struct parties *parties, size_t i, enum share_rule rule,
		      uint64_t smt_ppm)
{
	uint32_t signals = share_rule_signals(rule);
	uint64_t pairing_ppm = share_rule_pairing_ppm(rule, smt_ppm), amount;

	if (rule == SHARE_SMT_TIME)
		return weigh_pairing(parties, i, counted_ns(parties, i), pairing_ppm);
	if (rule == SHARE_CYCLES_INSTRUCTIONS)
		return weigh_mix(parties, i, pairing_ppm);
	if (rule == SHARE_NETWORK)
		return sum_of_two(parties, i, SIGNAL_NET_TX_IRQ, SIGNAL_NET_RX_IRQ);
	/* One signal. */
	amount = least(amount_of(parties, (enum signal)__builtin_ctz(signals), i), WEIGHT_MAX);
	return rule == SHARE_CYCLES || rule == SHARE_FREQUENCY_TIME
		       ? weigh_pairing(parties, i, amount, pairing_ppm)
		       : amount;
}

/* Over all parties: the total weight, and the time that it covers. */
struct mean {
	wide weight, time_ns;
};

static struct mean weigh_counted(struct share_weights *weights, const struct parties *parties,
				 enum share_rule rule, uint64_t smt_ppm)
{
	bool is_of_counted_time = share_rule_is_of_counted_time(rule);
	struct mean mean = { 0 };

	for (size_t i = 0; i < parties->count; i++) {
		uint64_t weight = rule == SHARE_FIT ? weigh_by_fit(weights, parties, i)
				  : rule == SHARE_RESIDENT_TIME
					  ? weigh_by_memory(weights, parties, i)
					  : weigh(parties, i, rule, smt_ppm);

		weights->weight[i] = weight;
		mean.weight += weight;
		mean.time_ns += is_of_counted_time ? counted_ns(parties, i) : parties->cpu_ns[i];
	}
	return mean;
}

/* For the CPU time that no context switch has shown. */
static void add_uncounted(struct share_weights *weights, const struct parties *parties,
			  const struct mean *mean)
{
	for (size_t i = 0; i < parties->count; i++) {
		uint64_t cpu_ns = parties->cpu_ns[i], seen_ns = counted_ns(parties, i);
		uint64_t *weight = &weights->weight[i];

		if (seen_ns == cpu_ns)
			continue;
		if (seen_ns && seen_ns >= cpu_ns / SHARE_COUNTED_PART)
			*weight = scaled(*weight, cpu_ns, seen_ns);
		else
			*weight = least(
				*weight + scaled(mean->weight, cpu_ns - seen_ns, mean->time_ns),
				WEIGHT_MAX);
	}
}

/* By where the memory is, with SHARE_RESIDENT_TIME; false where that is not known of party @i. */
static bool take_part_of_memory(struct share_weights *weights, const struct parties *parties,
				size_t i)
{
	uint32_t container = parties->party[i].container;
	uint64_t there = weights->held_there[container];

	if (there == HELD_UNKNOWN)
		return false;
	weights->weight[i] = scaled(weights->weight[i], there, weights->held[container]);
	return true;
}

static void take_part_of_place(struct share_weights *weights, const struct parties *parties,
			       enum share_rule rule, uint32_t place)
{
	for (size_t i = 0; i < parties->count; i++) {
		uint64_t *weight = &weights->weight[i];

		if (rule == SHARE_RESIDENT_TIME && take_part_of_memory(weights, parties, i))
			continue;
		*weight = parties->cpu_ns[i] ? scaled(*weight, parties->socket_ns[place][i],
						      parties->cpu_ns[i])
					     : parties_of_socket(parties, place, *weight);
	}
}

static void halve_to_fit(struct share_weights *weights, size_t count)
{
	wide sum = (wide)weights->dropped + weights->unseen;
	unsigned halvings = 0;

	for (size_t i = 0; i < count; i++)
		sum += weights->weight[i];
	while (sum >> halvings > SHARE_WEIGHTS_MAX)
		halvings++;
	if (!halvings)
		return;
	for (size_t i = 0; i < count; i++)
		weights->weight[i] >>= halvings;
	weights->dropped >>= halvings;
	weights->unseen >>= halvings;
}

int share_weights_make(struct share_weights *weights, const struct parties *parties,
		       enum share_rule rule, uint64_t smt_ppm, uint32_t place, uint64_t dropped_ns,
		       uint64_t unseen_ns)
{
	struct mean mean;

	if (parties->count > weights->size &&
	    ARRAY_RESERVE(weights->weight, weights->size, parties->count) < 0)
		return -ENOMEM;
	if (rule == SHARE_RESIDENT_TIME && parties->count &&
	    sum_memory(weights, parties, place) < 0)
		return -ENOMEM;
	mean = weigh_counted(weights, parties, rule, smt_ppm);
	if (share_rule_is_of_counted_time(rule))
		add_uncounted(weights, parties, &mean);
	if (place < parties->sockets)
		take_part_of_place(weights, parties, rule, place);
	weights->dropped = scaled(mean.weight, dropped_ns, mean.time_ns);
	weights->unseen = scaled(mean.weight, unseen_ns, mean.time_ns);
	halve_to_fit(weights, parties->count);
	return 0;
}
