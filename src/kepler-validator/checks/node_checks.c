// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/node_checks.h"

#include <errno.h>
#include <math.h>

#include "kepler-validator/checks/comparison.h"
#include "kepler-validator/checks/model_checks.h"
#include "kepler-validator/checks/truth_checks.h"
#include "kepler-validator/checks/zone_checks.h"

static const struct series *node_series(const struct checking *checking, const char *kind)
{
	const struct exporter_zone *zone = exporter_find_zone(checking->exporter, kind);

	return zone ? zone->sums[ENERGY_NODE].series : NULL;
}

/* A zone that the machine has. */
static int check_zone(const struct checking *checking, const struct truth_zone *truth)
{
	const struct series *series = node_series(checking, truth->kind);
	const struct exporter_zone *zone = exporter_find_zone(checking->exporter, truth->kind);
	if (checking->model &&
	    (!series || !model_has_zone(checking->exporter, checking->model, truth->kind)))
		return 0; /* no model estimates all kinds */
	struct result *result = checking_begin(checking, RESULT_ACCURACY, "node", truth->kind);
	if (!result)
		return -ENOMEM;
	result->threshold.max_error = checking->model ? checking->bounds->max_estimate_error
						      : checking->bounds->max_error;
	result->threshold.max_lag_s = checking->bounds->max_lag_s;
	result->threshold.truth_error = fmax(0, truth->series->error);
	if (zone && zone->is_difference)
		result_set_verdict(result, VERDICT_FAIL,
				   "Each value is only the energy since the value before it: "
				   "energy between two scrapes is lost.");
	else if (!series)
		result_set_verdict(result, VERDICT_FAIL,
				   "The machine has this zone, but the exporter has no series of "
				   "it.");
	else if (!check_frozen(checking->exporter, truth, checking->bounds, result))
		return comparison_judge(checking, result, truth, series);
	truth_doubt_apply(truth, result);
	return result_list_add(checking->results, result);
}

int check_zones(const struct checking *checking)
{
	const struct truth *truth = &checking->observation->truth;
	int r = 0;

	for (size_t i = 0; i < truth->zone_count && r == 0; i++)
		r = check_zone(checking, &truth->zones[i]);
	if (truth->zone_count > 0 || r < 0)
		return r;
	struct result *result = checking_begin(checking, RESULT_ACCURACY, "node", "energy");
	if (!result)
		return -ENOMEM;
	result_set_verdict(result, VERDICT_NOT_APPLICABLE,
			   "This machine has no meter that can be read here, so only what must "
			   "always hold is judged.");
	return result_list_add(checking->results, result);
}
