// SPDX-License-Identifier: Apache-2.0
#include "energy/total.h"

#include <string.h>

#include "energy/rank.h"

bool total_kind_is_in(enum zone_kind part, enum zone_kind whole)
{
	while (part != whole && zone_kind_info[part].whole != part)
		part = zone_kind_info[part].whole;
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
 * Returns true if some of the energy that @a counts is counted by @b as well: only one of several
 * rivals counts.
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

/*
 * An estimate of the machine has no devices in it: they do not stand in its place. It stands in the
 * place of a share that is silent.
 */
static bool is_measured(const struct zone *own, const struct zone *const zones[], size_t count)
{
	for (size_t z = 0; z < count; z++) {
		if (zones[z]->quality == QUALITY_MEASURED &&
		    !zone_kind_info[zones[z]->kind].is_device &&
		    !(zones[z]->rank == RANK_SHARE && rank_are_rivals(zones[z], own)))
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
static bool joins(size_t zone, const struct zone *const zones[], size_t count,
		  enum psys_gpus psys_gpus, const uint32_t total[])
{
	for (size_t z = 0; z < zone; z++) {
		if (zone_are_alike(zones[z], zones[zone]))
			return total[z] != TOTAL_NONE;
	}
	if (zones[zone]->quality != QUALITY_MEASURED && is_measured(zones[zone], zones, count))
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

/*
 * The order in which zones are decided on: a package comes before its parts, a whole machine after
 * its parts.
 */
static unsigned turn_of(const struct zone *zone)
{
	enum zone_kind kind = zone->kind;
	unsigned depth = 0;

	for (; zone_kind_info[kind].whole != kind; kind = zone_kind_info[kind].whole)
		depth++;
	return zone_kind_info[zone->kind].is_whole ? 2 * ZONE_KIND_COUNT - depth : depth;
}

uint32_t total_choose(const struct zone *const zones[], size_t known, size_t count,
		      enum psys_gpus psys_gpus, uint32_t total[])
{
	for (size_t z = known; z < count; z++)
		total[z] = TOTAL_NONE;
	for (unsigned turn = 0; turn <= 2 * ZONE_KIND_COUNT; turn++) {
		for (size_t z = known; z < count; z++) {
			if (turn_of(zones[z]) == turn && joins(z, zones, count, psys_gpus, total))
				total[z] = 1;
		}
	}
	return number_sources(zones, count, total);
}
