// SPDX-License-Identifier: Apache-2.0
/*
 * Normal equations of terms and owners in one: the sums of all work as power_fit_sums.h has them,
 * and for up to 16 owners the sums of the watts that the coefficients predict for each. Work of
 * other owners counts as predicted. When coefficients change, the earlier watts of an owner are
 * scaled by the change in the prediction for all of its work, as if it had always done the same
 * mix.
 */
#include "attribution/learning/power_owners.h"

#include <math.h>
#include <string.h>

#include "attribution/learning/nnls.h"
#include "attribution/learning/power_fit.h"
#include "base/macro.h"

#define BASE        POWER_FIT_BASE
#define TERMS       POWER_FIT_TERMS
#define VARIABLES   (TERMS + POWER_OWNERS)
#define MEMORY_S    600.0 /* time constant of the sums, under load; */
#define EARLY       2.0   /* it is at most this many times what they have learned, ... */
#define EARLY_S     60.0  /* ... and not less than this */
#define MEAN_S      120.0 /* of an owner's power */
#define ERROR_S     300.0 /* of the errors of predictions */
#define CHANGE_S    30.0  /* for which factors must be better, or worse */
#define FIRST_S     20.0  /* learned before the first estimate */
#define DEVIATION   0.35  /* of the factors of kinds of work */
#define PRIOR       10.0  /* of a coefficient, as in power_fit.c */
#define CORRELATED  4.0   /* errors of neighbouring intervals resemble each other */
#define CHANCE      0.03  /* covariance over variance of noise, in ERROR_S */
#define OUTLIER     3.0   /* errors; beyond, an interval counts as one at that distance */
#define FIRST_NOISE 0.01  /* of the square of the power, before it is known */
#define MIN_NOISE   1e-3  /* of the power, as meters have steps */
#define NORMAL_95   1.645 /* quantile of the normal distribution */
#define MAX_SPAN_S  300.0
#define WEIGHT_S    10.0 /* that a long interval counts at most */
#define MAX_W       1e6
#define MAX_RATE    1e9

_Static_assert(VARIABLES <= NNLS_MAX, "variables");
_Static_assert(POWER_FIT_AWAKE == POWER_FIT_FEATURES - 1, "the features before it have factors");

void power_owners_init(struct power_owners *owners)
{
	*owners = (struct power_owners){ 0 };
}

/* POWER_OWNERS: it has none. */
static size_t find(const struct power_owners *owners, uint64_t key)
{
	size_t at = 0;

	while (at < POWER_OWNERS && owners->owner[at].key != key)
		at++;
	return at;
}

static size_t pair_at(size_t a, size_t b)
{
	return b <= a ? nnls_at(a, b) : nnls_at(b, a);
}

/* Scales the predicted watts of the owner at @at by @ratio. */
static void scale_sums(struct power_owners *owners, size_t at, double ratio)
{
	struct power_owner *owner = &owners->owner[at];

	for (size_t i = 0; i < POWER_OWNERS; i++)
		owners->xx[pair_at(at, i)] *= ratio;
	owners->xx[nnls_at(at, at)] *= ratio;
	for (size_t t = 0; t < TERMS; t++)
		owner->cross[t] *= ratio;
	owner->power *= ratio;
}

static void take_place(struct power_owners *owners, size_t at, uint64_t key, double work_w)
{
	scale_sums(owners, at, 0);
	owners->owner[at] = (struct power_owner){ .key = key, .factor = 1, .mean_w = work_w };
}

/* The place with the least power; one that is free has none. */
static size_t least(const struct power_owners *owners)
{
	size_t found = 0;

	for (size_t i = 1; i < POWER_OWNERS; i++)
		if (owners->owner[i].mean_w < owners->owner[found].mean_w)
			found = i;
	return found;
}

/* The predicted watts of work, without the part for the time that the zone is awake. */
static double watts_of(const double *coefficient, const double *amount, double span_s)
{
	return power_fit_product(coefficient, amount, POWER_FIT_AWAKE) / span_s;
}

