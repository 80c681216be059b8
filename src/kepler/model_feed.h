/* SPDX-License-Identifier: Apache-2.0 */
/* Between an interval and the trained models of its machine: what they are fed, what they show. */
#pragma once

#include "activity/activity.h"
#include "meter/model_meter.h"
#include "snapshot/snapshot.h"

/* All that @activity says of @signal, whether it found its party or not. */
uint64_t activity_signal_sum(const struct activity *activity, enum signal signal);
/* What the node did in the interval of @activity. */
void model_feed(struct model_meter *models, const struct activity *activity);
/* What a snapshot says of the model behind zone @index of @models. */
void model_picture(const struct model_meter *models, size_t index, struct snapshot_zone *zone);
