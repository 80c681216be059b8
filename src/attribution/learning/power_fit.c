// SPDX-License-Identifier: Apache-2.0
/*
 * Normal equations of weighted intervals, in groups of blocks of half a minute. Their sum is the
 * regression; with a group left out it is one of the replicates whose spread is the interval.
 *
 * Counters are collinear, so each coefficient is drawn towards the plain ratio's, as strongly as
 * noise makes it uncertain (ridge, Hoerl and Kennard 1970, of a prior's width): a machine with one
 * kind of load ends at the plain ratio.
 *
 * While intervals lack evidence, as in a long quiet night, the last estimate stands. An error
 * beyond OUTLIER times the usual one counts as one at that distance (Huber 1964), in learning as in
 * comparing.
 */
#include "attribution/learning/power_fit.h"

#include <math.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "base/quadrature.h"

#define BASE               POWER_FIT_BASE
#define MEMORY_S           1200.0 /* time constant of the sums */
#define ERROR_S            300.0  /* of the errors of predictions */
#define BLOCK_S            30     /* longer than most loads stay as they are */
#define FIRST_S            30.0   /* learned before the first prediction */
#define CHANGE_S           30.0   /* for which another model must be better; of other signals */
#define MIN_GROUP_S        10.0   /* in a group, before it is left out */
#define WEIGHT_S           10.0   /* that a long interval counts at most */
#define LABELLED           0.95   /* share of one process */
#define LABEL              3.0    /* how many times such an interval counts */
#define OUTLIER            3.0    /* errors; beyond, an interval counts as one at that distance */
#define MIN_NOISE          1e-3   /* of the power, as meters have steps */
#define MIN_F              25.0   /* power explained over that left, per freedom: t = 5 */
#define PRIOR              10.0   /* correlated noise: a tenth of the intervals are independent */
#define MAX_SMT_HALF_WIDTH 0.1
#define STUDENT_5          2.015 /* 95 % quantile of Student's t with GROUPS - 1 degrees */
#define CHANCE             0.015 /* covariance over variance of noise, in MEMORY_S */
#define MAX_POWER_W        1e6
#define MAX_RATE           1e9
#define MAX_SPAN_S         300.0 /* of an interval: the mean of more shows little */

_Static_assert(sizeof(struct power_fit) <= 4096, "a fit of each zone");
_Static_assert(POWER_FIT_GROUPS == 6, "STUDENT_5");

void power_fit_init(struct power_fit *fit, const double unit[POWER_FIT_FEATURES])
{
	*fit = (struct power_fit){ 0 };
	memcpy(fit->unit, unit, sizeof(fit->unit));
}

void power_fit_compete(struct power_fit *fit, const double unit[POWER_FIT_FEATURES])
{
	memcpy(fit->unit, unit, sizeof(fit->unit));
}

/* All groups but @without (POWER_FIT_GROUPS: all of them). */
static void sums_of_groups(const struct power_fit *fit, size_t without, struct power_fit_sums *ret)
{
	*ret = (struct power_fit_sums){ 0 };
	for (size_t g = 0; g < POWER_FIT_GROUPS; g++)
		if (g != without)
			power_fit_sums_add(ret, &fit->group[g]);
}

/*
 * Returns true if work explains power: F-test of the regression, with a limit for looks without
 * end.
 */
static bool has_evidence(const struct power_fit_sums *sums, const double *coefficient)
{
	double left = power_fit_left_w2(sums, coefficient);
	double explained = power_fit_variance_w2(sums) - left;
	double freedom = power_fit_sums_weight(sums) - POWER_FIT_TERMS;

	return explained * freedom > MIN_F * POWER_FIT_FEATURES * left;
}

/* The half width of a 90 % interval by the delete-a-group jackknife. */
static double jackknife_half_width(const double value[POWER_FIT_GROUPS])
{
	double mean = 0, squares = 0;

	for (size_t g = 0; g < POWER_FIT_GROUPS; g++)
		mean += value[g] / POWER_FIT_GROUPS;
	for (size_t g = 0; g < POWER_FIT_GROUPS; g++)
		squares += (value[g] - mean) * (value[g] - mean);
	return STUDENT_5 * sqrt(squares * (POWER_FIT_GROUPS - 1) / POWER_FIT_GROUPS);
}