/* One interval by place. */
struct reading {
	struct power_fit_reading all;
	double work_w[POWER_OWNERS];
	const struct power_fit_work *work[POWER_OWNERS]; /* NULL: it did not run */
	double rest_w2; /* squares of the rest: how far the power may be off for it */
};

static double said_w(const struct power_owners *owners, const struct power_owners_sample *sample,
		     size_t i)
{
	return watts_of(owners->coefficient, sample->work[i].amount, (double)sample->span_ns / 1e9);
}

/* The owner with the most watts that has no place takes one from an owner of half of its watts. */
static bool admit(struct power_owners *owners, const struct power_owners_sample *sample)
{
	size_t most = sample->count, place = least(owners);
	double most_w = 2 * owners->owner[place].mean_w;

	for (size_t i = 0; i < sample->count; i++) {
		double work_w = said_w(owners, sample, i);

		if (work_w > most_w && find(owners, sample->key[i]) == POWER_OWNERS) {
			most = i;
			most_w = work_w;
		}
	}
	if (most == sample->count)
		return false;
	take_place(owners, place, sample->key[most], most_w);
	return true;
}

static void spread(const struct power_owners *owners, const struct power_owners_sample *sample,
		   struct reading *reading)
{
	for (size_t i = 0; i < sample->count; i++) {
		size_t at = find(owners, sample->key[i]);
		double work_w = said_w(owners, sample, i);

		if (at < POWER_OWNERS) {
			reading->work_w[at] = work_w;
			reading->work[at] = &sample->work[i];
		} else {
			reading->rest_w2 += work_w * work_w;
		}
	}
}

static void average(double *mean, double value, double span_s, double time_s)
{
	*mean += (value - *mean) * span_s / (time_s + span_s);
}

static double clip(const struct power_owners *owners, double error_w, double power_w)
{
	double usual_w = sqrt(fmax(owners->error_w2, owners->other_error_w2));
	double limit_w = OUTLIER * fmax(usual_w, MIN_NOISE * power_w);

	return owners->compared_s < CHANGE_S ? error_w : fmax(fmin(error_w, limit_w), -limit_w);
}

static double error_of(const struct power_owners *owners, const struct reading *reading)
{
	double error_w = reading->all.power_w -
			 power_fit_product(owners->coefficient, reading->all.x, TERMS);

	for (size_t i = 0; i < POWER_OWNERS; i++)
		error_w -= (owners->owner[i].factor - 1) * reading->work_w[i];
	return error_w;
}

/* The weight of the interval: 1, or less where its square would be more than an outlier's. */
static double compare(struct power_owners *owners, const struct power_owners_sample *sample,
		      const struct reading *reading)
{
	double error_w = error_of(owners, reading), clipped_w, other_w, ratio[TERMS], margin;
	double span_s = reading->all.span_s, power_w = reading->all.power_w;
	const double *other = sample->other;
	bool better;

	if (!other) {
		power_fit_solve_ratio(&owners->sums, sample->idle_w, sample->unit, ratio);
		other = ratio;
	}
	other_w = clip(owners, power_w - power_fit_product(other, reading->all.x, TERMS), power_w);
	clipped_w = clip(owners, error_w, power_w);
	average(&owners->error_w2, clipped_w * clipped_w, span_s, owners->compared_s);
	average(&owners->other_error_w2, other_w * other_w, span_s, owners->compared_s);
	if (owners->compared_s > 0)
		average(&owners->lasting_w2, clipped_w * owners->last_error_w, span_s,
			owners->compared_s);
	owners->last_error_w = clipped_w;
	owners->compared_s = fmin(owners->compared_s + span_s, ERROR_S);
	margin = owners->is_better ? 1 + POWER_FIT_MARGIN : 1 - POWER_FIT_MARGIN;
	better = owners->error_w2 <= owners->other_error_w2 * margin * margin;
	owners->other_s = better == owners->is_better ? 0 : owners->other_s + span_s;
	if (owners->other_s >= CHANGE_S) {
		owners->is_better = better;
		owners->other_s = 0;
	}
	return fabs(clipped_w) < fabs(error_w) ? clipped_w * clipped_w / error_w / error_w : 1;
}

