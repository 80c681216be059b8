/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences in the cost of work that no counter shows: an instruction of one kind takes twice as
 * much energy as one of another kind. A factor for each owner of much work corrects the prediction
 * by coefficients. Both are learned together from the zone's power, online:
 *
 *     power = base + Σ coefficient × amount per second + Σ (factor - 1) × predicted watts
 *
 * A coefficient is drawn to the plain ratio's, as in power_fit.h, and a factor to 1, as by Bayes'
 * rule with a normal prior of the deviation 0.35: both by as much as the errors leave them open. So
 * there is an estimate from the first half minute on, which is the plain ratio if owners cannot be
 * distinguished. A factor is within the caller's limit, and does not apply to the time that the
 * zone is awake. The factors are used while they predict an interval, before learning from it,
 * better than the model without them, by POWER_FIT_MARGIN and half a minute. Owners that do little
 * have no factor. Intervals with little work are forgotten slowly: a quiet night removes nothing.
 * Pure; one for each zone and place. docs/design/power-fit.md
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/learning/power_fit_sums.h"

#define POWER_OWNERS     16 /* with a factor at a time: those with the most watts */
#define POWER_OWNERS_MAX 4.0

struct power_owner {
	uint64_t key; /* 0: none */
	double factor;
	double mean_w;                     /* of the last minutes */
	double amount[POWER_FIT_FEATURES]; /* what it did, forgotten as the sums are */
	/* Σ of its watts × terms, and × power. */
	double cross[POWER_FIT_TERMS], power;
};

struct power_owners {
	struct power_owner owner[POWER_OWNERS];
	struct power_fit_sums sums; /* of all work, forgotten exponentially */
	/* Σ watts × watts of two owners; a lower triangle by rows, as nnls.h has it. */
	double xx[POWER_OWNERS * (POWER_OWNERS + 1) / 2];
	double coefficient[POWER_FIT_TERMS];
	double work_w2;                  /* mean square of the power of the work in the sums */
	double noise_w2;                 /* of the sums, what is not explained */
	double error_w2, other_error_w2; /* mean squares of predictions: of these, without them */
	double lasting_w2, last_error_w; /* covariance of an error and the next; the last error */
	double compared_s, other_s;      /* as in struct power_fit */
	double half_width;               /* power_owners_half_width(); negative: it is not known */
	uint32_t signals;                /* that it is learned from, set by the caller */
	bool is_known;                   /* the coefficients are learned */
	bool is_better;
};

/* One interval of a zone. */
struct power_owners_sample {
	double power_w;
	double idle_w; /* the base; negative: not known */
	uint64_t span_ns;
	const struct power_fit_work *all;
	const uint64_t *key;               /* [count] of owners, each once and none 0 */
	const struct power_fit_work *work; /* [count] of theirs */
	size_t count;
	const double *unit;  /* [POWER_FIT_FEATURES] of the plain ratio */
	double factor_limit; /* factors are 1 / this to this, POWER_OWNERS_MAX at most */
	/* The model without factors, [POWER_FIT_TERMS]; NULL: the plain ratio of the sums. */
	const double *other;
};

void power_owners_init(struct power_owners *owners);
/* Predicts, compares, learns. False when the interval is ignored, because of impossible numbers. */
bool power_owners_add(struct power_owners *owners, const struct power_owners_sample *sample);
/* Are factors in use? @ret_error_w: the root mean square of their predictions' errors. */
bool power_owners_error(const struct power_owners *owners, double *ret_error_w);
/* The mean power in the learned sums; 0 before. */
double power_owners_mean_w(const struct power_owners *owners);
/*
 * Half the width of the 90 % interval of the share (0..1) of the last interval's power that the
 * owner with the most power has. Two causes are known: the learned factors are uncertain (the
 * normal distribution after the sums and the prior), and work differs in ways that no factor shows:
 * errors that persist from one interval to the next, which are all ascribed to that owner. Both
 * assume that owners vary their work independently. False while these shares are not in use.
 */
bool power_owners_half_width(const struct power_owners *owners, double *ret);
/* Applies @factor_limit to factors that were learned with other limits. */
void power_owners_bound(struct power_owners *owners, double factor_limit);
/* The factor for the weights of the owner's parties; 1 if no factor is in use. */
double power_owners_factor(const struct power_owners *owners, uint64_t key);
