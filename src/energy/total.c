// SPDX-License-Identifier: Apache-2.0
#include "energy/total.h"

#include <string.h>

#include "base/macro.h"
#include "energy/rank.h"

/* What has all energy of the kind in it; the outermost is its own. */
static const enum zone_kind whole_of[ZONE_KIND_COUNT] = {
	[ZONE_PACKAGE] = ZONE_PSYS, [ZONE_CORE] = ZONE_PACKAGE,  [ZONE_UNCORE] = ZONE_PACKAGE,
	[ZONE_DRAM] = ZONE_PSYS,    [ZONE_PSYS] = ZONE_PLATFORM, [ZONE_PLATFORM] = ZONE_PLATFORM,
};

static bool is_in(enum zone_kind part, enum zone_kind whole)
{
	while (part != whole && whole_of[part] != part)
		part = whole_of[part];
	return part == whole;
}

/* Whether some of the energy that @a counts is counted by @b as well: of rivals only one counts. */
static bool overlap(const struct zone *a, const struct zone *b)
{
	if (rank_are_rivals(a, b))
		return false;
	if (a->kind == b->kind)
		return strcmp(a->source, b->source) != 0; /* else they are two sockets */
	return is_in(a->kind, b->kind) || is_in(b->kind, a->kind);
}

static bool any_measured(const struct zone *const zones[], size_t count)
{
	for (size_t z = 0; z < count; z++) {
		if (zones[z]->quality == QUALITY_MEASURED)
			return true;
	}
	return false;
}

static bool may_join(const struct zone *zone, const struct zone *const zones[], size_t count,
		     const bool in_total[])
{
	for (size_t z = 0; z < count; z++) {
		if (in_total[z] && zones[z]->quality == zone->quality && overlap(zones[z], zone))
			return false;
	}
	return true;
}

void total_choose(const struct zone *const zones[], size_t known, size_t count, bool in_total[])
{
	static const enum zone_kind outermost_first[] = { ZONE_PLATFORM, ZONE_PSYS, ZONE_PACKAGE,
							  ZONE_DRAM,     ZONE_CORE, ZONE_UNCORE };
	bool measured = any_measured(zones, count);

	for (size_t z = known; z < count; z++)
		in_total[z] = false;
	for (size_t i = 0; i < ARRAY_SIZE(outermost_first); i++) {
		for (size_t z = known; z < count; z++) {
			if (zones[z]->kind == outermost_first[i] &&
			    (!measured || zones[z]->quality == QUALITY_MEASURED))
				in_total[z] = may_join(zones[z], zones, count, in_total);
		}
	}
}
