// SPDX-License-Identifier: Apache-2.0
/* Processes and containers in classic Kepler's names. The detail of a metric is its level. */
#include "export/label_escape.h"
#include "export/render.h"

static void add_label(struct strbuf *out, const char *name, const char *value)
{
	strbuf_add_char(out, ',');
	strbuf_add_str(out, name);
	strbuf_add(out, "=\"", 2);
	label_escape(out, value, strlen(value));
	strbuf_add_char(out, '"');
}

/*
 * The labels behind a row's own: ,package="0",mode="dynamic",source="rapl-sysfs". NULL without
 * memory.
 */
static const char *zone_end(struct render *render, uint32_t z, enum energy_mode mode,
			    bool name_zone)
{
	const struct snapshot_zone *zone = &render->snapshot->zones[z];
	char package[32];

	zone_package_label(render->snapshot, z, package, sizeof(package));
	strbuf_reset(&render->scratch);
	if (name_zone)
		add_label(&render->scratch, "zone", zone_kind_name(zone->zone.kind));
	add_label(&render->scratch, "package", package);
	add_label(&render->scratch, "mode", energy_mode_name(mode));
	add_label(&render->scratch, "source", zone->zone.source);
	return strbuf_error(&render->scratch) < 0 ? NULL : render->scratch.data;
}

static void write_zone(struct render *render, const struct row_view *view, uint32_t zone,
		       enum energy_mode mode, bool watts)
{
	struct row_lines lines = {
		.view = view,
		.names = NAMES_CLASSIC,
		.column = ledger_column(zone, mode),
		.decimals = 6,
		.watts_span_ns = watts ? render->snapshot->zones[zone].span_ns : 0,
		.end = zone_end(render, zone, mode, !render->is_of_kind),
	};

	if (lines.end)
		row_lines_write(render, &lines);
}

static void write_zones(struct render *render, const struct row_view *view, bool watts)
{
	const struct snapshot *snapshot = render->snapshot;

	for (uint32_t z = 0; z < snapshot->zone_count; z++) {
		for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
			if (!zone_in_family(render, z) || !snapshot->zones[z].rows_have_mode[mode])
				continue;
			if (watts && !snapshot->zones[z].span_ns)
				continue;
			write_zone(render, view, z, mode, watts);
		}
	}
}

void emit_rows_energy(struct render *render, const struct metric *metric)
{
	write_zones(render, &render->rows[metric->detail][ROWS_LIVING], false);
}

void emit_rows_retired(struct render *render, const struct metric *metric)
{
	write_zones(render, &render->rows[metric->detail][ROWS_RETIRED], false);
}

void emit_rows_watts(struct render *render, const struct metric *metric)
{
	write_zones(render, &render->rows[metric->detail][ROWS_LIVING], true);
}

/* ns as ms: the point six places from the right. */
void emit_rows_cpu_time(struct render *render, const struct metric *metric)
{
	struct row_lines lines = {
		.view = &render->rows[metric->detail][ROWS_LIVING],
		.names = NAMES_CLASSIC,
		.column = render->snapshot->columns - 1,
		.decimals = 6,
	};

	strbuf_reset(&render->scratch);
	add_label(&render->scratch, "source", render->activity_source);
	if (strbuf_error(&render->scratch) < 0)
		return;
	lines.end = render->scratch.data;
	row_lines_write(render, &lines);
}
