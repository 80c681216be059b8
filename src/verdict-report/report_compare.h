/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The changes from one report to a later one, result by result. Pure.
 *
 * Results are matched by name; of several with one name, by their order. A change of the verdict
 * is better or worse by its rank: pass, inconclusive, fail. A result that was judged before and is
 * missing or not applicable after is worse, since what is not judged cannot fail; one that was not
 * judged before is incomparable. With the same verdict, a result is better or worse
 * only if the intervals of the energy ratios do not overlap, and the ratio is nearer to 1, or
 * farther from it, than before: so the noise of a run is not a regression.
 */
#pragma once

#include "verdict-report/report_summary.h"

enum change {
	CHANGE_WORSE,
	CHANGE_BETTER,
	CHANGE_INCOMPARABLE,
	CHANGE_NONE,
	CHANGE_COUNT,
};

struct compared {
	const struct summary_row *before, *after; /* borrowed; NULL: it has none */
	enum change change;
	/* By which factor the energy ratio changed, and its 95 % interval; NAN: not known. */
	double factor, factor_low, factor_high;
};

struct comparison {
	struct compared *items;
	size_t count;
	size_t counts[CHANGE_COUNT];
};

/* 0 or -ENOMEM. Both summaries live longer than @ret. */
int report_compare(const struct report_summary *before, const struct report_summary *after,
		   struct comparison *ret);
void comparison_release(struct comparison *comparison);
/* "worse", "better", "incomparable", "unchanged". */
const char *change_name(enum change change);
