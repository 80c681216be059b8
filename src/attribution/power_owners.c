// SPDX-License-Identifier: Apache-2.0
/*
 * Normal equations of the watts of up to 16 owners; the rest of the work counts as it is said.
 */
#include "attribution/power_owners.h"

#include <math.h>
#include <string.h>

#include "attribution/nnls.h"
#include "attribution/power_fit.h"
#include "base/macro.h"

#define MEAN_S     120.0 /* of an owner's power */
#define ERROR_S    300.0 /* of the errors of predictions */
#define CHANGE_S   30.0  /* for which factors must be better, or worse */
#define FIRST_S    20.0  /* before errors say how large noise is */
#define DEVIATION  0.35  /* of the factors of kinds of work */
#define CORRELATED 4.0   /* errors of neighbouring intervals resemble each other */
#define OUTLIER    3.0   /* errors; beyond, an interval counts as one at that distance */
#define MAX_SPAN_S 300.0
#define WEIGHT_S   10.0 /* that a long interval counts at most */
#define MAX_W      1e6

_Static_assert(POWER_OWNERS <= NNLS_MAX, "variables");

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

static void take_place(struct power_owners *owners, size_t at, uint64_t key)
{
	owners->owner[at] = (struct power_owner){ .key = key, .factor = 1 };
	owners->xy[at] = 0;
	for (size_t i = 0; i < POWER_OWNERS; i++)
		owners->xx[i <= at ? nnls_at(at, i) : nnls_at(i, at)] = 0;
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

/* The owner with the most watts that has no place takes one from an owner of half of its watts. */
static bool admit(struct power_owners *owners, const struct power_owners_sample *sample)
{
	size_t most = sample->count, place = least(owners);

	for (size_t i = 0; i < sample->count; i++)
		if (sample->work_w[i] > 2 * owners->owner[place].mean_w &&
		    (most == sample->count || sample->work_w[i] > sample->work_w[most]) &&
		    find(owners, sample->key[i]) == POWER_OWNERS)
			most = i;
	if (most == sample->count)
		return false;
	take_place(owners, place, sample->key[most]);
	owners->owner[place].mean_w = sample->work_w[most];
	return true;
}

/* One interval by place. */
struct reading {
	double work_w[POWER_OWNERS];
	double power_w; /* less that of the rest */
	double rest_w2; /* squares of the rest: how far the power may be off for it */
	double span_s;
};

static void spread(const struct power_owners *owners, const struct power_owners_sample *sample,
		   struct reading *ret)
{
	*ret = (struct reading){ .power_w = sample->power_w,
				 .span_s = (double)sample->span_ns / 1e9 };
	for (size_t i = 0; i < sample->count; i++) {
		size_t at = find(owners, sample->key[i]);

		if (at < POWER_OWNERS) {
			ret->work_w[at] = sample->work_w[i];
		} else {
			ret->power_w -= sample->work_w[i];
			ret->rest_w2 += sample->work_w[i] * sample->work_w[i];
		}
	}
}

static void average(double *mean, double value, double span_s, double time_s)
{
	*mean += (value - *mean) * span_s / (time_s + span_s);
}

static double clip(const struct power_owners *owners, double error_w)
{
	double limit_w = OUTLIER * sqrt(fmax(owners->error_w2, owners->one_error_w2));

	return owners->compared_s < CHANGE_S ? error_w : fmax(fmin(error_w, limit_w), -limit_w);
}

/* The weight of an interval for learning: 1 but for outliers, and where much work has no place. */
static double compare(struct power_owners *owners, const struct reading *reading)
{
	double error_w = reading->power_w, one_w = error_w, clipped_w, margin, weight;
	double rest_w2 = DEVIATION * DEVIATION * reading->rest_w2;
	bool better;

	for (size_t i = 0; i < POWER_OWNERS; i++) {
		error_w -= owners->owner[i].factor * reading->work_w[i];
		one_w -= reading->work_w[i];
	}
	clipped_w = clip(owners, error_w);
	one_w = clip(owners, one_w);
	average(&owners->error_w2, clipped_w * clipped_w, reading->span_s, owners->compared_s);
	average(&owners->one_error_w2, one_w * one_w, reading->span_s, owners->compared_s);
	owners->compared_s = fmin(owners->compared_s + reading->span_s, ERROR_S);
	margin = owners->is_better ? 1 + POWER_FIT_MARGIN : 1 - POWER_FIT_MARGIN;
	better = owners->error_w2 <= owners->one_error_w2 * margin * margin;
	owners->other_s = better == owners->is_better ? 0 : owners->other_s + reading->span_s;
	if (owners->other_s >= CHANGE_S) {
		owners->is_better = better;
		owners->other_s = 0;
	}
	weight = fabs(clipped_w) < fabs(error_w) ? clipped_w / error_w : 1;
	return rest_w2 > 0 ? weight * owners->error_w2 / (owners->error_w2 + rest_w2) : weight;
}

void power_owners_restate(struct power_owners *owners, uint64_t key, double ratio)
{
	size_t at = find(owners, key);

	if (!key || at == POWER_OWNERS || !(ratio >= 0.1 && ratio <= 10))
		return;
	for (size_t i = 0; i < POWER_OWNERS; i++)
		owners->xx[i <= at ? nnls_at(at, i) : nnls_at(i, at)] *= ratio;
	owners->xx[nnls_at(at, at)] *= ratio;
	owners->xy[at] *= ratio;
	owners->owner[at].mean_w *= ratio;
}

static void learn(struct power_owners *owners, const struct reading *reading, double weight)
{
	double keep = exp(-reading->span_s / POWER_OWNERS_MEMORY_S);
	double towards = -expm1(-reading->span_s / MEAN_S);

	for (size_t i = 0; i < POWER_OWNERS; i++) {
		double *row = &owners->xx[nnls_at(i, 0)], x = weight * reading->work_w[i];
		double *mean_w = &owners->owner[i].mean_w;

		for (size_t j = 0; j <= i; j++)
			row[j] = row[j] * keep + x * reading->work_w[j];
		owners->xy[i] = owners->xy[i] * keep + x * reading->power_w;
		*mean_w += (reading->work_w[i] - *mean_w) * towards;
	}
}

static void solve(struct power_owners *owners)
{
	double penalty = CORRELATED * owners->error_w2 / (DEVIATION * DEVIATION);
	double a[ARRAY_SIZE(owners->xx)], b[POWER_OWNERS], factor[POWER_OWNERS];

	memcpy(a, owners->xx, sizeof(a));
	for (size_t i = 0; i < POWER_OWNERS; i++) {
		a[nnls_at(i, i)] += penalty;
		b[i] = owners->xy[i] + penalty;
		factor[i] = owners->owner[i].factor;
	}
	if (!nnls_solve(a, b, POWER_OWNERS, (1U << POWER_OWNERS) - 1, factor))
		return; /* what was known stays */
	for (size_t i = 0; i < POWER_OWNERS; i++)
		owners->owner[i].factor = fmin(factor[i], POWER_OWNERS_MAX);
}

static bool is_possible(const struct power_owners_sample *sample)
{
	double span_s = (double)sample->span_ns / 1e9;

	if (span_s <= 0 || span_s > MAX_SPAN_S || !(fabs(sample->power_w) <= MAX_W))
		return false;
	for (size_t i = 0; i < sample->count; i++)
		if (!(sample->work_w[i] >= 0 && sample->work_w[i] <= MAX_W))
			return false;
	return true;
}

bool power_owners_add(struct power_owners *owners, const struct power_owners_sample *sample)
{
	struct reading reading;
	double weight;

	if (!is_possible(sample))
		return false;
	for (size_t i = 0; i < POWER_OWNERS && admit(owners, sample); i++)
		continue;
	spread(owners, sample, &reading);
	weight = compare(owners, &reading) * fmin(reading.span_s, WEIGHT_S);
	learn(owners, &reading, weight);
	if (owners->compared_s >= FIRST_S)
		solve(owners);
	return true;
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
