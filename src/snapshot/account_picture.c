// SPDX-License-Identifier: Apache-2.0
#include "snapshot/account_picture.h"

#include <math.h>

#define SPANS_MAX_RATIO 1.1

bool snapshot_zone_draws(const struct snapshot_zone *zone)
{
	return zone->has_begun && !zone->ended && zone->state != ZONE_ABSENT;
}

/* It is not known what such a zone would add. */
static bool lacks_span(const struct snapshot_zone *zone)
{
	return !zone->span_ns && snapshot_zone_draws(zone);
}

/* The power of @zone in the last interval by the @modes, in W; 0 while it is not known. */
static double power_of(const struct snapshot_zone *zone, unsigned modes)
{
	double power = 0;

	for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
		if ((modes & 1U << mode) && !isnan(zone->watts[mode]))
			power += zone->watts[mode];
	}
	return power;
}

static uint64_t span_of(const struct layout *layout, uint32_t account,
			const struct snapshot_zone *zones, unsigned modes)
{
	uint64_t shortest = UINT64_MAX, longest = 0;
	double power = 0, energy = 0;

	for (uint32_t z = layout->accounts[account].first_zone; z != ZONE_NONE;
	     z = layout->zones[z].next) {
		const struct snapshot_zone *zone = &zones[z];

		if (lacks_span(zone))
			return 0;
		if (!zone->span_ns)
			continue;
		shortest = zone->span_ns < shortest ? zone->span_ns : shortest;
		longest = zone->span_ns > longest ? zone->span_ns : longest;
		power += power_of(zone, modes);
		energy += power_of(zone, modes) * (double)zone->span_ns;
	}
	if (!longest || (double)longest > SPANS_MAX_RATIO * (double)shortest)
		return 0;
	return power > 0 ? (uint64_t)llround(energy / power) : longest;
}

uint64_t account_span_ns(const struct layout *layout, uint32_t account,
			 const struct snapshot_zone *zones)
{
	return span_of(layout, account, zones, 1U << MODE_DYNAMIC | 1U << MODE_IDLE);
}

void account_pictures(const struct layout *layout, const struct snapshot_zone *zones,
		      struct snapshot_account *ret)
{
	for (uint32_t i = 0; i < layout->account_count; i++) {
		const struct account *account = &layout->accounts[i];

		ret[i] = (struct snapshot_account){
			.first_zone = account->first_zone,
			.column = { account->column[MODE_DYNAMIC], account->column[MODE_IDLE] },
			.span_ns = account_span_ns(layout, i, zones),
		};
		for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++)
			ret[i].mode_span_ns[mode] = span_of(layout, i, zones, 1U << mode);
		for (uint32_t z = account->first_zone; z != ZONE_NONE; z = layout->zones[z].next) {
			ret[i].lacks_power |= !ret[i].span_ns && snapshot_zone_draws(&zones[z]);
			for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++)
				ret[i].rows_have_mode[mode] |= zones[z].rows_have_mode[mode];
		}
	}
}
