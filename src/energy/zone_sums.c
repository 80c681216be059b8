// SPDX-License-Identifier: Apache-2.0
#include "energy/zone_sums.h"

#include <string.h>

/*
 * Zones are read one after the other, and one that answers slowly later: a second of a minute is
 * 1.7 %. Where little flows the counters' steps show.
 */
#define TOLERATED_PART 50 /* 1/50 of the package */
#define TOLERATED_UJ   1000000

static bool is_exceeded(const struct zone_sums *sums, const struct zone *const *zones,
			size_t package)
{
	uint64_t whole_uj = sums->energy_uj[package];
	uint64_t parts_uj = 0;

	if (zones[package]->kind != ZONE_PACKAGE || sums->broken[package])
		return false;
	for (size_t z = 0; z < sums->count; z++) {
		if (!zone_is_inside(zones[z], zones[package]))
			continue;
		if (sums->broken[z])
			return false;
		parts_uj += sums->energy_uj[z];
	}
	return parts_uj > whole_uj + whole_uj / TOLERATED_PART + TOLERATED_UJ;
}

static void begin(struct zone_sums *sums, const struct zone_sums_input *input, size_t count)
{
	sums->begun_ns = input->now_ns;
	sums->count = count;
	for (size_t z = 0; z < count; z++) {
		sums->energy_uj[z] = 0;
		sums->broken[z] = input->status[z]->state != ZONE_UP;
	}
}

static void add(struct zone_sums *sums, const struct zone_sums_input *input)
{
	for (size_t z = 0; z < sums->count; z++)
		sums->broken[z] |= input->status[z]->state != ZONE_UP;
	for (size_t i = 0; i < input->span_count; i++) {
		const struct energy_span *span = &input->spans[i];

		if (span->zone >= sums->count)
			continue;
		sums->broken[span->zone] |= !span->known;
		sums->energy_uj[span->zone] += span->energy_uj;
	}
}

size_t zone_sums_add(struct zone_sums *sums, const struct zone_sums_input *input)
{
	size_t count = input->count < ZONES_MAX ? input->count : ZONES_MAX;
	size_t exceeded = 0;

	add(sums, input);
	if (sums->count != count) {
		begin(sums, input, count);
	} else if (input->now_ns - sums->begun_ns >= ZONE_SUMS_WINDOW_NS) {
		for (size_t z = 0; z < count; z++)
			sums->exceeded[z] = is_exceeded(sums, input->zones, z);
		begin(sums, input, count);
	}
	for (size_t z = 0; z < count; z++)
		exceeded += sums->exceeded[z];
	return exceeded;
}
