// SPDX-License-Identifier: Apache-2.0
#include "attribution/learning/power_owners_line.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attribution/learning/nnls.h"
#include "base/macro.h"
#include "base/num.h"

#define VERSION_TAG "fit=1"
#define VALUE_MAX   48
#define LEAST_W     0.001 /* of the power of all work: an owner with less is gone */
#define MAX_SUM     1e30
#define MAX_W       1e6
#define MAX_W2      1e12
#define SLACK       1e-6 /* for rounding, of what sums of readings obey */

struct writer {
	char *buf;
	size_t size, len; /* of the text, also where it did not fit */
};

static void put(struct writer *to, const char *text, size_t len)
{
	if (to->len + len < to->size) {
		memcpy(to->buf + to->len, text, len);
		to->buf[to->len + len] = '\0';
	}
	to->len += len;
}

static void put_key(struct writer *to, const char *key)
{
	if (to->len)
		put(to, " ", 1);
	put(to, key, strlen(key));
	put(to, "=", 1);
}

static void put_u64(struct writer *to, const char *key, uint64_t value)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%llu", (unsigned long long)value);

	put_key(to, key);
	put(to, text, len < 0 ? 0 : (size_t)len);
}

static void put_numbers(struct writer *to, const char *key, const double *value, size_t count)
{
	put_key(to, key);
	for (size_t i = 0; i < count; i++) {
		char text[FORMAT_DOUBLE_MAX];

		if (i)
			put(to, ",", 1);
		put(to, text, format_double(text, value[i]));
	}
}

static void put_head(struct writer *to, const struct power_owners *owners)
{
	put(to, VERSION_TAG, strlen(VERSION_TAG));
	put_u64(to, "signals", owners->signals);
	put_u64(to, "is_better", owners->is_better);
	put_numbers(to, "work_w2", &owners->work_w2, 1);
	put_numbers(to, "noise_w2", &owners->noise_w2, 1);
	put_numbers(to, "error_w2", &owners->error_w2, 1);
	put_numbers(to, "other_error_w2", &owners->other_error_w2, 1);
	put_numbers(to, "lasting_w2", &owners->lasting_w2, 1);
	put_numbers(to, "compared_s", &owners->compared_s, 1);
	put_numbers(to, "coefficient", owners->coefficient, POWER_FIT_TERMS);
}

static void put_sums(struct writer *to, const struct power_fit_sums *sums)
{
	put_numbers(to, "xx", sums->xx, POWER_FIT_PAIRS);
	put_numbers(to, "xy", sums->xy, POWER_FIT_TERMS);
	put_numbers(to, "yy", &sums->yy, 1);
}

static void put_owner(struct writer *to, const struct power_owners *owners, size_t at)
{
	const struct power_owner *owner = &owners->owner[at];

	put_u64(to, "key", owner->key);
	put_numbers(to, "factor", &owner->factor, 1);
	put_numbers(to, "mean_w", &owner->mean_w, 1);
	put_numbers(to, "power", &owner->power, 1);
	put_numbers(to, "amount", owner->amount, POWER_FIT_FEATURES);
	put_numbers(to, "cross", owner->cross, POWER_FIT_TERMS);
	put_numbers(to, "xx", &owners->xx[nnls_at(at, 0)], at + 1);
}

static bool is_there(const struct power_owners *owners, size_t at)
{
	return owners->owner[at].key && owners->owner[at].mean_w > LEAST_W * sqrt(owners->work_w2);
}

int power_owners_format(const struct power_owners *owners, size_t index, char *buf, size_t size)
{
	struct writer to = { .buf = buf, .size = size };

	if (!owners->is_known || (index >= 2 && !is_there(owners, index - 2)))
		return 0;
	if (index == 0)
		put_head(&to, owners);
	else if (index == 1)
		put_sums(&to, &owners->sums);
	else
		put_owner(&to, owners, index - 2);
	return to.len < size ? (int)to.len : -ENOSPC;
}

/* Moves past "KEY=", which is the next. */
static bool take_key(const char **text, const char *key)
{
	size_t len = strlen(key);

	if (strncmp(*text, key, len) != 0 || (*text)[len] != '=')
		return false;
	*text += len + 1;
	return true;
}

/* Moves past a value, which ends with @end or, if it is the last, with the line. */
static bool take_value(const char **text, char end, char value[VALUE_MAX])
{
	size_t len = strcspn(*text, " ,\n");

	if (len == 0 || len >= VALUE_MAX || ((*text)[len] && (*text)[len] != end))
		return false;
	memcpy(value, *text, len);
	value[len] = '\0';
	*text += len + ((*text)[len] != '\0');
	return true;
}

static bool take_u64(const char **text, const char *key, uint64_t max, uint64_t *ret)
{
	char value[VALUE_MAX];

	return take_key(text, key) && take_value(text, ' ', value) &&
	       parse_u64(value, strlen(value), ret) == 0 && *ret <= max;
}

static bool take_numbers(const char **text, const char *key, double *ret, size_t count, double min,
			 double max)
{
	char value[VALUE_MAX];

	if (!take_key(text, key))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!take_value(text, i + 1 < count ? ',' : ' ', value) ||
		    parse_double(value, &ret[i]) < 0 || !(ret[i] >= min && ret[i] <= max))
			return false;
	return true;
}

