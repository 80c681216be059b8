/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates the power that a machine draws at the wall at a given utilisation. Pure.
 *
 * It is used where no meter exists. The weights are fitted by builtin-models to the
 * wall power that SPECpower_ssj2008 submitters measured; docs/design/platform-power-model.md has
 * the form, how it was chosen, and its errors of machines that were held out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/platform_features.h"
#include "model/platform_power_weights.h"
#include "model/processor/cpu_name.h"

/*
 * Facts about a machine that the model uses. 0 or "" where unknown: the model then uses its
 * population's typical value.
 */
struct machine_facts {
	char vendor[16];  /* "intel", "amd", "arm", … */
	unsigned cores;   /* physical */
	unsigned threads; /* logical */
	unsigned sockets;
	unsigned year;        /* class: when its CPU family came out; 0 unknown */
	double frequency_ghz; /* nominal */
	double memory_gib;
	struct cpu_name cpu; /* cpu_name_read() */
};

/*
 * The numbers of @facts as they are: nothing is confined to a population. Cores and sockets must be
 * known.
 */
void machine_facts_read(const struct machine_facts *facts, struct platform_machine *ret);

struct power_estimate {
	double idle_w;
	double dynamic_w;       /* above idle */
	double bound_w;         /* nine of ten machines lie within idle + dynamic ± this */
	double dynamic_bound_w; /* the same for dynamic_w alone */
	bool outside; /* a fact is beyond the population: the bound is no more than a guess */
};

/*
 * Replaces unknown @facts by typical values of the model's population: of the machines of its year
 * class, or of all. An unknown year comes from the CPU's name, or is the population's median;
 * unknown sockets are as many as @facts' cores need, by the CPU's name or a typical CPU; an unknown
 * design power is predicted from the other facts. @ret may be @facts.
 */
void power_model_complete_facts(const struct power_model *model, const struct machine_facts *facts,
				struct machine_facts *ret);

/* The power of one machine at all loads. It depends on the facts alone, so it is computed once. */
struct power_curve {
	double watts[POWER_LEVELS];
	const double *bound; /* [POWER_LEVELS], over the power; belongs to the model */
	bool outside;
};

void power_curve_make(const struct power_model *model, const struct machine_facts *facts,
		      struct power_curve *ret);
/*
 * @utilisation 0..1 of all logical CPUs; clamped. All results are finite and >= 0; dynamic_w never
 * falls with utilisation.
 */
void power_curve_at(const struct power_curve *curve, double utilisation,
		    struct power_estimate *ret);
/* Both at once. */
void power_model_estimate(const struct power_model *model, const struct machine_facts *facts,
			  double utilisation, struct power_estimate *ret);
