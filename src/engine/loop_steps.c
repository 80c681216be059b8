// SPDX-License-Identifier: Apache-2.0
#include "engine/loop_steps.h"

#include <string.h>

#include "base/macro.h"

static const double interval_bounds[HEALTH_BUCKETS_MAX] = {
	0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0,
};
static const double step_bounds[HEALTH_BUCKETS_MAX] = { 0.001, 0.01, 0.1, 1, 10 };

static const char names[STEP_COUNT + 1][LOOP_STEP_NAME_MAX] = {
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

void loop_steps_init(struct loop_steps *steps, uint64_t interval_ns, struct heartbeat *heartbeat)
{
	*steps = (struct loop_steps){
		.heartbeat = heartbeat,
		.current = STEP_NONE,
		.interval_ns = interval_ns,
	};
}

void loop_steps_enter(struct loop_steps *steps, enum loop_step step, uint64_t now_ns)
{
	if (steps->current != STEP_NONE)
		health_histogram_add(&steps->steps[steps->current], step_bounds,
				     (double)(now_ns - steps->since_ns) / 1e9);
	steps->current = step;
	steps->since_ns = now_ns;
	heartbeat_doing(steps->heartbeat, names[step]);
}

void loop_steps_add_interval(struct loop_steps *steps, uint64_t ns)
{
	health_histogram_add(&steps->intervals, interval_bounds, (double)ns / 1e9);
}

static bool fill_health(const void *owner, void *ret)
{
	const struct loop_steps *steps = owner;
	struct loop_health *health = ret;

	health->interval_s = (double)steps->interval_ns / 1e9;
	health->intervals_missed = steps->missed;
	health->intervals = steps->intervals;
	for (enum loop_step step = 0; step < STEP_COUNT; step++) {
		struct loop_step_health *one = &health->steps[health->step_count];

		if (!steps->steps[step].count)
			continue;
		memcpy(one->name, names[step], sizeof(one->name));
		one->seconds = steps->steps[step];
		health->step_count++;
	}
	return true;
}

static const struct health_label step_labels[] = {
	{ "step", offsetof(struct loop_step_health, name) },
	{ 0 },
};

static const struct health_metric metrics[] = {
	{ .name = "kepler_exporter_interval_seconds",
	  .type = FAMILY_GAUGE,
	  .unit = "seconds",
	  .help = "Configured time between two readings.",
	  .value = HEALTH_VALUE(struct loop_health, interval_s) },
	{ .name = "kepler_exporter_interval_duration_seconds",
	  .type = FAMILY_HISTOGRAM,
	  .unit = "seconds",
	  .help = "Time that reading, attributing and publishing took in each interval.",
	  .value.offset = offsetof(struct loop_health, intervals),
	  .bounds = interval_bounds },
	{ .name = "kepler_exporter_loop_step_seconds",
	  .type = FAMILY_HISTOGRAM,
	  .unit = "seconds",
	  .help = "Duration of each step of the loop, which shows what made an interval late. "
		  "signals: signals and reloads; self: Kepler's own costs, names, connection "
		  "deadlines, state; meters, activity, identity, attribution, publication: the "
		  "parts of an interval; table: the live table.",
	  .value.offset = offsetof(struct loop_step_health, seconds),
	  .labels = step_labels,
	  .array = HEALTH_ARRAY(struct loop_health, steps, step_count),
	  .bounds = step_bounds },
	{ .name = "kepler_exporter_intervals_missed",
	  .type = FAMILY_COUNTER,
	  .help = "Intervals that started late because the previous one took too long.",
	  .value = HEALTH_VALUE(struct loop_health, intervals_missed) },
};

const struct health_part loop_health_part = {
	.size = sizeof(struct loop_health),
	.fill = fill_health,
	.metrics = metrics,
	.metric_count = ARRAY_SIZE(metrics),
};
