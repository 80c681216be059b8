// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/regression_checks.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "judging/regression.h"
#include "kepler-validator/checks/model_checks.h"

/* Estimates of models are compared with each other only. */
static bool is_same_kind(const struct observation *observation, size_t a, size_t b)
{
	return observation->exporters[a]->kind == observation->exporters[b]->kind &&
	       (observation->models[a].pid > 0) == (observation->models[b].pid > 0);
}

static const struct series *node_series(struct exporter *exporter, const char *kind)
{
	const struct exporter_zone *zone = exporter_find_zone(exporter, kind);

	return zone && !zone->is_difference ? zone->sums[ENERGY_NODE].series : NULL;
}

static void decide(const struct regression *regression, const char *first, struct result *result)
{
	double most = result->threshold.max_error;

	if (isnan(regression->low)) {
		result_set_verdict(result, VERDICT_INCONCLUSIVE,
				   "Only %zu windows have values of both exporters and the meter.",
				   regression->windows);
		return;
	}
	result->error = fmax(0, regression->change);
	enum verdict verdict = regression->low > most     ? VERDICT_FAIL
			       : regression->high <= most ? VERDICT_PASS
							  : VERDICT_INCONCLUSIVE;
	result_set_verdict(result, verdict,
			   "Its mean error is %.2f %% of the energy, that of %.200s %.2f %%: %+.2f "
			   "%% (95 %% interval %+.2f to %+.2f %%, bound +%g %%).",
			   100 * regression->later_error, first, 100 * regression->earlier_error,
			   100 * regression->change, 100 * regression->low, 100 * regression->high,
			   100 * most);
}

static int compare(const struct observation *observation, size_t first, size_t later,
		   const struct check_bounds *bounds, struct result_list *ret)
{
	int r = 0;

	for (size_t i = 0; i < observation->truth.zone_count && r == 0; i++) {
		const struct truth_zone *truth = &observation->truth.zones[i];
		struct exporter *exporters[] = { observation->exporters[first],
						 observation->exporters[later] };
		const struct series *before = node_series(exporters[0], truth->kind);
		const struct series *after = node_series(exporters[1], truth->kind);
		struct regression regression;
		char name[RESULT_NAME_MAX];

		if (!before || !after ||
		    !model_has_zone(exporters[0], &observation->models[first], truth->kind) ||
		    !model_has_zone(exporters[1], &observation->models[later], truth->kind))
			continue;
		(void)snprintf(name, sizeof(name), "regression/%s", truth->kind);
		struct result *result = result_new(name, RESULT_ACCURACY);
		if (!result)
			return -ENOMEM;
		(void)snprintf(result->exporter, sizeof(result->exporter), "%.*s",
			       RESULT_NAME_MAX - 1, exporters[1]->url);
		result->threshold.max_error = bounds->max_regression;
		r = regression_measure(truth->series, before, after, &regression);
		if (r < 0) {
			result_free(result);
			return r;
		}
		decide(&regression, exporters[0]->url, result);
		r = result_list_add(ret, result);
	}
	return r;
}

int check_regressions(const struct observation *observation, const struct check_bounds *bounds,
		      struct result_list *ret)
{
	int r = 0;

	for (size_t later = 1; later < observation->exporter_count && r == 0; later++) {
		size_t first = 0;

		while (first < later && !is_same_kind(observation, first, later))
			first++;
		if (first < later)
			r = compare(observation, first, later, bounds, ret);
	}
	return r;
}
