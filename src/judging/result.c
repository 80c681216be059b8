// SPDX-License-Identifier: Apache-2.0
#include "judging/result.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/macro.h"

/* Text from outside must not control a terminal: neither C0, DEL nor C1 (in UTF-8) is left. */
static void make_plain(char *text)
{
	for (unsigned char *c = (unsigned char *)text; *c; c++) {
		if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
			c[0] = c[1] = '?';
		else if (*c < ' ' || *c == 0x7f)
			*c = '?';
	}
}

enum verdict threshold_verdict(const struct threshold *threshold, double low, double high)
{
	double most = threshold->max_error, beyond = most + threshold->truth_error;

	if (isnan(most))
		return VERDICT_NOT_APPLICABLE;
	if (low > beyond || high < -beyond)
		return VERDICT_FAIL;
	return low >= -most && high <= most && threshold->truth_error <= most
		       ? VERDICT_PASS
		       : VERDICT_INCONCLUSIVE;
}

bool threshold_is_open(const struct threshold *threshold, double error, double low, double high)
{
	double most = threshold->max_error, beyond = most + threshold->truth_error;
	bool is_within = fabs(error) <= most;

	return threshold_verdict(threshold, low, high) == VERDICT_INCONCLUSIVE &&
	       (is_within ? threshold->truth_error <= most : fabs(error) > beyond);
}

void threshold_text(const struct threshold *threshold, char ret[static THRESHOLD_TEXT_MAX])
{
	int len = snprintf(ret, THRESHOLD_TEXT_MAX, "±%g %%", 100 * threshold->max_error);

	if (threshold->truth_error > 0 && len > 0)
		(void)snprintf(ret + len, THRESHOLD_TEXT_MAX - (size_t)len,
			       ", own error of the truth ±%g %%", 100 * threshold->truth_error);
}

struct result *result_new(const char *name, enum result_kind kind)
{
	struct result *result = calloc(1, sizeof(*result));
	if (!result)
		return NULL;
	(void)snprintf(result->name, sizeof(result->name), "%s", name);
	make_plain(result->name);
	result->kind = kind;
	result->verdict = VERDICT_NOT_APPLICABLE;
	result->threshold = (struct threshold){ .max_error = NAN, .max_lag_s = NAN };
	result->error = NAN;
	return result;
}

void result_free(struct result *result)
{
	if (!result)
		return;
	series_free(result->actual);
	series_free(result->predicted);
	free(result->phases);
	free(result->table);
	free(result);
}

void result_set_verdict(struct result *result, enum verdict verdict, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int len = vsnprintf(result->reason, sizeof(result->reason), format, args);
	va_end(args);
	make_plain(result->reason);
	bool needs_one = verdict == VERDICT_PASS || verdict == VERDICT_FAIL;
	result->verdict = verdict;
	if (!needs_one || !isnan(result->threshold.max_error))
		return;
	result->verdict = VERDICT_NOT_APPLICABLE;
	if (len >= 0 && (size_t)len < sizeof(result->reason))
		(void)snprintf(result->reason + len, sizeof(result->reason) - (size_t)len,
			       "%sno threshold was given, so there is no verdict.",
			       len > 0 ? "; " : "");
}

int result_list_add(struct result_list *list, struct result *result)
{
	int r = -ENOSPC;
	if (list->count < RESULTS_MAX)
		r = ARRAY_RESERVE(list->items, list->size, list->count + 1);
	if (r < 0) {
		result_free(result);
		return r;
	}
	list->items[list->count++] = result;
	return 0;
}

void result_list_release(struct result_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		result_free(list->items[i]);
	free(list->items);
	*list = (struct result_list){ 0 };
}

size_t result_list_count(const struct result_list *list, enum verdict verdict)
{
	size_t count = 0;
	for (size_t i = 0; i < list->count; i++)
		count += list->items[i]->verdict == verdict;
	return count;
}

enum verdict result_list_verdict(const struct result_list *list)
{
	static const enum verdict worst_first[] = { VERDICT_FAIL, VERDICT_INCONCLUSIVE,
						    VERDICT_PASS };
	for (size_t i = 0; i < ARRAY_SIZE(worst_first); i++)
		if (result_list_count(list, worst_first[i]) > 0)
			return worst_first[i];
	return VERDICT_NOT_APPLICABLE;
}

int verdict_exit_code(enum verdict verdict)
{
	return verdict == VERDICT_PASS ? 0 : verdict == VERDICT_FAIL ? 1 : 3;
}

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[] = {
		[VERDICT_PASS] = "pass",
		[VERDICT_FAIL] = "fail",
		[VERDICT_INCONCLUSIVE] = "inconclusive",
		[VERDICT_NOT_APPLICABLE] = "not applicable",
	};
	return names[verdict];
}

const char *cause_name(enum cause cause)
{
	static const char *const names[] = {
		[CAUSE_NONE] = "none",     [CAUSE_SCALE] = "scale",
		[CAUSE_OFFSET] = "offset", [CAUSE_SHAPE] = "shape",
		[CAUSE_LAG] = "lag",       [CAUSE_SATURATION] = "saturation",
		[CAUSE_FROZEN] = "frozen",
	};
	return names[cause];
}

const char *result_kind_name(enum result_kind kind)
{
	static const char *const names[] = {
		[RESULT_CORRECTNESS] = "correctness",
		[RESULT_CONSERVATION] = "conservation",
		[RESULT_ACCURACY] = "accuracy",
		[RESULT_PUBLISHED] = "published",
	};
	return names[kind];
}
