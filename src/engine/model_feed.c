// SPDX-License-Identifier: Apache-2.0
#include "engine/model_feed.h"

#include <math.h>
#include <stdio.h>

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
		.busy_ns = activity->busy_ns - activity->stolen_ns,
		.waited_ns = activity->steal_ns,
		.signals = activity->signals | (activity->has_steal ? MODEL_SIGNAL_WAITED : 0),
		.mean_khz = activity->mean_khz,
	};

	for (uint32_t left = activity->signals; left; left &= left - 1) {
		enum signal signal = (enum signal)__builtin_ctz(left);

		work.amount[signal] = activity_signal_sum(activity, signal);
	}
	model_meter_feed(models, &work);
}

static void picture(const struct model_state *state, struct snapshot_self *self, uint32_t *count,
		    struct snapshot_zone *zone)
{
	struct snapshot_model *model = &self->models[*count];

	if (zone->ended || *count == SNAPSHOT_MODELS)
		return;
	zone->model = ++*count;
	(void)snprintf(model->name, sizeof(model->name), "%s", state->model);
	(void)snprintf(model->output, sizeof(model->output), "%s", state->output);
	(void)snprintf(model->features, sizeof(model->features), "%s", state->features);
	(void)snprintf(model->machine, sizeof(model->machine), "%s", state->machine);
	zone->model_changes = state->changes;
	zone->model_error_w = state->error_w;
	zone->model_outside = state->has_estimate ? state->outside : (double)NAN;
}

void model_pictures(const struct estimated_meter *estimate,
		    const struct component_meter *components, const struct model_meter *models,
		    const struct model_zones *places, struct snapshot_zone *zones,
		    struct snapshot_self *self)
{
	struct model_state state;
	uint32_t used = 0;

	if (estimate) {
		estimated_meter_state(estimate, &state);
		picture(&state, self, &used, &zones[0]);
	}
	for (size_t i = 0; i < places->component_count; i++) {
		component_meter_state(components, i, &state);
		picture(&state, self, &used, &zones[places->components[i]]);
	}
	for (size_t i = 0; i < places->model_count; i++) {
		model_meter_state(models, i, &state);
		picture(&state, self, &used, &zones[places->models[i]]);
	}
}
