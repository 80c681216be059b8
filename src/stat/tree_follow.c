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

/* Up to when all zones of the account are read. */
static uint64_t read_until(const struct books *books, const struct layout *layout, uint32_t a)
{
	uint64_t until_ns = UINT64_MAX;

	for (uint32_t z = layout->accounts[a].first_zone; z != ZONE_NONE;
	     z = layout->zones[z].next) {
		uint64_t read_ns = books->accountant.contenders[z].read_ns;

		if (!books_has_ended(books, z) && read_ns < until_ns)
			until_ns = read_ns;
	}
	return until_ns;
}

static void end_kept(struct process_trees *trees, struct ledger *ledger, uint64_t time_ns)
{
	struct tree_id id;

	while (process_trees_next_due(trees, time_ns, &id)) {
		uint32_t process = ledger_find_process(ledger, id.pid, id.start_ns);

		if (process != LEDGER_NONE)
			ledger_end_process(ledger, process);
	}
}

void tree_follow(struct process_trees *trees, const struct books *books,
		 const struct snapshot_zone *zones, const struct activity *activity,
		 uint64_t elapsed_ns)
{
	const struct layout *layout = ledger_layout(books->ledger);
	double error_ratio[ZONES_MAX];
	bool in_total[ZONES_MAX];
	uint64_t read_ns[ZONES_MAX];
	const struct tree_interval interval = {
		.now_ns = activity->boottime_ns,
		.time_ns = activity->time_ns,
		.elapsed_ns = elapsed_ns,
		.error_ratio = error_ratio,
		.in_total = in_total,
		.read_ns = read_ns,
	};

	if (!trees)
		return;
	if (!process_trees_any(trees)) {
		end_kept(trees, books->ledger, activity->time_ns);
		return;
	}
	for (uint32_t a = 0; a < layout->account_count; a++) {
		const struct snapshot_zone *zone = &zones[layout->accounts[a].first_zone];

		error_ratio[a] = error_of(zone);
		in_total[a] = zone->total != TOTAL_NONE;
		read_ns[a] = read_until(books, layout, a);
	}
	see(trees, activity);
	process_trees_book(trees, books->ledger, &interval);
	end_kept(trees, books->ledger, activity->time_ns);
}
