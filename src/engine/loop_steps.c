// SPDX-License-Identifier: Apache-2.0
#include "engine/loop_steps.h"

#include <string.h>

static const double bounds[SNAPSHOT_STEP_BUCKETS] = { 0.001, 0.01, 0.1, 1, 10 };

static const char *const names[STEP_COUNT + 1] = {
	[STEP_SIGNALS] = "signals",
	[STEP_SELF] = "self",
	[STEP_METERS] = "meters",
	[STEP_ACTIVITY] = "activity",
	[STEP_IDENTITY] = "identity",
	[STEP_ATTRIBUTION] = "attribution",
	[STEP_PUBLICATION] = "publication",
	[STEP_TABLE] = "table",
	[STEP_NONE] = "waiting",
};

void loop_steps_init(struct loop_steps *steps, struct snapshot_self *self,
		     struct heartbeat *heartbeat)
{
	*steps = (struct loop_steps){ self, heartbeat, STEP_NONE, 0 };
	memcpy(self->step_buckets_le, bounds, sizeof(bounds));
	for (enum loop_step step = 0; step < STEP_COUNT; step++)
		self->steps[step] = (struct snapshot_step){ .name = names[step] };
}

static void count(struct snapshot_step *step, double seconds)
{
	step->count++;
	step->sum_s += seconds;
	for (size_t i = 0; i < SNAPSHOT_STEP_BUCKETS; i++) {
		if (seconds <= bounds[i]) {
			step->bucket_counts[i]++;
			return;
		}
	}
}

void loop_steps_enter(struct loop_steps *steps, enum loop_step step, uint64_t now_ns)
{
	if (steps->current != STEP_NONE)
		count(&steps->self->steps[steps->current],
		      (double)(now_ns - steps->since_ns) / 1e9);
	steps->current = step;
	steps->since_ns = now_ns;
	heartbeat_doing(steps->heartbeat, names[step]);
}
