// SPDX-License-Identifier: Apache-2.0
#include "kepler/zone_sums.h"

#include <string.h>

/*
 * Zones are read one after the other, and one that answers slowly later: a second of a minute is
 * 1.7 %. Where little flows the counters' steps show.
 */
#define TOLERATED_PART 50 /* 1/50 of the package */
#define TOLERATED_UJ   1000000

static bool is_exceeded(const struct zone_sums *sums, const struct zone *const *zones,
			const struct zone_reading *const *readings, size_t package)
{
	uint64_t whole_uj = readings[package]->energy_uj - sums->base_uj[package];
	uint64_t parts_uj = 0;

	if (zones[package]->kind != ZONE_PACKAGE || sums->broken[package])
		return false;
	for (size_t z = 0; z < sums->count; z++) {
		if (!zone_is_inside(zones[z], zones[package]))
			continue;
		if (sums->broken[z])
			return false;
		parts_uj += readings[z]->energy_uj - sums->base_uj[z];
	}
	return parts_uj > whole_uj + whole_uj / TOLERATED_PART + TOLERATED_UJ;
}

static void begin(struct zone_sums *sums, const struct zone_reading *const *readings, size_t count,
		  uint64_t now_ns)
{
	sums->begun_ns = now_ns;
	sums->count = count;
	for (size_t z = 0; z < count; z++) {
		sums->base_uj[z] = readings[z]->energy_uj;
		sums->broken[z] = readings[z]->state != ZONE_UP;
	}
}

size_t zone_sums_add(struct zone_sums *sums, const struct zone *const *zones,
		     const struct zone_reading *const *readings, size_t count, uint64_t now_ns)
{
	size_t exceeded = 0;

	if (count > ZONES_MAX)
		count = ZONES_MAX;
	for (size_t z = 0; z < sums->count; z++)
		sums->broken[z] |= readings[z]->state != ZONE_UP || readings[z]->restarted;
	if (sums->count != count) {
		begin(sums, readings, count, now_ns);
	} else if (now_ns - sums->begun_ns >= ZONE_SUMS_WINDOW_NS) {
		for (size_t z = 0; z < count; z++)
			sums->exceeded[z] = is_exceeded(sums, zones, readings, z);
		begin(sums, readings, count, now_ns);
	}
	for (size_t z = 0; z < count; z++)
		exceeded += sums->exceeded[z];
	return exceeded;
}
