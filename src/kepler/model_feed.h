/* SPDX-License-Identifier: Apache-2.0 */
/* Between an interval and the trained models of its machine: what they are fed, what they show. */
#pragma once

#include "activity/activity.h"
#include "meter/meter.h"
#include "meter/model_meter.h"
#include "snapshot/snapshot.h"

/* All that @activity says of @signal, whether it found its party or not. */
uint64_t activity_signal_sum(const struct activity *activity, enum signal signal);
/* What the node did in the interval of @activity. */
void model_feed(struct model_meter *models, const struct activity *activity);
/*
 * What a snapshot says of the models behind its @zones: of @estimate, whose zone is the first, and
 * of @models, of whose zones the first @count are at @places. Either may be NULL. A zone that has
 * ended has none, nor has one for which @self has no room.
 */
void model_pictures(const struct estimated_meter *estimate, const struct model_meter *models,
		    const size_t *places, size_t count, struct snapshot_zone *zones,
		    struct snapshot_self *self);