/*
 * The weight of an interval depends on the predicted power of its work: it replaces a part of the
 * learned sums by the square of that power, and counts by its root.
 */
static double part_of(struct power_owners *owners, const struct reading *reading)
{
	double work_w = power_fit_product(owners->coefficient, reading->all.x, POWER_FIT_FEATURES);
	double part = 1;
	double weight_s = fmin(power_fit_sums_weight(&owners->sums), MEMORY_S);

	if (work_w * work_w < owners->work_w2)
		part = work_w * work_w / owners->work_w2;
	owners->work_w2 += (work_w * work_w - owners->work_w2) * part * reading->all.span_s /
			   (weight_s + reading->all.span_s);
	return part;
}

static void add_owner(struct power_owners *owners, size_t at, const struct reading *reading,
		      double keep)
{
	struct power_owner *owner = &owners->owner[at];
	double x = reading->all.weight * reading->work_w[at];
	double *row = &owners->xx[nnls_at(at, 0)];

	for (size_t j = 0; j <= at; j++)
		row[j] = row[j] * keep + x * reading->work_w[j];
	for (size_t t = 0; t < TERMS; t++)
		owner->cross[t] = owner->cross[t] * keep + x * reading->all.x[t];
	owner->power = owner->power * keep + x * reading->all.power_w;
	for (size_t f = 0; f < POWER_FIT_FEATURES; f++)
		owner->amount[f] = owner->amount[f] * keep +
				   (reading->work[at] ? reading->work[at]->amount[f] : 0);
	owner->mean_w +=
		(reading->work_w[at] - owner->mean_w) * -expm1(-reading->all.span_s / MEAN_S);
}

/* The first sums of owners come from poor coefficients, so they are forgotten sooner. */
static double memory_s(const struct power_owners *owners)
{
	return fmin(fmax(EARLY * power_fit_sums_weight(&owners->sums), EARLY_S), MEMORY_S);
}

static void learn(struct power_owners *owners, struct reading *reading, double weight)
{
	double part = part_of(owners, reading);
	double keep = exp(-reading->all.span_s * part / memory_s(owners));
	double rest_w2 = DEVIATION * DEVIATION * reading->rest_w2;
	double noise_w2 = owners->is_known ? owners->noise_w2 : FIRST_NOISE * owners->work_w2;

	if (rest_w2 > 0)
		weight *= noise_w2 / (noise_w2 + rest_w2);
	reading->all.weight = weight * sqrt(part) * fmin(reading->all.span_s, WEIGHT_S);
	power_fit_sums_forget(&owners->sums, keep);
	power_fit_sums_read(&owners->sums, &reading->all);
	for (size_t i = 0; i < POWER_OWNERS; i++)
		add_owner(owners, i, reading, keep);
}

/* All of the equations: terms, then owners' factors less 1. */
struct equations {
	double a[VARIABLES * (VARIABLES + 1) / 2], b[VARIABLES];
};

static void collect(const struct power_owners *owners, struct equations *ret)
{
	memcpy(ret->a, owners->sums.xx, sizeof(owners->sums.xx));
	memcpy(ret->b, owners->sums.xy, sizeof(owners->sums.xy));
	for (size_t i = 0; i < POWER_OWNERS; i++) {
		double *row = &ret->a[nnls_at(TERMS + i, 0)];

		memcpy(row, owners->owner[i].cross, sizeof(owners->owner[i].cross));
		memcpy(row + TERMS, &owners->xx[nnls_at(i, 0)], (i + 1) * sizeof(*row));
		ret->b[TERMS + i] = owners->owner[i].power;
	}
}

/* The mean square that a solution leaves, as it would be of intervals that it is not made of. */
static double left_w2(const struct power_owners *owners, const struct equations *sums,
		      const double *solution)
{
	double left = owners->sums.yy, weight = power_fit_sums_weight(&owners->sums), free = 0;
	double mean_w2 = owners->sums.yy / weight;

	for (size_t i = 0; i < VARIABLES; i++) {
		left -= 2 * solution[i] * sums->b[i];
		free += fabs(solution[i]) > 0;
		for (size_t j = 0; j <= i; j++)
			left += (i == j ? 1 : 2) * solution[i] * solution[j] *
				sums->a[nnls_at(i, j)];
	}
	left /= weight - fmin(free, weight / 2);
	return fmax(left, MIN_NOISE * MIN_NOISE * mean_w2);
}

