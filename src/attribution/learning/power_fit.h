/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many joules does each kind of work cost in a zone? A regression of the zone's power on the
 * counted work, learned online, one for each zone and place. Pure: times are parameters; a fit is
 * plain numbers, 4 KiB at most, and can be copied. docs/design/power-fit.md
 *
 *     power = base + Σ coefficient × amount per second        base, coefficients >= 0
 *
 * A party's weight is Σ coefficient × its amount; split_exact() makes parts of the weights that add
 * up to the meter. So the regression decides the proportions only, never the sum.
 *
 * Two models compete: the plain ratio, which is one coefficient for a fixed mix of features, such
 * as cycles, and the regression, with one for each feature. Each predicts an interval before it
 * learns from it; the one whose error is less is used, and a change takes POWER_FIT_MARGIN and half
 * a minute.
 *
 * Sources: C. L. Lawson, R. J. Hanson, "Solving Least Squares Problems" (1974), ch. 23, and R. Bro,
 * S. de Jong, "A fast non-negativity-constrained least squares algorithm", J. Chemometrics 11
 * (1997): coefficients >= 0 on the normal equations. L. Ljung, "System Identification" (1999),
 * ch. 11: forgetting. A. P. Dawid, "Statistical theory: the prequential approach", J. R. Statist.
 * Soc. A 147 (1984): errors of predictions. P. S. Kott, "The delete-a-group jackknife", J. Official
 * Statistics 17 (2001): intervals.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/learning/power_fit_sums.h"

/* One interval of a zone. */
struct power_fit_sample {
	double energy_j; /* what the meter counted, idle energy included */
	double idle_w;   /* power without work, as far as it is known; negative: it is not */
	uint64_t span_ns;
	struct power_fit_work work; /* of all parties at the zone's place, in this span */
	uint32_t signals;           /* SIGNAL_BIT()s that all parties have */
	double largest_share; /* 0..1: of the active cycles, of the process with most of them */
};

enum power_fit_model {
	POWER_FIT_LEARNING, /* not enough evidence for any other: the plain ratio is used */
	POWER_FIT_RATIO,    /* the regression predicts worse than the plain ratio */
	POWER_FIT_REGRESSION,
};

/*
 * The energy of a thread's paired cycle over the energy of a cycle alone, before anything is
 * fitted.
 */
#define POWER_FIT_SMT_FACTOR 0.575 /* METRION (2025): the second thread adds 15 %; 1.15 / 2 */
#define POWER_FIT_MARGIN     0.05  /* of the error by which another model must be better */
#define POWER_FIT_GROUPS     6     /* of blocks of intervals: left out one by one for the spread */

struct power_fit {
	double unit[POWER_FIT_FEATURES]; /* of the plain ratio */
	struct power_fit_sums group[POWER_FIT_GROUPS];
	double group_coefficient[POWER_FIT_GROUPS][POWER_FIT_TERMS]; /* without that group */
	double group_smt_factor[POWER_FIT_GROUPS];
	double coefficient[POWER_FIT_TERMS];
	double ratio[POWER_FIT_TERMS];   /* the plain ratio in the same form */
	double mean_w;                   /* mean power of the errors' time */
	double error_w2, ratio_error_w2; /* mean squares of predictions */
	double lasting_w2, lasting_s;    /* covariance of an error and the next; over that time */
	double last_error_w;             /* of the last interval */
	double explained_w2;             /* variance of the power that work explains */
	double compared_s;               /* how long the errors have been averaged */
	double other_s;                  /* how long another model has been the better one */
	double smt_factor;
	uint64_t time_ns; /* learned in all */
	uint32_t signals; /* that it is learned from */
	uint32_t other_signals;
	double other_signals_s; /* for how long these were known instead */
	uint8_t next_group;     /* that is left out next */
	uint8_t replicates;     /* how many groups have been left out */
	bool has_evidence, is_better;
};

/*
 * The plain ratio has @unit of each feature: a party's weight in it is Σ unit × amount. Such as
 * 1 of ALONE and POWER_FIT_SMT_FACTOR of PAIRED, or 1 of TRAFFIC; at least one is above 0. Features
 * of signals that are not known have amounts of 0, so the others are left.
 */
void power_fit_init(struct power_fit *fit, const double unit[POWER_FIT_FEATURES]);

/* Changes the unit of each feature from the next interval on; what was learned stays. */
void power_fit_compete(struct power_fit *fit, const double unit[POWER_FIT_FEATURES]);

/*
 * Predicts one interval, compares, and learns. False when the interval is ignored: impossible
 * numbers, or signals other than those learned from (half a minute of these restarts the fit).
 */
bool power_fit_add(struct power_fit *fit, const struct power_fit_sample *sample);

/* The model in use after the last interval. */
enum power_fit_model power_fit_model(const struct power_fit *fit);
/* Joules per unit of each feature, >= 0, of the model in use; at least one is above 0. */
void power_fit_coefficients(const struct power_fit *fit, double ret[POWER_FIT_FEATURES]);
/*
 * The same with the base, so that the terms predict the zone's power; all 0 while it is learning.
 */
void power_fit_terms(const struct power_fit *fit, double ret[POWER_FIT_TERMS]);
/* Σ coefficient × amount in nJ, as a weight; at most 2^62. */
uint64_t power_fit_weight(const double coefficient[POWER_FIT_FEATURES],
			  const struct power_fit_work *work);

/* How well the zone is known: errors of predictions. */
struct power_fit_quality {
	enum power_fit_model model;
	double error_w; /* root mean square of predictions of the last minutes, without outliers */
	double error_ratio;   /* that over the mean power, idle power included; 0.. */
	double ratio_error_w; /* of the plain ratio, in the same intervals */
	double base_w;        /* power that no work explains: idle_w where that is known */
};

/* False before there are errors to average: nothing is known. */
bool power_fit_quality(const struct power_fit *fit, struct power_fit_quality *ret);

/*
 * Half the width of the 90 % interval of the share (0..1) that @part has of @all. Two causes are
 * known: other minutes would have led to another share (the jackknife's deviation), and work
 * differs in ways that no feature shows (errors that persist). While the plain ratio is in use, its
 * distance from the regression is added. Factors of owners are not included:
 * power_owners_half_width(). False while it is not known.
 */
bool power_fit_share_half_width(const struct power_fit *fit, const struct power_fit_work *part,
				const struct power_fit_work *all, double *ret);

/*
 * The energy of a thread's cycle while its core's other thread is busy, over the energy of a cycle
 * alone: 0.5 (the second thread is free) to 1 (it costs as much as a core). True when fitted here,
 * with a 90 % interval of ±0.1 at most; false: POWER_FIT_SMT_FACTOR.
 */
bool power_fit_smt_factor(const struct power_fit *fit, double *ret);
