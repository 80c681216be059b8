// SPDX-License-Identifier: Apache-2.0
#include "kepler/model_feed.h"

#include <math.h>

uint64_t activity_signal_sum(const struct activity *activity, enum signal signal)
{
	uint64_t sum = activity->unknown_signal[signal];

	for (size_t i = 0; activity->signal[signal] && i < activity->count; i++)
		sum += activity->signal[signal][i];
	for (size_t i = 0; i < activity->cgroup_signal_count; i++)
		sum += activity->cgroup_signals[i].amount[signal];
	return sum;
}

void model_feed(struct model_meter *models, const struct activity *activity)
{
	struct node_work work = {
		.time_ns = activity->time_ns,
		.busy_ns = activity->busy_ns,
		.signals = activity->signals,
	};

	for (uint32_t left = activity->signals; left; left &= left - 1) {
		enum signal signal = (enum signal)__builtin_ctz(left);

		work.amount[signal] = activity_signal_sum(activity, signal);
	}
	model_meter_feed(models, &work);
}

void model_picture(const struct model_meter *models, size_t index, struct snapshot_zone *zone)
{
	struct model_state state;

	model_meter_state(models, index, &state);
	zone->model =
		(struct snapshot_model){ state.model, state.output, state.features, state.machine };
	zone->model_error_w = zone->ended ? (double)NAN : state.error_w;
	zone->model_outside = zone->ended || !state.has_estimate ? (double)NAN : state.outside;
}
