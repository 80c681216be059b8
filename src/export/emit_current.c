// SPDX-License-Identifier: Apache-2.0
/*
 * The names of today's Kepler. Its kepler_*_cpu_* families say "measured" by what they are, so that
 * an estimate, or a meter of the whole machine, never appears there: those are
 * kepler_platform_watts, which names its source. Processes and containers show their active
 * (dynamic) energy, as there.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "export/label_escape.h"
#include "export/render.h"

static void zone_labels(struct render *render, const struct snapshot_zone *zone)
{
	sample_label(&render->w, "zone", zone_kind_name(zone->zone.kind));
	sample_label(&render->w, "path", zone->zone.path);
	sample_label(&render->w, "node_name", render->snapshot->self.node_name);
}

static bool has_part(const struct snapshot_zone *zone, enum current_part part)
{
	return part != PART_IDLE || zone->has_mode[MODE_IDLE];
}

void emit_current_node_energy(struct render *render, const struct metric *metric)
{
	for (uint32_t z = 0; z < render->snapshot->zone_count; z++) {
		const struct snapshot_zone *zone = &render->snapshot->zones[z];
		uint64_t energy_uj = 0;

		if (!zone_is_measured_cpu(zone) || !has_part(zone, metric->detail))
			continue;
		if (metric->detail != PART_IDLE)
			energy_uj += zone->node_uj[MODE_DYNAMIC];
		if (metric->detail != PART_ACTIVE)
			energy_uj += zone->node_uj[MODE_IDLE];
		sample_begin(&render->w);
		zone_labels(render, zone);
		sample_end(&render->w, energy_uj, 6, zone->created_ms);
	}
}

/* NaN when a mode that the part is made of has no value now. */
static double part_watts(const struct snapshot_zone *zone, enum current_part part)
{
	double watts = 0;

	if (part != PART_IDLE)
		watts += zone->watts[MODE_DYNAMIC];
	if (part != PART_ACTIVE && zone->has_mode[MODE_IDLE])
		watts += zone->watts[MODE_IDLE];
	return watts;
}

void emit_current_node_watts(struct render *render, const struct metric *metric)
{
	for (uint32_t z = 0; z < render->snapshot->zone_count; z++) {
		const struct snapshot_zone *zone = &render->snapshot->zones[z];
		double watts = part_watts(zone, metric->detail);

		if (!zone_is_measured_cpu(zone) || !has_part(zone, metric->detail) || isnan(watts))
			continue;
		sample_begin(&render->w);
		zone_labels(render, zone);
		sample_end_double(&render->w, watts, 0);
	}
}

void emit_platform_watts(struct render *render, const struct metric *metric)
{
	(void)metric;
	for (uint32_t z = 0; z < render->snapshot->zone_count; z++) {
		const struct snapshot_zone *zone = &render->snapshot->zones[z];
		double watts = part_watts(zone, PART_TOTAL);

		if (zone->zone.kind != ZONE_PLATFORM || isnan(watts))
			continue;
		sample_begin(&render->w);
		sample_label(&render->w, "source", zone->zone.source);
		sample_label(&render->w, "node_name", render->snapshot->self.node_name);
		sample_label(&render->w, "source_id", zone->zone.path);
		sample_label(&render->w, "quality", zone_quality_name(zone->zone.quality));
		sample_label(&render->w, "scope", zone_scope_name(zone->zone.scope));
		sample_end_double(&render->w, watts, 0);
	}
}

static void add_label(struct strbuf *out, const char *name, const char *value)
{
	strbuf_add_char(out, ',');
	strbuf_add_str(out, name);
	strbuf_add(out, "=\"", 2);
	label_escape(out, value, strlen(value));
	strbuf_add_char(out, '"');
}

enum end_state { STATE_NONE, STATE_RUNNING, STATE_TERMINATED };

/* Appends ,state="running",zone=…,path=…,node_name=… and a terminator; returns where it begins. */
static size_t add_end(struct render *render, enum end_state state, const struct snapshot_zone *zone)
{
	struct strbuf *out = &render->scratch;
	size_t begin = out->len;

	if (state != STATE_NONE)
		add_label(out, "state", state == STATE_RUNNING ? "running" : "terminated");
	if (zone) {
		add_label(out, "zone", zone_kind_name(zone->zone.kind));
		add_label(out, "path", zone->zone.path);
	}
	add_label(out, "node_name", render->snapshot->self.node_name);
	strbuf_add(out, "", 1);
	return begin;
}

/*
 * A counter is "running" for as long as it is shown: with another state its series would end where
 * it is and another begin at its full value, of which increase() sees nothing. Watts tell the
 * truth.
 */
static enum end_state state_of_ended(bool with_state, bool watts)
{
	if (!with_state)
		return STATE_NONE;
	return watts ? STATE_TERMINATED : STATE_RUNNING;
}

static void write_zones(struct render *render, const struct row_view *view, bool with_state,
			bool watts)
{
	const struct snapshot *snapshot = render->snapshot;

	for (uint32_t z = 0; z < snapshot->zone_count; z++) {
		const struct snapshot_zone *zone = &snapshot->zones[z];
		struct row_lines lines = { .view = view,
					   .names = NAMES_CURRENT,
					   .column = ledger_column(z, MODE_DYNAMIC),
					   .decimals = 6,
					   .watts_span_ns = watts ? zone->span_ns : 0 };
		size_t running, ended;

		if (!zone_is_measured_cpu(zone) || !zone->rows_have_mode[MODE_DYNAMIC] ||
		    (watts && !zone->span_ns))
			continue;
		strbuf_reset(&render->scratch);
		running = add_end(render, with_state ? STATE_RUNNING : STATE_NONE, zone);
		ended = add_end(render, state_of_ended(with_state, watts), zone);
		if (strbuf_error(&render->scratch) < 0)
			return;
		lines.end = render->scratch.data + running;
		lines.end_ended = render->scratch.data + ended;
		row_lines_write(render, &lines);
	}
}

void emit_current_rows_energy(struct render *render, const struct metric *metric)
{
	write_zones(render, &render->rows[metric->detail][ROWS_LIVING], true, false);
}

void emit_current_rows_retired(struct render *render, const struct metric *metric)
{
	write_zones(render, &render->rows[metric->detail][ROWS_RETIRED], false, false);
}

void emit_current_rows_watts(struct render *render, const struct metric *metric)
{
	write_zones(render, &render->rows[metric->detail][ROWS_LIVING], true, true);
}

void emit_current_rows_cpu_seconds(struct render *render, const struct metric *metric)
{
	struct row_lines lines = {
		.view = &render->rows[metric->detail][ROWS_LIVING],
		.names = NAMES_CURRENT,
		.column = render->snapshot->columns - 1,
		.decimals = 9,
	};

	strbuf_reset(&render->scratch);
	(void)add_end(render, STATE_NONE, NULL);
	if (strbuf_error(&render->scratch) < 0)
		return;
	lines.end = render->scratch.data;
	row_lines_write(render, &lines);
}