static bool is_within(double value, double limit)
{
	return value >= 0 && value <= limit; /* false for NaN */
}

/* False when no machine has such numbers. */
static bool read_sample(const struct power_fit_sample *sample, struct power_fit_reading *ret)
{
	double span_s = (double)sample->span_ns / 1e9;

	*ret = (struct power_fit_reading){ .span_s = span_s };
	if (span_s <= 0 || span_s > MAX_SPAN_S ||
	    !is_within(sample->energy_j / span_s, MAX_POWER_W) ||
	    !is_within(sample->work.time_s / span_s, MAX_RATE))
		return false;
	ret->power_w = sample->energy_j / span_s;
	for (size_t i = 0; i < POWER_FIT_FEATURES; i++) {
		ret->x[i] = sample->work.amount[i] / span_s;
		if (!is_within(ret->x[i], MAX_RATE))
			return false;
	}
	ret->x[BASE] = 1;
	return true;
}

/*
 * False while the known signals differ from those that the fit learns from; after a while it starts
 * again.
 */
static bool follow_signals(struct power_fit *fit, uint32_t signals, double span_s)
{
	double unit[POWER_FIT_FEATURES];

	if (signals == 0)
		return false;
	if (fit->time_ns == 0)
		fit->signals = signals;
	if (signals == fit->signals) {
		fit->other_signals_s = 0;
		return true;
	}
	if (signals != fit->other_signals)
		fit->other_signals_s = 0;
	fit->other_signals = signals;
	fit->other_signals_s += span_s;
	if (fit->other_signals_s < CHANGE_S)
		return false;
	memcpy(unit, fit->unit, sizeof(unit));
	power_fit_init(fit, unit);
	fit->signals = signals;
	return true;
}

/* Moves a mean of the @time_s before towards @value. */
static void average(double *mean, double value, double span_s, double time_s)
{
	*mean += (value - *mean) * span_s / (time_s + span_s);
}

static double error_of(const double *coefficient, const struct power_fit_reading *reading)
{
	return reading->power_w - power_fit_product(coefficient, reading->x, POWER_FIT_TERMS);
}

/* An error, or one as large as errors are but for outliers, once that is known. */
static double clip(const struct power_fit *fit, double error_w, double power_w)
{
	double scale_w2 = fmax(fit->error_w2, fit->ratio_error_w2);
	double limit_w = OUTLIER * fmax(sqrt(scale_w2), MIN_NOISE * power_w);

	return fit->compared_s < CHANGE_S ? error_w : fmax(fmin(error_w, limit_w), -limit_w);
}

/* Predicts, before it is learned, and compares the models by that. */
static void compare(struct power_fit *fit, const struct power_fit_reading *reading)
{
	double error_w = clip(fit, error_of(fit->coefficient, reading), reading->power_w);
	double ratio_w = clip(fit, error_of(fit->ratio, reading), reading->power_w);
	double span_s = reading->span_s, time_s = fit->compared_s;
	double margin = fit->is_better ? 1 + POWER_FIT_MARGIN : 1 - POWER_FIT_MARGIN;
	bool better;

	average(&fit->error_w2, error_w * error_w, span_s, time_s);
	average(&fit->ratio_error_w2, ratio_w * ratio_w, span_s, time_s);
	average(&fit->mean_w, reading->power_w, span_s, time_s);
	if (time_s > 0)
		average(&fit->lasting_w2, error_w * fit->last_error_w, span_s, fit->lasting_s);
	fit->last_error_w = error_w;
	fit->compared_s = fmin(time_s + span_s, ERROR_S);
	fit->lasting_s = fmin(fit->lasting_s + span_s, MEMORY_S);
	better = fit->error_w2 <= fit->ratio_error_w2 * margin * margin;
	fit->other_s = better == fit->is_better ? 0 : fit->other_s + span_s;
	if (fit->other_s >= CHANGE_S) {
		fit->is_better = better;
		fit->other_s = 0;
	}
}

/* How much an interval counts. */
static double weigh(const struct power_fit *fit, const struct power_fit_sample *sample,
		    const struct power_fit_reading *reading)
{
	double weight = fmin(reading->span_s, WEIGHT_S), off_w, clipped_w;

	if (sample->largest_share >= LABELLED)
		weight *= LABEL;
	if (!fit->has_evidence)
		return weight;
	off_w = error_of(fit->coefficient, reading);
	clipped_w = clip(fit, off_w, reading->power_w);
	return fabs(clipped_w) < fabs(off_w) ? weight * clipped_w / off_w : weight;
}

