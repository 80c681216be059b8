// SPDX-License-Identifier: Apache-2.0
#include "energy/zone_coverage.h"

#include <stdio.h>

/* A whole has losses that its parts have not, so that it should be above 1. */
#define COVERAGE_MIN 0.95

bool zone_coverage_is_short(const struct zone *zone, double coverage,
			    char ret[static ZONE_COVERAGE_TEXT_MAX], const char **ret_remedy)
{
	char id[ZONE_ID_MAX];

	if (!(coverage < COVERAGE_MIN))
		return false;
	zone_id(zone, id);
	if (coverage > 0)
		(void)snprintf(ret, ZONE_COVERAGE_TEXT_MAX,
			       "%s (%s, %s) counts %.0f %% less than its parts together: it does "
			       "not measure the whole machine. The total is what the parts count",
			       id, zone->source, zone->path, (1 - coverage) * 100);
	else
		(void)snprintf(ret, ZONE_COVERAGE_TEXT_MAX,
			       "%s (%s, %s) stands still while its parts count: it is not "
			       "connected, or broken. The total is what the parts count",
			       id, zone->source, zone->path);
	*ret_remedy = zone->kind == ZONE_PSYS
			      ? "the board's maker decides whether psys is fed; where its firmware "
				"has no setting for it, use another meter of the machine "
				"(docs/meters.md)"
			      : "see which power supplies and boards the meter measures; where it "
				"cannot measure all, use another one, or leave its source out of "
				"--meters";
	return true;
}
