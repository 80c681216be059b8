// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/estimate_checks.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "judging/coverage.h"
#include "kepler-validator/checks/model_checks.h"

static const struct truth_zone *find_truth(const struct truth *truth, const char *kind)
{
	for (size_t i = 0; i < truth->zone_count; i++)
		if (strcmp(truth->zones[i].kind, kind) == 0)
			return &truth->zones[i];
	return NULL;
}

/*
 * A bound that holds more often than it says is cautious, and not wrong: on one machine, a model
 * may be better than on most.
 */
static void decide(const struct coverage *coverage, const char *zone, struct result *result)
{
	double least = PUBLISHED_BOUND_PART - result->threshold.max_error;
	double windows = (double)coverage->windows;
	double share = (double)coverage->covered / windows;
	double most = (double)(coverage->covered + coverage->doubtful) / windows;

	if (coverage->windows < COVERAGE_WINDOWS_LEAST) {
		result_set_verdict(result, VERDICT_INCONCLUSIVE,
				   "Only %zu intervals have an estimate of %s, its bound and a "
				   "truth (%d are needed).",
				   coverage->windows, zone, COVERAGE_WINDOWS_LEAST);
		return;
	}
	result->error = fmax(0, PUBLISHED_BOUND_PART - share);
	enum verdict verdict = share >= least ? VERDICT_PASS
			       : most < least ? VERDICT_FAIL
					      : VERDICT_INCONCLUSIVE;
	result_set_verdict(
		result, verdict,
		"The meter is within the published bound, ±%.3g W on average, in %.1f %% "
		"of %zu intervals (%.0f %% are promised, at least %.0f %% needed)%s.",
		coverage->bound, 100 * share, coverage->windows, 100 * PUBLISHED_BOUND_PART,
		100 * least,
		verdict == VERDICT_INCONCLUSIVE
			? "; with the error of the meter itself, it may be more"
			: "");
}

int check_coverage(const struct checking *checking)
{
	const struct published_bounds *bounds = &checking->exporter->bounds;
	int r = 0;

	for (size_t i = 0; i < bounds->count && r == 0; i++) {
		const struct published_bound *bound = &bounds->items[i];
		const struct truth_zone *truth =
			find_truth(&checking->observation->truth, bound->zone);
		const struct exporter_zone *zone =
			exporter_find_zone(checking->exporter, bound->zone);
		const struct series *series = zone ? zone->sums[ENERGY_NODE].series : NULL;
		struct coverage coverage;

		if (!truth || !series || !bound->series ||
		    !model_has_zone(checking->exporter, checking->model, bound->zone))
			continue;
		struct result *result =
			checking_begin(checking, RESULT_ACCURACY, "coverage", bound->zone);
		if (!result)
			return -ENOMEM;
		result->threshold.max_error = checking->bounds->max_coverage_error;
		coverage_measure(truth->series, series, bound->series, &coverage);
		decide(&coverage, bound->zone, result);
		r = result_list_add(checking->results, result);
	}
	return r;
}