static void add_to_sums(struct power_fit *fit, const struct power_fit_reading *reading)
{
	double keep = exp(-reading->span_s / MEMORY_S), block, fraction;

	/* Groups in the order of a sequence that no period of a load goes along with. */
	block = floor((double)fit->time_ns / 1e9 / BLOCK_S);
	fraction = fmod(block * 0.6180339887498949, 1);
	for (size_t g = 0; g < POWER_FIT_GROUPS; g++)
		power_fit_sums_forget(&fit->group[g], keep);
	power_fit_sums_read(&fit->group[(size_t)(fraction * POWER_FIT_GROUPS)], reading);
}

/* One group is left out in each interval: a replicate is never older than a few intervals. */
static void leave_one_out(struct power_fit *fit, double idle_w, double noise_w2)
{
	size_t g = fit->next_group;
	double prior[POWER_FIT_TERMS], *replicate = fit->group_coefficient[g];
	struct power_fit_sums sums;

	sums_of_groups(fit, g, &sums);
	if (power_fit_sums_weight(&sums) < FIRST_S ||
	    power_fit_sums_weight(&fit->group[g]) < MIN_GROUP_S)
		return;
	power_fit_solve_ratio(&sums, idle_w, fit->unit, prior);
	if (fit->replicates < POWER_FIT_GROUPS) {
		fit->replicates++;
		memcpy(replicate, fit->coefficient, sizeof(fit->coefficient));
	}
	power_fit_solve_drawn(&sums, idle_w, prior, PRIOR, noise_w2, replicate);
	fit->group_smt_factor[g] = power_fit_solve_smt_factor(&sums, idle_w);
	fit->next_group = (uint8_t)((g + 1) % POWER_FIT_GROUPS);
}

/* An estimate stands while newer intervals lack evidence. */
static void learn(struct power_fit *fit, double idle_w)
{
	double noise_w2 = fit->error_w2;
	double ratio[POWER_FIT_TERMS], coefficient[POWER_FIT_TERMS];
	struct power_fit_sums sums;

	sums_of_groups(fit, POWER_FIT_GROUPS, &sums);
	if (power_fit_sums_weight(&sums) < FIRST_S)
		return;
	power_fit_solve_ratio(&sums, idle_w, fit->unit, ratio);
	if (fit->compared_s < CHANGE_S)
		noise_w2 = power_fit_left_w2(&sums, ratio);
	memcpy(coefficient, fit->coefficient, sizeof(coefficient));
	power_fit_solve_drawn(&sums, idle_w, ratio, PRIOR, noise_w2, coefficient);
	if (!has_evidence(&sums, coefficient))
		return;
	fit->has_evidence = true;
	memcpy(fit->ratio, ratio, sizeof(ratio));
	memcpy(fit->coefficient, coefficient, sizeof(coefficient));
	fit->explained_w2 = power_fit_explained_w2(&sums, coefficient);
	fit->smt_factor = power_fit_solve_smt_factor(&sums, idle_w);
	leave_one_out(fit, idle_w, noise_w2);
}

bool power_fit_add(struct power_fit *fit, const struct power_fit_sample *sample)
{
	struct power_fit_reading reading;

	if (!read_sample(sample, &reading) ||
	    !follow_signals(fit, power_fit_work_signals(sample->signals), reading.span_s))
		return false;
	fit->time_ns += sample->span_ns;
	if (fit->has_evidence)
		compare(fit, &reading);
	reading.weight = weigh(fit, sample, &reading);
	add_to_sums(fit, &reading);
	learn(fit, sample->idle_w);
	return true;
}

enum power_fit_model power_fit_model(const struct power_fit *fit)
{
	if (!fit->has_evidence || fit->compared_s < CHANGE_S)
		return POWER_FIT_LEARNING;
	return fit->is_better ? POWER_FIT_REGRESSION : POWER_FIT_RATIO;
}

/* With the base as the last. */
static const double *terms_in_use(const struct power_fit *fit)
{
	return power_fit_model(fit) == POWER_FIT_REGRESSION ? fit->coefficient : fit->ratio;
}

