// SPDX-License-Identifier: Apache-2.0
#include "verdict-report/report_compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int rank_of(enum verdict verdict)
{
	static const int ranks[] = {
		[VERDICT_PASS] = 0,
		[VERDICT_INCONCLUSIVE] = 1,
		[VERDICT_FAIL] = 2,
		[VERDICT_NOT_APPLICABLE] = -1,
	};

	return ranks[verdict];
}

static double distance_from_one(double ratio)
{
	return fabs(log(ratio)); /* a half is as far as double */
}

/* False if an interval is not known. */
static bool intervals_are_apart(const struct summary_row *a, const struct summary_row *b)
{
	return a->ratio_low > b->ratio_high || a->ratio_high < b->ratio_low;
}

static enum change change_of(const struct summary_row *before, const struct summary_row *after)
{
	if (!before || rank_of(before->verdict) < 0)
		return CHANGE_INCOMPARABLE;
	if (!after || rank_of(after->verdict) < 0)
		return CHANGE_WORSE;
	if (rank_of(before->verdict) != rank_of(after->verdict))
		return rank_of(after->verdict) > rank_of(before->verdict) ? CHANGE_WORSE
									  : CHANGE_BETTER;
	if (!intervals_are_apart(before, after))
		return CHANGE_NONE;
	return distance_from_one(after->ratio) > distance_from_one(before->ratio) ? CHANGE_WORSE
										  : CHANGE_BETTER;
}

static void add(struct comparison *ret, const struct summary_row *before,
		const struct summary_row *after)
{
	struct compared *item = &ret->items[ret->count++];

	*item = (struct compared){ .before = before,
				   .after = after,
				   .change = change_of(before, after),
				   .factor = NAN,
				   .factor_low = NAN,
				   .factor_high = NAN };
	if (before && after) {
		item->factor = after->ratio / before->ratio;
		item->factor_low = after->ratio_low / before->ratio_high;
		item->factor_high = after->ratio_high / before->ratio_low;
	}
	ret->counts[item->change]++;
}

/*
 * The partners of @before's rows that have none yet: the first row of the same name, and first only
 * of the same exporter.
 */
static void find_partners(const struct report_summary *before, const struct report_summary *after,
			  bool of_same_exporter, const struct summary_row **partners,
			  bool *is_taken)
{
	for (size_t i = 0; i < before->count; i++) {
		for (size_t at = 0; at < after->count && !partners[i]; at++) {
			const struct summary_row *row = &after->rows[at];

			if (is_taken[at] || strcmp(row->name, before->rows[i].name) != 0 ||
			    (of_same_exporter &&
			     strcmp(row->exporter, before->rows[i].exporter) != 0))
				continue;
			partners[i] = row;
			is_taken[at] = true;
		}
	}
}

int report_compare(const struct report_summary *before, const struct report_summary *after,
		   struct comparison *ret)
{
	bool *is_taken = calloc(after->count + 1, sizeof(*is_taken));
	const struct summary_row **partners = calloc(
		before->count + 1, sizeof(*partners)); /* NOLINT(bugprone-sizeof-expression) */

	*ret = (struct comparison){ .count = 0 };
	ret->items = calloc(before->count + after->count + 1, sizeof(*ret->items));
	if (!is_taken || !partners || !ret->items) {
		free(is_taken);
		free(partners);
		comparison_release(ret);
		return -ENOMEM;
	}
	find_partners(before, after, true, partners, is_taken);
	find_partners(before, after, false, partners, is_taken);
	for (size_t i = 0; i < before->count; i++)
		add(ret, &before->rows[i], partners[i]);
	for (size_t at = 0; at < after->count; at++)
		if (!is_taken[at])
			add(ret, NULL, &after->rows[at]);
	free(is_taken);
	free(partners);
	return 0;
}

void comparison_release(struct comparison *comparison)
{
	free(comparison->items);
	*comparison = (struct comparison){ .count = 0 };
}

const char *change_name(enum change change)
{
	static const char *const names[] = {
		[CHANGE_WORSE] = "worse",
		[CHANGE_BETTER] = "better",
		[CHANGE_INCOMPARABLE] = "incomparable",
		[CHANGE_NONE] = "unchanged",
	};

	return names[change];
}