static bool take_head(const char *text, struct power_owners *ret)
{
	uint64_t signals, is_better;

	if (strncmp(text, VERSION_TAG " ", strlen(VERSION_TAG " ")) != 0)
		return false;
	text += strlen(VERSION_TAG " ");
	if (!take_u64(&text, "signals", UINT32_MAX, &signals) ||
	    !take_u64(&text, "is_better", 1, &is_better) ||
	    !take_numbers(&text, "work_w2", &ret->work_w2, 1, 0, MAX_W2) ||
	    !take_numbers(&text, "noise_w2", &ret->noise_w2, 1, 0, MAX_W2) ||
	    !take_numbers(&text, "error_w2", &ret->error_w2, 1, 0, MAX_W2) ||
	    !take_numbers(&text, "other_error_w2", &ret->other_error_w2, 1, 0, MAX_W2) ||
	    !take_numbers(&text, "lasting_w2", &ret->lasting_w2, 1, -MAX_W2, MAX_W2) ||
	    !take_numbers(&text, "compared_s", &ret->compared_s, 1, 0, 1e4) ||
	    !take_numbers(&text, "coefficient", ret->coefficient, POWER_FIT_TERMS, 0, 1e9))
		return false;
	ret->signals = (uint32_t)signals;
	ret->is_better = is_better;
	return !*text;
}

static bool take_sums(const char *text, struct power_fit_sums *ret)
{
	return take_numbers(&text, "xx", ret->xx, POWER_FIT_PAIRS, 0, MAX_SUM) &&
	       take_numbers(&text, "xy", ret->xy, POWER_FIT_TERMS, 0, MAX_SUM) &&
	       take_numbers(&text, "yy", &ret->yy, 1, 0, MAX_SUM) && !*text;
}

static bool take_owner(const char *text, size_t at, struct power_owners *ret)
{
	struct power_owner *owner = &ret->owner[at];

	return take_u64(&text, "key", UINT64_MAX, &owner->key) && owner->key &&
	       take_numbers(&text, "factor", &owner->factor, 1, 0, POWER_OWNERS_MAX) &&
	       take_numbers(&text, "mean_w", &owner->mean_w, 1, 0, MAX_W) &&
	       take_numbers(&text, "power", &owner->power, 1, 0, MAX_SUM) &&
	       take_numbers(&text, "amount", owner->amount, POWER_FIT_FEATURES, 0, MAX_SUM) &&
	       take_numbers(&text, "cross", owner->cross, POWER_FIT_TERMS, 0, MAX_SUM) &&
	       take_numbers(&text, "xx", &ret->xx[nnls_at(at, 0)], at + 1, 0, MAX_SUM) && !*text;
}

/* Cauchy and Schwarz: the sum of products is at most the root of that of squares. */
static bool is_bounded(double product, double a, double b)
{
	return product <= sqrt(a) * sqrt(b) * (1 + SLACK) + 1e-12;
}

static bool are_sums(const struct power_fit_sums *sums)
{
	for (size_t i = 0; i < POWER_FIT_TERMS; i++) {
		if (!is_bounded(sums->xy[i], sums->xx[nnls_at(i, i)], sums->yy))
			return false;
		for (size_t j = 0; j < i; j++)
			if (!is_bounded(sums->xx[nnls_at(i, j)], sums->xx[nnls_at(i, i)],
					sums->xx[nnls_at(j, j)]))
				return false;
	}
	return power_fit_sums_weight(sums) > 0;
}

/*
 * Is it an owner that occurs once, with sums that are consistent with the sums of all work and of
 * the owners before it?
 */
static bool is_owner(const struct power_owners *owners, size_t at)
{
	const struct power_owner *owner = &owners->owner[at];
	double own = owners->xx[nnls_at(at, at)];

	if (!is_bounded(owner->power, own, owners->sums.yy))
		return false;
	for (size_t t = 0; t < POWER_FIT_TERMS; t++)
		if (!is_bounded(owner->cross[t], own, owners->sums.xx[nnls_at(t, t)]))
			return false;
	for (size_t j = 0; j < at; j++)
		if (owners->owner[j].key == owner->key ||
		    !is_bounded(owners->xx[nnls_at(at, j)], own, owners->xx[nnls_at(j, j)]))
			return false;
	return true;
}

int power_owners_parse(const char *const line[POWER_OWNERS_LINES], struct power_owners *ret)
{
	struct power_owners owners = { .is_known = true, .half_width = -1 };

	if (!line[0] || !line[1] || !take_head(line[0], &owners) ||
	    !take_sums(line[1], &owners.sums) || !are_sums(&owners.sums))
		return -EINVAL;
	for (size_t at = 0; at < POWER_OWNERS; at++) {
		if (line[2 + at] && !take_owner(line[2 + at], at, &owners))
			return -EINVAL;
		/* One that is gone has left its sums in the rows of others. */
		for (size_t j = 0; line[2 + at] && j < at; j++)
			if (!owners.owner[j].key)
				owners.xx[nnls_at(at, j)] = 0;
		if (line[2 + at] && !is_owner(&owners, at))
			return -EINVAL;
	}
	*ret = owners;
	return 0;
}
