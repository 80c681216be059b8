// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/upstream_specs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"

static bool machine_has(const struct truth *truth, const char *kind)
{
	for (size_t i = 0; i < truth->zone_count; i++)
		if (strcmp(truth->zones[i].kind, kind) == 0)
			return true;
	return false;
}

static int check_zone(const struct checking *checking, const char *zone_name,
		      enum energy_level level, const char *group)
{
	const struct exporter_zone *zone = exporter_find_zone(checking->exporter, zone_name);
	bool is_there = machine_has(&checking->observation->truth, zone_name);
	bool has_energy = zone && zone->sums[level].most_micro > 0;
	struct result *result = checking_begin(checking, RESULT_CORRECTNESS, group, zone_name);

	if (!result)
		return -ENOMEM;
	result->threshold.max_error = 0;
	if (has_energy && !is_there && zone->is_estimated)
		result_set_verdict(result, VERDICT_NOT_APPLICABLE,
				   "The machine does not have this zone; the exporter says that "
				   "its energy is estimated.");
	else if (has_energy == is_there)
		result_set_verdict(result, VERDICT_PASS, "%s",
				   is_there
					   ? "The machine has this zone, and it has energy."
					   : "Neither the machine nor the exporter has this zone.");
	else
		result_set_verdict(
			result, VERDICT_FAIL, "%s",
			is_there ? "The machine has this zone, but it has no energy."
				 : "The machine does not have this zone, but the exporter "
				   "shows energy of it.");
	return result_list_add(checking->results, result);
}

static bool has_containers(struct exporter *exporter)
{
	for (size_t i = 0; i < exporter->zone_count; i++)
		if (exporter->zones[i].sums[ENERGY_CONTAINER].was_there)
			return true;
	return false;
}

int check_upstream_specs(const struct checking *checking)
{
	static const char *const zones[] = { "core", "dram", "package", "uncore" };
	int r = 0;

	enum truth_source source = checking->observation->truth.source;
	if (source != TRUTH_RAPL_SYSFS && source != TRUTH_PERF && source != TRUTH_MSR)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(zones) && r == 0; i++) {
		r = check_zone(checking, zones[i], ENERGY_NODE, "upstream/2-1");
		if (r == 0 && has_containers(checking->exporter))
			r = check_zone(checking, zones[i], ENERGY_CONTAINER, "upstream/2-2");
	}
	return r;
}
