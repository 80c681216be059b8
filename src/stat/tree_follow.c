// SPDX-License-Identifier: Apache-2.0
#include "stat/tree_follow.h"

#include <math.h>

#include "energy/total.h"
#include "snapshot/zone_picture.h"

/* The known relative error of a zone's energy in the interval: of its model, or of its shares. */
static double error_of(const struct snapshot_zone *zone)
{
	double watts = snapshot_zone_watts(zone);
	double model = watts > 0 && isfinite(zone->model_error_w) ? zone->model_error_w / watts : 0;
	double shares = isfinite(zone->share_error_ratio) ? zone->share_error_ratio : 0;

	return isfinite(model) ? model + shares : shares;
}

static void see(struct process_trees *trees, const struct activity *activity)
{
	for (size_t i = 0; i < activity->count; i++) {
		const struct activity_sample *sample = &activity->samples[i];
		const struct tree_process process = {
			.id = { sample->key.pid, sample->key.start_ns },
			.parent = { sample->parent.pid, sample->parent.start_ns },
			.comm = sample->comm,
			.has_ended = sample->flags & ACTIVITY_ENDED,
		};

		process_trees_see(trees, &process, activity->boottime_ns);
	}
}

void tree_follow(struct process_trees *trees, const struct ledger *ledger,
		 const struct snapshot_zone *zones, const struct activity *activity,
		 uint64_t elapsed_ns)
{
	const struct layout *layout = ledger_layout(ledger);
	double error_ratio[ZONES_MAX];
	bool in_total[ZONES_MAX], is_late[ZONES_MAX];
	const struct tree_interval interval = {
		.now_ns = activity->boottime_ns,
		.elapsed_ns = elapsed_ns,
		.error_ratio = error_ratio,
		.in_total = in_total,
		.is_late = is_late,
	};

	if (!trees || !process_trees_any(trees))
		return;
	for (uint32_t a = 0; a < layout->account_count; a++) {
		const struct snapshot_zone *zone = &zones[layout->accounts[a].first_zone];

		error_ratio[a] = error_of(zone);
		in_total[a] = zone->total != TOTAL_NONE;
		is_late[a] = isfinite(zone->delay_s) || zone->state != ZONE_UP;
	}
	see(trees, activity);
	process_trees_book(trees, ledger, &interval);
}
