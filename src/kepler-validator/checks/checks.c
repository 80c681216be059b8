// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/checks.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "judging/judge.h"
#include "kepler-validator/checks/checking.h"
#include "kepler-validator/checks/comparison.h"
#include "kepler-validator/checks/cpu_check.h"
#include "kepler-validator/checks/effect_checks.h"
#include "kepler-validator/checks/estimate_checks.h"
#include "kepler-validator/checks/gpu_checks.h"
#include "kepler-validator/checks/model_checks.h"
#include "kepler-validator/checks/node_checks.h"
#include "kepler-validator/checks/page_checks.h"
#include "kepler-validator/checks/regression_checks.h"
#include "kepler-validator/checks/replica_checks.h"
#include "kepler-validator/checks/truth_checks.h"
#include "kepler-validator/checks/upstream_specs.h"
#include "kepler-validator/checks/vm_checks.h"
#include "kepler-validator/checks/zone_checks.h"

#define NO_PAGE_MOST 0.1 /* of all requests */

static int check_answers(const struct checking *checking)
{
	const struct exporter *exporter = checking->exporter;
	struct result *result =
		checking_begin(checking, RESULT_CORRECTNESS, "correctness", "answers");
	uint64_t asked = exporter->pages + exporter->no_page.count;

	if (!result)
		return -ENOMEM;
	result->threshold.max_error = NO_PAGE_MOST;
	result->error = asked > 0 ? (double)exporter->no_page.count / (double)asked : 1;
	if (exporter->no_page.count == 0)
		result_set_verdict(result, VERDICT_PASS,
				   "%s answered all %llu requests, with %llu different pages.",
				   exporter_kind_name(exporter->kind), (unsigned long long)asked,
				   (unsigned long long)exporter->new_pages);
	else
		result_set_verdict(result,
				   result->error > NO_PAGE_MOST ? VERDICT_FAIL : VERDICT_PASS,
				   "%llu of %llu requests got no page that can be read; the "
				   "first: %s.",
				   (unsigned long long)exporter->no_page.count,
				   (unsigned long long)asked, exporter->no_page.example);
	return result_list_add(checking->results, result);
}

/* Series that are not followed make sums too small, which is not the exporter's fault. */
static int check_size(const struct checking *checking)
{
	const struct exporter_fault *fault = &checking->exporter->no_room;

	if (fault->count == 0)
		return 0;
	struct result *result = checking_begin(checking, RESULT_CORRECTNESS, "correctness", "size");
	if (!result)
		return -ENOMEM;
	result_set_verdict(result, VERDICT_INCONCLUSIVE,
			   "The exporter has more series than can be followed, so its sums are "
			   "not complete; the first: %s.",
			   fault->example);
	return result_list_add(checking->results, result);
}

static int check_faults(const struct checking *checking)
{
	const struct exporter *exporter = checking->exporter;
	const uint64_t all = exporter->series_checked;
	const struct {
		const char *name, *what;
		enum result_kind kind;
		const struct exporter_fault *fault;
		uint64_t of;
	} rows[] = {
		{ "types", "Energy that is not declared as a counter", RESULT_CORRECTNESS,
		  &exporter->type, all },
		{ "monotone", "Counters that went down", RESULT_CORRECTNESS, &exporter->decrease,
		  all },
		{ "finite", "Values that are no amount", RESULT_CORRECTNESS, &exporter->not_finite,
		  all },
		{ "rows", "Levels with rows that do not sum to the node, to the microjoule",
		  RESULT_CONSERVATION, &exporter->imbalance, exporter->balances_checked },
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows) && r == 0; i++)
		r = checking_fault(checking, rows[i].kind, rows[i].name, rows[i].fault, rows[i].of,
				   rows[i].what);
	return r;
}

/*
 * Rows that share the node's active energy: only as a whole, over all the time. Kepler in C shows
 * energy late on purpose (--metrics.settle), and says how much: "rows" judges that on each page.
 */
static int check_active(const struct checking *checking, const struct exporter_zone *zone)
{
	const struct exporter_sum *node = &zone->sums[ENERGY_NODE_ACTIVE];
	const struct exporter_sum *rows = &zone->sums[ENERGY_PROCESS];

	if (checking->exporter->kind == EXPORTER_KEPLER_C || !node->series || !rows->series ||
	    node->joules <= 0)
		return 0;
	struct result *result =
		checking_begin(checking, RESULT_CONSERVATION, "conservation/process", zone->name);
	if (!result)
		return -ENOMEM;
	result->threshold.max_error = checking->bounds->max_error;
	result->error = rows->joules / node->joules - 1;
	bool is_right = fabs(result->error) <= result->threshold.max_error;
	if (!is_right)
		result->cause = CAUSE_SCALE;
	result_set_verdict(result, is_right ? VERDICT_PASS : VERDICT_FAIL,
			   "All processes together have %.2f J of the node's %.2f J of active "
			   "energy (%+.1f %%).",
			   rows->joules, node->joules, 100 * result->error);
	return result_list_add(checking->results, result);
}

/* The validator's own Kepler has no names and no meters: only its estimates of the node count. */
static int check_estimates(const struct checking *checking)
{
	int r = check_faults(checking);
	size_t before = checking->results->count;

	if (r == 0)
		r = check_model(checking);
	if (r == 0)
		r = check_zones(checking);
	if (r < 0 || checking->results->count > before)
		return r < 0 ? r : check_coverage(checking);
	struct result *result = checking_begin(checking, RESULT_ACCURACY, "node", "estimates");
	if (!result)
		return -ENOMEM;
	result_set_verdict(result, VERDICT_INCONCLUSIVE,
			   "The model estimates no zone that this machine has a meter of, so there "
			   "is nothing to compare.");
	return result_list_add(checking->results, result);
}

static int check_exporter(const struct checking *checking, size_t index)
{
	const struct exporter *exporter = checking->exporter;
	int r = check_faults(checking);

	if (r == 0)
		r = check_size(checking);
	if (r == 0)
		r = check_pages(checking);
	if (r == 0)
		r = check_upstream_specs(checking);
	if (r == 0)
		r = check_invented_zones(checking->observation, exporter, checking->results);
	if (r == 0)
		r = check_zones(checking);
	if (r == 0)
		r = check_gpus(checking);
	if (r == 0)
		r = check_coverage(checking);
	if (r == 0)
		r = check_cpu_time(checking);
	if (r == 0)
		r = check_vm_cpu(checking);
	for (size_t zone = 0; zone < exporter->zone_count && r == 0; zone++)
		r = check_active(checking, &exporter->zones[zone]);
	if (r == 0)
		r = check_effects(checking->observation, index, checking->bounds,
				  checking->results);
	return r < 0 ? r
		     : check_replicas(checking->observation, index, checking->bounds,
				      checking->results);
}

int check_observation(struct observation *observation, const struct check_bounds *bounds,
		      struct result_list *ret)
{
	int r = check_truth(observation, ret);

	for (size_t i = 0; i < observation->exporter_count && r == 0; i++) {
		const struct checking checking = {
			observation, observation->exporters[i], bounds, ret,
			observation->models[i].pid > 0 ? &observation->models[i] : NULL
		};

		r = check_answers(&checking);
		if (r < 0 || checking.exporter->new_pages == 0)
			continue;
		r = checking.model ? check_estimates(&checking) : check_exporter(&checking, i);
	}
	if (r == 0)
		r = check_regressions(observation, bounds, ret);
	return r < 0 ? r : check_guest(observation, bounds, ret);
}