/* The prior: coefficients are the plain ratio's, and factors 1. */
static void draw(const struct power_owners *owners, const double *prior, double noise_w2,
		 struct equations *equations)
{
	double weight = power_fit_sums_weight(&owners->sums);
	double mean_w = owners->sums.xy[BASE] / weight;
	double work_w = fmax(mean_w - prior[BASE], 0.01 * mean_w);

	for (size_t f = 0; f < POWER_FIT_FEATURES; f++) {
		double mean = owners->sums.xx[nnls_at(BASE, f)] / weight;
		double width = work_w > 0 ? mean / work_w : 0;
		double ridge = PRIOR * noise_w2 * width * width;

		equations->a[nnls_at(f, f)] += ridge;
		equations->b[f] += ridge * prior[f];
	}
	for (size_t i = TERMS; i < VARIABLES; i++)
		equations->a[nnls_at(i, i)] += CORRELATED * noise_w2 / (DEVIATION * DEVIATION);
}

/* From now on the variable has @value: the others are solved for with it fixed. */
static void hold(struct equations *equations, size_t variable, double value, uint32_t *mask)
{
	for (size_t i = 0; i < VARIABLES; i++)
		equations->b[i] -= value * equations->a[pair_at(i, variable)];
	*mask &= ~(1U << variable);
}

/* With the base held, where it is known, for factors themselves, which are not negative. */
static uint32_t make_solvable(struct equations *equations, double idle_w)
{
	uint32_t mask = (1U << VARIABLES) - 1;
	double b[VARIABLES];

	memcpy(b, equations->b, sizeof(b));
	for (size_t i = 0; i < VARIABLES; i++)
		for (size_t j = TERMS; j < VARIABLES; j++)
			b[i] += equations->a[pair_at(i, j)];
	memcpy(equations->b, b, sizeof(b));
	if (idle_w >= 0)
		hold(equations, BASE, idle_w, &mask);
	return mask;
}

static double bounded(double factor, double limit)
{
	return fmax(fmin(factor, limit), 1 / limit);
}

/*
 * The solution with factors of 1 / @limit to @limit: one that is beyond is held at its limit, and
 * the rest is found again. False: there is none.
 */
static bool solve_bounded(struct equations *equations, double limit, uint32_t *mask,
			  double solution[VARIABLES])
{
	double found[VARIABLES];
	bool is_beyond = true;

	for (size_t turn = 0; is_beyond && turn <= POWER_OWNERS; turn++) {
		memcpy(found, solution, sizeof(found));
		if (!nnls_solve(equations->a, equations->b, VARIABLES, *mask, found))
			return false;
		is_beyond = false;
		for (size_t i = 0; i < VARIABLES; i++) {
			if (!(*mask & 1U << i))
				continue;
			solution[i] = i < TERMS ? found[i] : bounded(found[i], limit);
			if (fabs(found[i] - solution[i]) > 0) {
				hold(equations, i, solution[i], mask);
				is_beyond = true;
			}
		}
	}
	return true;
}

/* Restates the watts of the owners by the newest coefficients. */
static void restate(struct power_owners *owners, const double *before)
{
	for (size_t i = 0; i < POWER_OWNERS; i++) {
		const double *amount = owners->owner[i].amount;
		double before_j = power_fit_product(before, amount, POWER_FIT_AWAKE);
		double now_j = power_fit_product(owners->coefficient, amount, POWER_FIT_AWAKE);
		bool is_usual = now_j >= before_j / 10 && now_j <= before_j * 10;

		if (!(before_j > 0))
			continue;
		scale_sums(owners, i, is_usual ? now_j / before_j : 0);
		owners->owner[i].mean_w *= is_usual ? now_j / before_j : 1;
	}
}

