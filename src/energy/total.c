// SPDX-License-Identifier: Apache-2.0
#include "energy/total.h"

#include <string.h>

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

bool total_zone_is_in(const struct zone *part, const struct zone *whole, enum psys_gpus psys_gpus)
{
	if (zone_kind_info[part->kind].is_device && whole->kind == ZONE_PSYS)
		return psys_gpus == PSYS_GPUS_AUTO ? whole->has_gpus
						   : psys_gpus == PSYS_GPUS_INSIDE;
	return total_kind_is_in(part->kind, whole->kind);
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
static bool overlap(const struct zone *a, const struct zone *b, enum psys_gpus psys_gpus)
{
	if (rank_are_rivals(a, b) || zone_are_alike(a, b))
		return false;
	if (a->kind == b->kind)
		return !are_of_two_sockets(a, b);
	return total_zone_is_in(a, b, psys_gpus) || total_zone_is_in(b, a, psys_gpus);
}

/* An estimate of the machine has no devices in it: they do not stand in its place. */
static bool any_measured(const struct zone *const zones[], size_t count)
{
	for (size_t z = 0; z < count; z++) {
		if (zones[z]->quality == QUALITY_MEASURED &&
		    !zone_kind_info[zones[z]->kind].is_device)
			return true;
	}
	return false;
}

static bool is_free(const struct zone *zone, const struct zone *const zones[], size_t count,
		    enum psys_gpus psys_gpus, const uint32_t total[])
{
	for (size_t z = 0; z < count; z++) {
		if (total[z] != TOTAL_NONE && zones[z]->quality == zone->quality &&
		    overlap(zones[z], zone, psys_gpus))
			return false;
	}
	return true;
}

/* With all zones that are alike, or with none: as it was decided for the first of them. */
static bool joins(size_t zone, const struct zone *const zones[], size_t count, bool measured,
		  enum psys_gpus psys_gpus, const uint32_t total[])
{
	for (size_t z = 0; z < zone; z++) {
		if (zone_are_alike(zones[z], zones[zone]))
			return total[z] != TOTAL_NONE;
	}
	if (measured && zones[zone]->quality != QUALITY_MEASURED)
		return false;
	for (size_t z = zone; z < count; z++) {
		if (zone_are_alike(zones[z], zones[zone]) &&
		    !is_free(zones[z], zones, count, psys_gpus, total))
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

/* Of what is measured the parts go first, and a whole only where there are none of it. */
static const enum zone_kind order[][ZONE_KIND_COUNT] = {
	[QUALITY_MEASURED] = { ZONE_PACKAGE, ZONE_DRAM, ZONE_CORE, ZONE_UNCORE, ZONE_GPU,
			       ZONE_OTHER, ZONE_PSYS, ZONE_PLATFORM },
	[QUALITY_ESTIMATED] = { ZONE_PLATFORM, ZONE_PSYS, ZONE_PACKAGE, ZONE_DRAM, ZONE_CORE,
				ZONE_UNCORE, ZONE_GPU, ZONE_OTHER },
};

uint32_t total_choose(const struct zone *const zones[], size_t known, size_t count,
		      enum psys_gpus psys_gpus, uint32_t total[])
{
	bool measured = any_measured(zones, count);

	for (size_t z = known; z < count; z++)
		total[z] = TOTAL_NONE;
	for (size_t i = 0; i < ZONE_KIND_COUNT; i++) {
		for (size_t z = known; z < count; z++) {
			if (zones[z]->kind == order[zones[z]->quality][i] &&
			    joins(z, zones, count, measured, psys_gpus, total))
				total[z] = 1;
		}
	}
	return number_sources(zones, count, total);
}
