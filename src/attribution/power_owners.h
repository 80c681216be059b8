/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What no counter shows of work: an instruction of one kind takes twice as much energy as one of
 * another. A factor for each owner of much work corrects what the regression says of it, learned
 * from the zone's power on line, as power_fit.h's coefficients are:
 *
 *     power above the base = Σ factor × watts that the regression says of the owner
 *
 * A factor is drawn to 1 as by Bayes' rule, with a normal prior of the deviation 0.35, by as much
 * as the errors that are measured leave it open; it is 0 to POWER_OWNERS_MAX. Factors are used
 * while they predict better than 1 does, before they learn from an interval, by POWER_FIT_MARGIN
 * and half a minute. Owners that do little have no factor. Pure; one for each zone and place.
 * docs/design/power-fit.md
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POWER_OWNERS          16 /* with a factor at a time: those with the most watts */
#define POWER_OWNERS_MAX      4.0
#define POWER_OWNERS_MEMORY_S 600.0 /* time constant of what is learned */

struct power_owner {
	uint64_t key; /* 0: none */
	double factor;
	double mean_w; /* of the last minutes */
};

struct power_owners {
	struct power_owner owner[POWER_OWNERS];
	/* Forgotten exponentially; a lower triangle by rows, as nnls.h has it. */
	double xx[POWER_OWNERS * (POWER_OWNERS + 1) / 2], xy[POWER_OWNERS];
	double error_w2, one_error_w2; /* mean squares of predictions: with factors, with 1 */
	double compared_s, other_s;    /* as in struct power_fit */
	bool is_better;
};

/* One interval of a zone, of which the regression must be in use. */
struct power_owners_sample {
	double power_w; /* above the base; may be negative, by noise */
	uint64_t span_ns;
	const uint64_t *key;  /* [count] of owners, each once and none 0 */
	const double *work_w; /* [count] what the regression says of their work; >= 0 */
	size_t count;
};

void power_owners_init(struct power_owners *owners);
/* Predicts, compares, learns. False when the interval is ignored: numbers that no machine has. */
bool power_owners_add(struct power_owners *owners, const struct power_owners_sample *sample);
/*
 * The regression says @ratio times as much of the past work of owner @key now as it did: what is
 * learned of that is restated. Ratios that no learning gives are ignored.
 */
void power_owners_restate(struct power_owners *owners, uint64_t key, double ratio);
/* By which the weights of the owner's parties are multiplied; 1 where there is none to be used. */
double power_owners_factor(const struct power_owners *owners, uint64_t key);
/* Whether factors are in use, and the root mean square of their predictions' errors. */
bool power_owners_error(const struct power_owners *owners, double *ret_error_w);