void power_fit_coefficients(const struct power_fit *fit, double ret[POWER_FIT_FEATURES])
{
	bool has_any = false;

	memcpy(ret, terms_in_use(fit), POWER_FIT_FEATURES * sizeof(*ret));
	for (size_t i = 0; i < POWER_FIT_FEATURES; i++)
		has_any = has_any || ret[i] > 0;
	if (!has_any)
		memcpy(ret, fit->unit, sizeof(fit->unit));
}

void power_fit_terms(const struct power_fit *fit, double ret[POWER_FIT_TERMS])
{
	memcpy(ret, terms_in_use(fit), POWER_FIT_TERMS * sizeof(*ret));
}

uint64_t power_fit_weight(const double coefficient[POWER_FIT_FEATURES],
			  const struct power_fit_work *work)
{
	double energy_nj = power_fit_product(coefficient, work->amount, POWER_FIT_FEATURES) * 1e9;

	if (!(energy_nj > 0))
		return 0;
	return energy_nj < 0x1p62 ? (uint64_t)energy_nj : 1ULL << 62;
}

bool power_fit_quality(const struct power_fit *fit, struct power_fit_quality *ret)
{
	if (power_fit_model(fit) == POWER_FIT_LEARNING)
		return false;
	*ret = (struct power_fit_quality){
		.model = power_fit_model(fit),
		.error_w = sqrt(fit->is_better ? fit->error_w2 : fit->ratio_error_w2),
		.ratio_error_w = sqrt(fit->ratio_error_w2),
		.base_w = terms_in_use(fit)[BASE],
	};
	ret->error_ratio = fit->mean_w > 0 ? ret->error_w / fit->mean_w : 0;
	return true;
}

/* False where the coefficients give nothing to any. */
static bool share_of(const double *coefficient, const struct power_fit_work *part,
		     const struct power_fit_work *all, double *ret)
{
	double whole = power_fit_product(coefficient, all->amount, POWER_FIT_FEATURES);

	if (!(whole > 0))
		return false;
	*ret = power_fit_product(coefficient, part->amount, POWER_FIT_FEATURES) / whole;
	return true;
}

/*
 * How far a share is off because work differs in ways that no feature shows. Errors that persist
 * from one interval to the next are taken for that, the others are the meter's noise. If the work
 * of each party costs a factor more or less than it should, and parties come and go independently,
 * these errors are to the changes of the power as the factors' deviation is to 1.
 */
static double blind_deviation(const struct power_fit *fit, const struct power_fit_work *all,
			      double share)
{
	double lasting_w2 = fmax(fit->lasting_w2 - CHANCE * fit->error_w2, 0), squares;

	if (lasting_w2 <= 0 || !(all->time_s > 0))
		return 0;
	squares = fmin(all->time2_s2 / all->time_s / all->time_s, 1);
	return sqrt(lasting_w2 / (lasting_w2 + fit->explained_w2)) * share *
	       add_in_quadrature(1 - share, sqrt(fmax(squares - share * share, 0)));
}

bool power_fit_share_half_width(const struct power_fit *fit, const struct power_fit_work *part,
				const struct power_fit_work *all, double *ret)
{
	double share[POWER_FIT_GROUPS], used, regression, half_width;

	if (power_fit_model(fit) == POWER_FIT_LEARNING || fit->replicates < POWER_FIT_GROUPS ||
	    !share_of(terms_in_use(fit), part, all, &used) ||
	    !share_of(fit->coefficient, part, all, &regression))
		return false;
	for (size_t g = 0; g < POWER_FIT_GROUPS; g++)
		if (!share_of(fit->group_coefficient[g], part, all, &share[g]))
			return false;
	half_width = add_in_quadrature(jackknife_half_width(share),
				       STUDENT_5 * blind_deviation(fit, all, used));
	*ret = fmin(half_width + fabs(used - regression), 1);
	return true;
}

bool power_fit_smt_factor(const struct power_fit *fit, double *ret)
{
	bool is_fitted = fit->replicates == POWER_FIT_GROUPS && fit->smt_factor > 0 &&
			 jackknife_half_width(fit->group_smt_factor) <= MAX_SMT_HALF_WIDTH;

	*ret = is_fitted ? fmin(fmax(fit->smt_factor, 0.5), 1) : POWER_FIT_SMT_FACTOR;
	return is_fitted;
}
