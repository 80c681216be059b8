/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energy that no part of the machine counts (energy/remainder.h) is shared among the users of
 * its parts, in proportion to the energy that they were charged for these: a fan turns, and a power
 * supply gets warm, for every consumer of power.
 *
 * That is a rule and not a measurement. Dynamic energy follows dynamic energy; idle energy follows
 * idle energy or, with --idle.share=usage, dynamic energy.
 */
#pragma once

#include "attribution/parties.h"

struct energy_parties {
	/* Weights in µJ: cpu_ns has the dynamic, idle_weight the idle ones. */
	struct parties parties;
	const struct party
		*cpu_party; /* of the interval: the first cpu_count parties are the same */
	size_t cpu_count;
	uint64_t dropped_uj, unseen_uj; /* dynamic, of work without a name */
	bool has_energy;                /* any part has, in either mode */
};

/* A new interval, in which @cpu ran; unchanged until its energy has been added. */
void energy_parties_begin(struct energy_parties *parties, const struct parties *cpu);
/*
 * Adds what the split of a part's energy gave to each @party [count]. Without memory it is dropped.
 */
void energy_parties_add(struct energy_parties *parties, const struct party *party, size_t count,
			const struct attribution_result *result);
/* Was any energy added? */
bool energy_parties_have_energy(const struct energy_parties *parties);
/* The added energy, as work: idle energy is shared by @share. */
struct domain_work energy_parties_work(const struct energy_parties *parties, enum idle_share share);
void energy_parties_release(struct energy_parties *parties);
