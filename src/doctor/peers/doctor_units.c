// SPDX-License-Identifier: Apache-2.0
/*
 * This process reads the counters itself, as an exporter with the same options would: a port that
 * is wrong is found before the exporter runs.
 */
#include "doctor/peers/doctor_units.h"

#include <inttypes.h>

#include "base/num.h"

#define TOPIC   "units"
#define WAIT_NS (8 * NSEC_PER_SEC) /* for names from Kubernetes and two readings */
#define FIX     "check --units.rule; docs/units.md"

static void tell(struct findings *findings, const struct unit_health *unit)
{
	if (unit->error[0])
		findings_add(findings, FINDING_FIX, TOPIC, FIX, "%s cannot be counted: %s",
			     unit->unit, unit->error);
	else if (unit->pods)
		findings_add(findings, FINDING_OK, TOPIC, NULL,
			     "%s are counted in %" PRIu64 " %s of this node", unit->unit,
			     unit->pods, unit->pods == 1 ? "pod" : "pods");
	else
		findings_add(findings, FINDING_NOTE, TOPIC, FIX,
			     "%s are counted in no pod: the rule selects none that runs here",
			     unit->unit);
}

void doctor_examine_units(struct findings *findings, const struct config *config,
			  struct units *units, const struct ledger *ledger)
{
	struct units_health health;

	if (!units)
		return;
	if (units_need_pods(&config->units) && !config_wants_kubernetes(config)) {
		findings_add(findings, FINDING_FIX, TOPIC, "set --kube.pods; docs/kubernetes.md",
			     "units are to be counted in pods, and Kubernetes is not asked for "
			     "pods");
		return;
	}
	units_try(units, ledger, WAIT_NS, &health);
	for (uint32_t i = 0; i < health.count; i++)
		tell(findings, &health.units[i]);
}