/* The owner with the most power in an interval, and the power of all work. */
struct most {
	size_t owner; /* of the sample */
	size_t place; /* POWER_OWNERS: it has none */
	double work_w, all_w;
};

static struct most find_most(const struct power_owners *owners,
			     const struct power_owners_sample *sample,
			     const struct reading *reading)
{
	struct most most = { .place = POWER_OWNERS };
	double span_s = reading->all.span_s;

	most.all_w = power_fit_product(owners->coefficient, reading->all.x, POWER_FIT_FEATURES);
	for (size_t i = 0; i < POWER_OWNERS; i++)
		most.all_w += (owners->owner[i].factor - 1) * reading->work_w[i];
	for (size_t i = 0; i < sample->count; i++) {
		size_t place = find(owners, sample->key[i]);
		double factor = place < POWER_OWNERS ? owners->owner[place].factor : 1;
		double work_w = factor * said_w(owners, sample, i);

		work_w += owners->coefficient[POWER_FIT_AWAKE] *
			  sample->work[i].amount[POWER_FIT_AWAKE] / span_s;
		if (work_w > most.work_w)
			most = (struct most){ i, place, work_w, most.all_w };
	}
	return most;
}

/* How the share of that owner changes with each variable. */
static void change_share(const struct power_owners_sample *sample, const struct reading *reading,
			 const struct most *most, double factor, double gradient[VARIABLES])
{
	double share = most->work_w / most->all_w;

	for (size_t t = 0; t < POWER_FIT_FEATURES; t++) {
		double own = sample->work[most->owner].amount[t] / reading->all.span_s;

		if (t != POWER_FIT_AWAKE)
			own *= factor;
		gradient[t] = (own - share * reading->all.x[t]) / most->all_w;
	}
	gradient[BASE] = 0;
	for (size_t i = 0; i < POWER_OWNERS; i++) {
		double own = i == most->place ? reading->work_w[i] : 0;

		gradient[TERMS + i] = (own - share * reading->work_w[i]) / most->all_w;
	}
}

static double half_width_of(const struct power_owners *owners,
			    const struct power_owners_sample *sample, const struct reading *reading,
			    const struct equations *drawn, uint32_t mask)
{
	struct most most = find_most(owners, sample, reading);
	double factor = most.place < POWER_OWNERS ? owners->owner[most.place].factor : 1;
	double gradient[VARIABLES], solution[VARIABLES], variance, blind;

	if (!(most.work_w > 0) || !(most.all_w > 0))
		return -1;
	change_share(sample, reading, &most, factor, gradient);
	memcpy(solution, owners->coefficient, sizeof(owners->coefficient));
	for (size_t i = 0; i < POWER_OWNERS; i++)
		solution[TERMS + i] = owners->owner[i].factor;
	variance = nnls_variance(drawn->a, VARIABLES, mask, solution, gradient);
	if (variance < 0)
		return -1;
	blind = (1 - most.work_w / most.all_w) / most.all_w;
	variance *= owners->noise_w2;
	variance += blind * blind * fmax(owners->lasting_w2 - CHANCE * owners->error_w2, 0);
	return fmin(NORMAL_95 * sqrt(variance), 1);
}

static void solve(struct power_owners *owners, const struct power_owners_sample *sample,
		  const struct reading *reading)
{
	double before[TERMS], prior[TERMS], solution[VARIABLES], noise_w2 = owners->noise_w2;
	struct equations sums, drawn;
	uint32_t mask;

	power_fit_solve_ratio(&owners->sums, sample->idle_w, sample->unit, prior);
	if (!owners->is_known)
		noise_w2 = power_fit_left_w2(&owners->sums, prior);
	collect(owners, &sums);
	drawn = sums;
	draw(owners, prior, noise_w2, &drawn);
	mask = make_solvable(&drawn, sample->idle_w);
	memcpy(before, owners->coefficient, sizeof(before));
	memcpy(solution, before, sizeof(before));
	for (size_t i = 0; i < POWER_OWNERS; i++)
		solution[TERMS + i] = owners->owner[i].factor;
	if (!solve_bounded(&drawn, sample->factor_limit, &mask, solution))
		return; /* what was known stays */
	if (sample->idle_w >= 0)
		solution[BASE] = sample->idle_w;
	memcpy(owners->coefficient, solution, sizeof(before));
	for (size_t i = 0; i < POWER_OWNERS; i++) {
		owners->owner[i].factor = solution[TERMS + i];
		solution[TERMS + i] = owners->owner[i].factor - 1;
	}
	owners->noise_w2 = left_w2(owners, &sums, solution);
	owners->half_width = half_width_of(owners, sample, reading, &drawn, mask);
	owners->is_known = true;
	restate(owners, before);
}

