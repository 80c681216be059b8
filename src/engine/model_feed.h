/* SPDX-License-Identifier: Apache-2.0 */
/* Between an interval and the trained models of its machine: what they are fed, what they show. */
#pragma once

#include "activity/activity.h"
#include "estimate/component_meter.h"
#include "estimate/model_meter.h"
#include "meter/meter.h"
#include "snapshot/snapshot.h"

/* All that @activity says of @signal, whether it found its party or not. */
uint64_t activity_signal_sum(const struct activity *activity, enum signal signal);
/* What the node did in the interval of @activity. */
void model_feed(struct model_meter *models, const struct activity *activity);
/* Where the zones of models are among all; that of the estimate of the machine is the first. */
struct model_zones {
	size_t components[COMPONENT_COUNT], component_count;
	size_t models[MODEL_ZONES_MAX], model_count;
};

/*
 * What a snapshot says of the models behind its @zones, which are at @places. Any of the meters may
 * be NULL that has none there. A zone that has ended has no model, nor has one for which @self has
 * no room.
 */
void model_pictures(const struct estimated_meter *estimate,
		    const struct component_meter *components, const struct model_meter *models,
		    const struct model_zones *places, struct snapshot_zone *zones,
		    struct snapshot_self *self);
