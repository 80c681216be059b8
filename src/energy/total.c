// SPDX-License-Identifier: Apache-2.0
#include "energy/total.h"

#include <string.h>

#include "base/macro.h"
#include "energy/rank.h"

/* What has all energy of the kind in it; the outermost is its own. */
static const enum zone_kind whole_of[ZONE_KIND_COUNT] = {
	[ZONE_PACKAGE] = ZONE_PSYS, [ZONE_CORE] = ZONE_PACKAGE,   [ZONE_UNCORE] = ZONE_PACKAGE,
	[ZONE_DRAM] = ZONE_PSYS,    [ZONE_PSYS] = ZONE_PLATFORM,  [ZONE_PLATFORM] = ZONE_PLATFORM,
	[ZONE_GPU] = ZONE_PSYS,     [ZONE_OTHER] = ZONE_PLATFORM,
};

bool total_kind_is_in(enum zone_kind part, enum zone_kind whole)
{
	while (part != whole && whole_of[part] != part)
		part = whole_of[part];
	return part == whole;
}

static bool are_of_two_sockets(const struct zone *a, const struct zone *b)
{
	return a->domain.kind == DOMAIN_SOCKET && b->domain.kind == DOMAIN_SOCKET &&
	       a->domain.number != b->domain.number;
}

/*
 * Whether some of the energy that @a counts is counted by @b as well: of rivals only one counts.
 * A kind is inside another whatever the socket: a row has one sum of all sockets.
 */
static bool overlap(const struct zone *a, const struct zone *b)
{
	if (rank_are_rivals(a, b) || zone_are_alike(a, b))
		return false;
	if (a->kind == b->kind)
		return !are_of_two_sockets(a, b);
	return total_kind_is_in(a->kind, b->kind) || total_kind_is_in(b->kind, a->kind);
}

/* An estimate of the machine has no devices in it: they do not stand in its place. */
static bool any_measured(const struct zone *const zones[], size_t count)
{
	for (size_t z = 0; z < count; z++) {
		if (zones[z]->quality == QUALITY_MEASURED && !zone_kind_is_device(zones[z]->kind))
			return true;
	}
	return false;
}

static bool is_free(const struct zone *zone, const struct zone *const zones[], size_t count,
		    const uint32_t total[])
{
	for (size_t z = 0; z < count; z++) {
		if (total[z] != TOTAL_NONE && zones[z]->quality == zone->quality &&
		    overlap(zones[z], zone))
			return false;
	}
	return true;
}

/* With all zones that are alike, or with none: as it was decided for the first of them. */
static bool joins(size_t zone, const struct zone *const zones[], size_t count, bool measured,
		  const uint32_t total[])
{
	for (size_t z = 0; z < zone; z++) {
		if (zone_are_alike(zones[z], zones[zone]))
			return total[z] != TOTAL_NONE;
	}
	if (measured && zones[zone]->quality != QUALITY_MEASURED)
		return false;
	for (size_t z = zone; z < count; z++) {
		if (zone_are_alike(zones[z], zones[zone]) &&
		    !is_free(zones[z], zones, count, total))
			return false;
	}
	return true;
}

static uint32_t number_sources(const struct zone *const zones[], size_t count, uint32_t total[])
{
	uint32_t totals = 0;

	for (size_t z = 0; z < count; z++) {
		size_t first = 0;

		if (total[z] == TOTAL_NONE)
			continue;
		while (total[first] == TOTAL_NONE ||
		       strcmp(zones[first]->source, zones[z]->source) != 0)
			first++;
		total[z] = first < z ? total[first] : ++totals;
	}
	return totals;
}

uint32_t total_choose(const struct zone *const zones[], size_t known, size_t count,
		      uint32_t total[])
{
	static const enum zone_kind outermost_first[] = { ZONE_PLATFORM, ZONE_PSYS, ZONE_PACKAGE,
							  ZONE_DRAM,     ZONE_CORE, ZONE_UNCORE,
							  ZONE_GPU,      ZONE_OTHER };
	bool measured = any_measured(zones, count);

	for (size_t z = known; z < count; z++)
		total[z] = TOTAL_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(outermost_first); i++) {
		for (size_t z = known; z < count; z++) {
			if (zones[z]->kind == outermost_first[i] &&
			    joins(z, zones, count, measured, total))
				total[z] = 1;
		}
	}
	return number_sources(zones, count, total);
}