static bool is_within(double value, double limit)
{
	return value >= 0 && value <= limit; /* false for NaN */
}

static bool is_possible(const struct power_fit_work *work, double span_s)
{
	for (size_t f = 0; f < POWER_FIT_FEATURES; f++)
		if (!is_within(work->amount[f], MAX_RATE * span_s))
			return false;
	return true;
}

/* False when no machine has such numbers. */
static bool read_sample(const struct power_owners_sample *sample, struct reading *ret)
{
	double span_s = (double)sample->span_ns / 1e9;

	*ret = (struct reading){ .all = { .span_s = span_s, .power_w = sample->power_w } };
	if (span_s <= 0 || span_s > MAX_SPAN_S || !is_within(sample->power_w, MAX_W) ||
	    !is_possible(sample->all, span_s))
		return false;
	for (size_t i = 0; i < sample->count; i++)
		if (!is_possible(&sample->work[i], span_s))
			return false;
	for (size_t f = 0; f < POWER_FIT_FEATURES; f++)
		ret->all.x[f] = sample->all->amount[f] / span_s;
	ret->all.x[BASE] = 1;
	return true;
}

/* Before anything is learned the unit of the plain ratio has all of the power. False: no work. */
static bool has_coefficients(struct power_owners *owners, const struct power_owners_sample *sample,
			     const struct reading *reading)
{
	double work = power_fit_product(sample->unit, reading->all.x, POWER_FIT_FEATURES);
	double work_w = reading->all.power_w - fmax(sample->idle_w, 0);

	if (power_fit_sums_weight(&owners->sums) > 0)
		return true;
	if (!(work > 0) || !(work_w > 0))
		return false;
	for (size_t f = 0; f < POWER_FIT_FEATURES; f++)
		owners->coefficient[f] = sample->unit[f] * work_w / work;
	return true;
}

bool power_owners_add(struct power_owners *owners, const struct power_owners_sample *sample)
{
	struct reading reading;
	double weight = 1;

	if (!read_sample(sample, &reading))
		return false;
	if (!has_coefficients(owners, sample, &reading))
		return true;
	for (size_t i = 0; i < POWER_OWNERS && admit(owners, sample); i++)
		continue;
	spread(owners, sample, &reading);
	if (owners->is_known)
		weight = compare(owners, sample, &reading);
	learn(owners, &reading, weight);
	if (power_fit_sums_weight(&owners->sums) >= FIRST_S)
		solve(owners, sample, &reading);
	return true;
}

bool power_owners_half_width(const struct power_owners *owners, double *ret)
{
	if (!owners->is_better || owners->half_width < 0)
		return false;
	*ret = owners->half_width;
	return true;
}

void power_owners_bound(struct power_owners *owners, double factor_limit)
{
	for (size_t i = 0; i < POWER_OWNERS; i++)
		owners->owner[i].factor = bounded(owners->owner[i].factor, factor_limit);
}

double power_owners_factor(const struct power_owners *owners, uint64_t key)
{
	size_t at = find(owners, key);

	return at < POWER_OWNERS && key != 0 && owners->is_better ? owners->owner[at].factor : 1;
}

bool power_owners_error(const struct power_owners *owners, double *ret_error_w)
{
	if (!owners->is_better)
		return false;
	*ret_error_w = sqrt(owners->error_w2);
	return true;
}

double power_owners_mean_w(const struct power_owners *owners)
{
	double weight = power_fit_sums_weight(&owners->sums);

	return weight > 0 ? owners->sums.xy[BASE] / weight : 0;
}
