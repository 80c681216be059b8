// SPDX-License-Identifier: Apache-2.0
/* The node and its zones, in classic Kepler's names. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "export/render.h"

#define PACKAGE_LABEL_MAX 32

static void zone_labels(struct render *render, uint32_t zone)
{
	char package[PACKAGE_LABEL_MAX];

	zone_package_label(render->snapshot, zone, package, sizeof(package));
	sample_label(&render->w, "package", package);
}

static void mode_and_source(struct render *render, uint32_t zone, enum energy_mode mode)
{
	sample_label(&render->w, "mode", energy_mode_name(mode));
	sample_label(&render->w, "source", render->snapshot->zones[zone].zone.source);
}

void emit_node_energy(struct render *render, const struct metric *metric)
{
	const struct snapshot *snapshot = render->snapshot;

	(void)metric;
	for (uint32_t z = 0; z < snapshot->zone_count; z++) {
		const struct snapshot_zone *zone = &snapshot->zones[z];

		for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
			if (!zone_in_family(render, z) || !zone->has_mode[mode])
				continue;
			sample_begin(&render->w);
			zone_labels(render, z);
			mode_and_source(render, z, mode);
			sample_end(&render->w, zone->node_uj[mode], 6, zone->created_ms);
		}
	}
}

/* Idle power's policy leaves idle energy: another series could never be but 0. */
static bool can_happen(enum energy_mode mode, enum unattributed_reason reason)
{
	return mode == MODE_IDLE || reason != UNATTRIBUTED_IDLE_POLICY;
}

static void unattributed_sample(struct render *render, uint32_t z, enum energy_mode mode,
				enum unattributed_reason reason)
{
	const struct snapshot_zone *zone = &render->snapshot->zones[z];

	sample_begin(&render->w);
	sample_label(&render->w, "zone", zone_kind_name(zone->zone.kind));
	zone_labels(render, z);
	mode_and_source(render, z, mode);
	sample_label(&render->w, "reason", unattributed_reason_name(reason));
	sample_end(&render->w, zone->unattributed_uj[mode][reason], 6, zone->created_ms);
}

void emit_node_unattributed(struct render *render, const struct metric *metric)
{
	(void)metric;
	for (uint32_t z = 0; z < render->snapshot->zone_count; z++) {
		for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
			if (!render->snapshot->zones[z].has_mode[mode])
				continue;
			for (enum unattributed_reason reason = 0;
			     reason < UNATTRIBUTED_REASON_COUNT; reason++) {
				if (can_happen(mode, reason))
					unattributed_sample(render, z, mode, reason);
			}
		}
	}
}

static void pending_sample(struct render *render, enum snapshot_level level, uint32_t zone,
			   enum energy_mode mode)
{
	const uint64_t *pending = render->snapshot->level[level].pending;

	sample_begin(&render->w);
	sample_label(&render->w, "level", snapshot_level_name(level));
	sample_label(&render->w, "zone", zone_kind_name(render->snapshot->zones[zone].zone.kind));
	zone_labels(render, zone);
	mode_and_source(render, zone, mode);
	sample_end(&render->w, pending[ledger_column(zone, mode)], 6, 0);
}

void emit_pending(struct render *render, const struct metric *metric)
{
	const struct snapshot *snapshot = render->snapshot;

	(void)metric;
	for (enum snapshot_level level = 0; level < LEVEL_COUNT; level++) {
		for (uint32_t z = 0; z < snapshot->zone_count; z++) {
			for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
				if (snapshot->zones[z].rows_have_mode[mode])
					pending_sample(render, level, z, mode);
			}
		}
	}
}

void emit_node_watts(struct render *render, const struct metric *metric)
{
	const struct snapshot *snapshot = render->snapshot;

	(void)metric;
	for (uint32_t z = 0; z < snapshot->zone_count; z++) {
		const struct snapshot_zone *zone = &snapshot->zones[z];

		for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
			if (!zone_in_family(render, z) || !zone->has_mode[mode] ||
			    isnan(zone->watts[mode]))
				continue;
			sample_begin(&render->w);
			zone_labels(render, z);
			mode_and_source(render, z, mode);
			sample_end_double(&render->w, zone->watts[mode], 0);
		}
	}
}

static void zone_health_labels(struct render *render, uint32_t z)
{
	sample_begin(&render->w);
	sample_label(&render->w, "zone", zone_kind_name(render->snapshot->zones[z].zone.kind));
	zone_labels(render, z);
	sample_label(&render->w, "source", render->snapshot->zones[z].zone.source);
}

