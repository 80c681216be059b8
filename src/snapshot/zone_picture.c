// SPDX-License-Identifier: Apache-2.0
#include "snapshot/zone_picture.h"

#include <math.h>

static double seconds(uint64_t ns)
{
	return ns ? (double)ns / 1e9 : (double)NAN;
}

void zone_picture(const struct zone_account *account, bool ended, uint64_t now_ns,
		  struct snapshot_zone *ret)
{
	const struct zone_status *last = &account->last;

	*ret = (struct snapshot_zone){
		.zone = *account->zone,
		.state = last->state,
		.caveat = last->caveat == CAVEAT_NONE && account->missed_total ? CAVEAT_LATE
									       : last->caveat,
		.rule = account->rule,
		.idle_state = account->idle_state,
		.ended = ended,
		.total = account->total,
		.has_begun = account->has_begun,
		.span_ns = account->span_ns,
		.idle_estimate_w =
			account->idle_power_uw ? (double)account->idle_power_uw / 1e6 : (double)NAN,
		.reads = last->reads,
		.errors = last->errors,
		.dropped = last->dropped,
		.wraps = last->wraps,
		.age_s = account->up_time_ns ? (double)(now_ns - account->up_time_ns) / 1e9
					     : (double)NAN,
		.model_error_w = (double)NAN,
		.model_outside = (double)NAN,
		.delay_s = seconds(account->delay_ns),
		.window_s = seconds(account->window_ns),
		.created_ms = account->born_ms,
	};
	for (enum energy_mode mode = MODE_DYNAMIC; mode < MODE_COUNT; mode++) {
		ret->has_mode[mode] = account->has_mode[mode];
		ret->rows_have_mode[mode] = account->rows_have_mode[mode];
		ret->watts[mode] = account->watts[mode];
	}
}

double snapshot_zone_watts(const struct snapshot_zone *zone)
{
	double watts = 0;

	for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
		if (zone->has_mode[mode])
			watts += zone->watts[mode];
	}
	return watts;
}
