/* SPDX-License-Identifier: Apache-2.0 */
/* What the emitters of one rendering share. Private to this folder. */
#pragma once

#include "export/exposition.h"
#include "export/label_cache.h"
#include "export/metric_table.h"
#include "export/prometheus.h"

enum row_kind { ROWS_LIVING, ROWS_RETIRED };
enum row_names { NAMES_CLASSIC, NAMES_CURRENT };

struct render {
	struct exposition_writer w;
	const struct snapshot *snapshot;
	const struct http_stats *http; /* may be NULL */
	bool is_of_kind;               /* the family has <zone> in its name, which stands for ... */
	enum zone_kind kind;           /* ... this kind now */
	struct row_view rows[LEVEL_COUNT][2];
	struct strbuf scratch;    /* for the ends of row lines */
	int64_t start_ms;         /* of the program: when its own counters were born */
	char activity_source[16]; /* "bpf", "procfs" */
};

/*
 * A zone's package label. Zones that no label would tell apart get their number behind it: "0#3".
 */
void zone_package_label(const struct snapshot *snapshot, uint32_t zone, char *buf, size_t size);
/* Is @zone one of the family at hand (every zone, for families without <zone>)? */
bool zone_in_family(const struct render *render, uint32_t zone);
/*
 * A zone whose energy belongs under today's kepler_*_cpu_* names: measured, and a part of the
 * machine, not the whole.
 */
bool zone_is_measured_cpu(const struct snapshot_zone *zone);

/*
 * All rows of @view under the family at hand: a line of @names' labels, then @end (from the comma
 * on, to the brace), then the value of @column with the point at @decimals. Cumulative values; or
 * the deltas over @watts_span_ns, in watts.
 */
struct row_lines {
	const struct row_view *view;
	enum row_names names;
	uint32_t column;
	unsigned decimals;
	uint64_t watts_span_ns; /* 0: cumulative values */
	const char *end;        /* ",package=\"0\"" */
	const char *end_ended;  /* for rows that have ended; NULL: the same */
};
void row_lines_write(struct render *render, const struct row_lines *lines);

/*
 * The detail of a row is a level, a mode (LEVEL | DETAIL_IDLE …) or an offset; see metric_table.c.
 */
metric_emitter emit_node_energy, emit_node_unattributed, emit_pending, emit_node_watts,
	emit_node_idle_estimate, emit_node_cpu_time, emit_node_cpu_usage, emit_node_info,
	emit_zone_info, emit_zone_up, emit_zone_age, emit_zone_counter;
metric_emitter emit_pod_info, emit_rows_energy, emit_rows_retired, emit_rows_cpu_time,
	emit_rows_watts;
metric_emitter emit_current_node_energy, emit_current_node_watts, emit_current_rows_energy,
	emit_current_rows_retired, emit_current_rows_watts, emit_current_rows_cpu_seconds,
	emit_platform_watts, emit_current_build_info;
metric_emitter emit_build_info, emit_activity_info, emit_self_u64, emit_self_double, emit_self_bool,
	emit_start_time, emit_interval_histogram, emit_step_histogram, emit_folded,
	emit_table_overflows, emit_snapshot_sequence, emit_snapshot_timestamp, emit_http_requests,
	emit_http_cuts, emit_http_u64, emit_reloads;
metric_emitter emit_names_up, emit_names_age, emit_names_u64, emit_names_lookups;

/* For current names: which of a zone's energies. */
enum current_part { PART_TOTAL, PART_ACTIVE, PART_IDLE };