void emit_node_idle_estimate(struct render *render, const struct metric *metric)
{
	const struct snapshot *snapshot = render->snapshot;

	(void)metric;
	for (uint32_t z = 0; z < snapshot->zone_count; z++) {
		if (isnan(snapshot->zones[z].idle_estimate_w))
			continue;
		zone_health_labels(render, z);
		sample_end_double(&render->w, snapshot->zones[z].idle_estimate_w, 0);
	}
}

void emit_node_cpu_time(struct render *render, const struct metric *metric)
{
	(void)metric;
	sample_begin(&render->w);
	sample_label(&render->w, "source", render->activity_source);
	sample_end(&render->w, render->snapshot->self.node_cpu_ns, 6, render->start_ms);
}

void emit_node_cpu_usage(struct render *render, const struct metric *metric)
{
	(void)metric;
	if (isnan(render->snapshot->self.node_busy_ratio))
		return;
	sample_begin(&render->w);
	sample_label(&render->w, "node_name", render->snapshot->self.node_name);
	sample_end_double(&render->w, render->snapshot->self.node_busy_ratio, 0);
}

static const char *node_quality(const struct snapshot *snapshot)
{
	bool measured = false, estimated = false;

	for (uint32_t z = 0; z < snapshot->zone_count; z++) {
		estimated |= snapshot->zones[z].zone.quality == QUALITY_ESTIMATED;
		measured |= snapshot->zones[z].zone.quality == QUALITY_MEASURED;
	}
	if (measured && estimated)
		return "both";
	if (measured)
		return "measured";
	return estimated ? "estimated" : "none";
}

void emit_node_info(struct render *render, const struct metric *metric)
{
	const struct snapshot_self *self = &render->snapshot->self;

	(void)metric;
	sample_begin(&render->w);
	sample_label(&render->w, "cpu_architecture", self->cpu_architecture);
	sample_label(&render->w, "components_power_source", self->components_source);
	sample_label(&render->w, "platform_power_source", self->platform_source);
	sample_label(&render->w, "quality", node_quality(render->snapshot));
	sample_label(&render->w, "kernel", self->kernel);
	sample_label(&render->w, "node_name", self->node_name);
	sample_label(&render->w, "source", "os");
	sample_end(&render->w, 1, 0, 0);
}

void emit_zone_info(struct render *render, const struct metric *metric)
{
	(void)metric;
	for (uint32_t z = 0; z < render->snapshot->zone_count; z++) {
		const struct snapshot_zone *zone = &render->snapshot->zones[z];

		zone_health_labels(render, z);
		sample_label(&render->w, "path", zone->zone.path);
		sample_label(&render->w, "quality", zone_quality_name(zone->zone.quality));
		sample_label(&render->w, "scope", zone_scope_name(zone->zone.scope));
		sample_label(&render->w, "idle_state", idle_state_name(zone->idle_state));
		sample_end(&render->w, 1, 0, 0);
	}
}

void emit_zone_up(struct render *render, const struct metric *metric)
{
	(void)metric;
	for (uint32_t z = 0; z < render->snapshot->zone_count; z++) {
		if (render->snapshot->zones[z].ended)
			continue; /* it will not come back, and need not */
		zone_health_labels(render, z);
		sample_end(&render->w, render->snapshot->zones[z].state == ZONE_UP, 0, 0);
	}
}

void emit_zone_age(struct render *render, const struct metric *metric)
{
	(void)metric;
	for (uint32_t z = 0; z < render->snapshot->zone_count; z++) {
		if (isnan(render->snapshot->zones[z].age_s) || render->snapshot->zones[z].ended)
			continue;
		zone_health_labels(render, z);
		sample_end_double(&render->w, render->snapshot->zones[z].age_s, 0);
	}
}

/* detail: offset of a uint64_t in struct snapshot_zone. */
void emit_zone_counter(struct render *render, const struct metric *metric)
{
	for (uint32_t z = 0; z < render->snapshot->zone_count; z++) {
		const struct snapshot_zone *zone = &render->snapshot->zones[z];
		uint64_t value;

		memcpy(&value, (const char *)zone + metric->detail, sizeof(value));
		zone_health_labels(render, z);
		sample_end(&render->w, value, 0, zone->created_ms);
	}
}
