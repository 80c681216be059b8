// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/vm_checks.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kepler-validator/checks/comparison.h"

#define UNDECIDED_S 0.5 /* of CPU time: pages and ticks can be off by it */

int check_vm_cpu(const struct checking *checking)
{
	const struct observation *observation = checking->observation;
	struct exporter *exporter = checking->exporter;
	const struct exporter_zone *zone = exporter_find_zone(exporter, "cpu");

	if (observation->vm.pid == 0)
		return 0;
	struct result *result = checking_begin(checking, RESULT_CORRECTNESS, "vm", "cpu-time");
	if (!result)
		return -ENOMEM;
	struct amount truth =
		series_amount(observation->vm_cpu, exporter->first_s, exporter->last_s);
	double said_s = zone ? zone->sums[ENERGY_VM].mine : 0;

	result->threshold.max_error = checking->bounds->max_effect_error;
	result->error = said_s / truth.amount - 1;
	if (!zone || zone->sums[ENERGY_VM].mine_rows == 0)
		result_set_verdict(result,
				   exporter->kind == EXPORTER_KEPLER_C ? VERDICT_FAIL
								       : VERDICT_NOT_APPLICABLE,
				   "This exporter has no series of the virtual machine.");
	else if (!(truth.amount > 0))
		result_set_verdict(result, VERDICT_INCONCLUSIVE,
				   "The virtual machine used no CPU time.");
	else {
		bool is_right = fabs(result->error) <= result->threshold.max_error;
		bool is_little = !is_right && fabs(said_s - truth.amount) < UNDECIDED_S;

		if (!is_right && !is_little)
			result->cause = CAUSE_SCALE;
		result_set_verdict(result,
				   is_right    ? VERDICT_PASS
				   : is_little ? VERDICT_INCONCLUSIVE
					       : VERDICT_FAIL,
				   "The virtual machine's CPU time is %.2f s, that of its process "
				   "%.2f s%s.",
				   said_s, truth.amount,
				   is_little ? ", which is too little to compare" : "");
	}
	return result_list_add(checking->results, result);
}

static int check_guest_zone(const struct checking *checking, const struct exporter_zone *guest,
			    const struct exporter_zone *host)
{
	struct truth_zone truth = { .series = host->sums[ENERGY_VM].mine_series };
	struct result *result = checking_begin(checking, RESULT_ACCURACY, "guest", guest->name);

	if (!result)
		return -ENOMEM;
	(void)snprintf(truth.kind, sizeof(truth.kind), "%s", guest->name);
	result->threshold.max_error = checking->bounds->max_error;
	result->threshold.max_lag_s = checking->bounds->max_lag_s;
	return comparison_judge(checking, result, &truth, guest->sums[ENERGY_NODE].series);
}

int check_guest(struct observation *observation, const struct check_bounds *bounds,
		struct result_list *ret)
{
	struct exporter *guest = observation->guest;
	const struct checking checking = { observation, guest, bounds, ret };
	size_t compared = 0;
	int r = 0;

	if (!guest)
		return 0;
	for (size_t i = 0; i < guest->zone_count && r == 0; i++) {
		const struct exporter_zone *host =
			exporter_find_zone(observation->exporters[0], guest->zones[i].name);

		if (strcmp(guest->zones[i].name, "cpu") == 0 || !host ||
		    !host->sums[ENERGY_VM].mine_series || !guest->zones[i].sums[ENERGY_NODE].series)
			continue;
		compared++;
		r = check_guest_zone(&checking, &guest->zones[i], host);
	}
	if (compared > 0 || r < 0)
		return r;
	struct result *result = checking_begin(&checking, RESULT_ACCURACY, "guest", "energy");
	if (!result)
		return -ENOMEM;
	result_set_verdict(result, VERDICT_INCONCLUSIVE,
			   "The guest and the host's account of it have no zone in common%s%s.",
			   guest->no_page.count > 0 ? ": " : "", guest->no_page.example);
	return result_list_add(ret, result);
}
