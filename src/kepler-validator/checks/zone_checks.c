// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/zone_checks.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"

#define FROZEN_LAGS    3
#define FROZEN_LEAST_S 5 /* exporters may count that rarely */

/* Kinds that only RAPL has. */
static const char *const rapl_kinds[] = { "package", "core", "uncore", "dram", "psys" };

bool check_frozen(const struct exporter *exporter, const struct truth_zone *truth,
		  const struct check_bounds *bounds, struct result *result)
{
	double end_s = series_end_s(truth->series), still_s = end_s - exporter->last_s;
	double joules = series_amount(truth->series, exporter->last_s, end_s).amount;

	if (exporter->new_pages == 0 || !(joules > 0) ||
	    still_s <= fmax(FROZEN_LAGS * bounds->max_lag_s, FROZEN_LEAST_S))
		return false;
	result->cause = CAUSE_FROZEN;
	result_set_verdict(result, VERDICT_FAIL,
			   "The exporter's numbers have not changed in the last %.0f s, while the "
			   "machine used %.0f J: its readings have stopped.",
			   still_s, joules);
	return true;
}

/* Is the zone one that only RAPL measures, shown as measured, and has it counted? */
static bool is_claimed(const struct exporter_zone *zone)
{
	if (!zone->is_measured || !zone->sums[ENERGY_NODE].series ||
	    zone->sums[ENERGY_NODE].joules <= 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(rapl_kinds); i++)
		if (strcmp(zone->name, rapl_kinds[i]) == 0)
			return true;
	return false;
}

int check_invented_zones(const struct observation *observation, const struct exporter *exporter,
			 struct result_list *ret)
{
	struct result *result = result_new("correctness/invented-zones", RESULT_CORRECTNESS);
	const struct truth_inventory *inventory = &observation->inventory;
	char names[128] = "";
	size_t len = 0, claimed = 0;
	bool is_certain = !inventory->has_other;

	if (!result)
		return -ENOMEM;
	(void)snprintf(result->exporter, sizeof(result->exporter), "%.*s", RESULT_NAME_MAX - 1,
		       exporter->url);
	result->threshold.max_error = 0;
	for (size_t i = 0; i < exporter->zone_count; i++) {
		const struct exporter_zone *zone = &exporter->zones[i];

		claimed += is_claimed(zone);
		if (!is_claimed(zone) || truth_inventory_has(inventory, zone->name) ||
		    len >= sizeof(names))
			continue;
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", len ? ", " : "",
					zone->name);
		/* Another source may be a meter that is not known here, or MSRs that only the
		 * exporter can read. */
		is_certain &= !zone->source[0] ||
			      (strstr(zone->source, "rapl") && !strstr(zone->source, "msr"));
	}
	if (claimed == 0)
		result_set_verdict(result, VERDICT_NOT_APPLICABLE,
				   "The exporter shows no zone of RAPL as measured.");
	else if (len == 0)
		result_set_verdict(
			result, VERDICT_PASS,
			"Zones of RAPL that are shown as measured without a meter: none of %zu.",
			claimed);
	else
		result_set_verdict(
			result, is_certain ? VERDICT_FAIL : VERDICT_INCONCLUSIVE,
			"Shown as measured, but neither powercap, nor perf, nor the MSRs "
			"of this machine have a meter for it: %s.%s",
			names, is_certain ? "" : " Another source may measure it.");
	return result_list_add(ret, result);
}
