// SPDX-License-Identifier: Apache-2.0
/*
 * Names, types, units and help texts of everything we export, in the order of the page.
 *
 * Classic names are those of Kepler up to 0.9, current names those since 0.10. What tells how Kepler itself does, and what no
 * process got, is in both.
 */
#include "export/metric_table.h"

#include <stddef.h>

#include "base/macro.h"
#include "export/render.h"

#define CLASSIC       SCHEMA_CLASSIC
#define CURRENT       SCHEMA_CURRENT
#define BOTH          SCHEMA_BOTH

#define SELF(field)   ((unsigned)offsetof(struct snapshot_self, field))
#define ZONE(field)   ((unsigned)offsetof(struct snapshot_zone, field))
#define HTTP(field)   ((unsigned)offsetof(struct http_stats, field))

#define L_PROCESS     "pid, command, container_id, container_namespace, vm_id"
#define L_CONTAINER   "container_id, pod_name, container_name, container_namespace"
#define L_ZONE        "zone, package, source"
#define L_CUR_PROCESS "pid, comm, exe, type, container_id, vm_id"
#define L_CUR_CONT    "container_id, container_name, runtime, pod_id"
#define L_CUR_ZONE    "zone, path, node_name"

/* clang-format off */
static const struct metric table[] = {
	{ "kepler_node_<zone>_joules", METRIC_COUNTER, "joules", CLASSIC, "package, mode, source",
	  "Energy of this zone of the node since Kepler started.", emit_node_energy, 0 },
	{ "kepler_node_unattributed_joules", METRIC_COUNTER, "joules", BOTH, "zone, package, mode, source, reason",
	  "Part of the node's energy that no process or container has got, by reason: idle_policy (idle energy stays on the node), "
	  "no_activity (nobody ran), dropped (used by tasks that could not be named).", emit_node_unattributed, 0 },
	{ "kepler_pending_joules", METRIC_GAUGE, "joules", BOTH, "level, zone, package, mode, source",
	  "Energy already charged whose series still shows 0 so that a scrape sees it start (--metrics.settle).", emit_pending, 0 },
	{ "kepler_node_<zone>_watts", METRIC_GAUGE, "watts", CLASSIC, "package, mode, source",
	  "Mean power of this zone of the node over the last interval.", emit_node_watts, 0 },
	{ "kepler_node_idle_estimate_watts", METRIC_GAUGE, "watts", BOTH, L_ZONE,
	  "Power that the zone is believed to draw when nothing runs.", emit_node_idle_estimate, 0 },
	{ "kepler_node_bpf_cpu_time_ms", METRIC_COUNTER, "", CLASSIC, "source",
	  "CPU time that all processes used, in milliseconds.", emit_node_cpu_time, 0 },
	{ "kepler_node_cpu_usage_ratio", METRIC_GAUGE, "ratio", BOTH, "node_name",
	  "Share of all CPUs that was busy in the last interval, 0 to 1.", emit_node_cpu_usage, 0 },
	{ "kepler_node", METRIC_INFO, "", BOTH,
	  "cpu_architecture, components_power_source, platform_power_source, quality, kernel, node_name, source",
	  "The machine and what its power comes from; quality says measured, estimated, both or none.", emit_node_info, 0 },
	{ "kepler_zone", METRIC_INFO, "", BOTH, L_ZONE ", path, quality, scope, idle_state",
	  "A zone: where its energy comes from, measured or estimated, and how its idle power is known.", emit_zone_info, 0 },

	{ "kepler_container_<zone>_joules", METRIC_COUNTER, "joules", CLASSIC, L_CONTAINER ", package, mode, source",
	  "Energy charged to the container's processes, ended ones included.", emit_rows_energy, LEVEL_CONTAINER },
	{ "kepler_container_retired_joules", METRIC_COUNTER, "joules", CLASSIC, L_CONTAINER ", zone, package, mode, source",
	  "Energy of containers of this namespace that are no longer shown.", emit_rows_retired, LEVEL_CONTAINER },
	{ "kepler_container_<zone>_watts", METRIC_GAUGE, "watts", CLASSIC, L_CONTAINER ", package, mode, source",
	  "Mean power of the container over the last interval.", emit_rows_watts, LEVEL_CONTAINER },
	{ "kepler_container_bpf_cpu_time_ms", METRIC_COUNTER, "", CLASSIC, L_CONTAINER ", source",
	  "CPU time of the container's processes, in milliseconds.", emit_rows_cpu_time, LEVEL_CONTAINER },
	{ "kepler_process_<zone>_joules", METRIC_COUNTER, "joules", CLASSIC, L_PROCESS ", package, mode, source",
	  "Energy charged to the process; pid=\"\" and command=\"other\": its container's processes without a series of their own.",
	  emit_rows_energy, LEVEL_PROCESS },
	{ "kepler_process_retired_joules", METRIC_COUNTER, "joules", CLASSIC,
	  "container_id, container_namespace, vm_id, zone, package, mode, source",
	  "Energy of the container's processes that are no longer shown.", emit_rows_retired, LEVEL_PROCESS },
	{ "kepler_process_bpf_cpu_time_ms", METRIC_COUNTER, "", CLASSIC, L_PROCESS ", source",
	  "CPU time of the process, in milliseconds.", emit_rows_cpu_time, LEVEL_PROCESS },

	{ "kepler_node_cpu_joules", METRIC_COUNTER, "joules", CURRENT, L_CUR_ZONE,
	  "Measured energy of this zone of the node since Kepler started.", emit_current_node_energy, PART_TOTAL },
	{ "kepler_node_cpu_active_joules", METRIC_COUNTER, "joules", CURRENT, L_CUR_ZONE,
	  "Part of the zone's energy above its idle power.", emit_current_node_energy, PART_ACTIVE },
	{ "kepler_node_cpu_idle_joules", METRIC_COUNTER, "joules", CURRENT, L_CUR_ZONE,
	  "Part of the zone's energy that its idle power makes.", emit_current_node_energy, PART_IDLE },
	{ "kepler_node_cpu_watts", METRIC_GAUGE, "watts", CURRENT, L_CUR_ZONE,
	  "Measured mean power of the zone over the last interval.", emit_current_node_watts, PART_TOTAL },
	{ "kepler_node_cpu_active_watts", METRIC_GAUGE, "watts", CURRENT, L_CUR_ZONE,
	  "Part of the zone's power above its idle power.", emit_current_node_watts, PART_ACTIVE },
	{ "kepler_node_cpu_idle_watts", METRIC_GAUGE, "watts", CURRENT, L_CUR_ZONE,
	  "Idle part of the zone's power.", emit_current_node_watts, PART_IDLE },
	{ "kepler_platform_watts", METRIC_GAUGE, "watts", CURRENT, "source, node_name, source_id, quality, scope",
	  "Power of the whole machine; quality says whether it is measured or estimated.", emit_platform_watts, 0 },
	{ "kepler_container_cpu_joules", METRIC_COUNTER, "joules", CURRENT, L_CUR_CONT ", state, " L_CUR_ZONE,
	  "Active energy of the container in a measured zone.", emit_current_rows_energy, LEVEL_CONTAINER },
	{ "kepler_container_cpu_retired_joules", METRIC_COUNTER, "joules", CURRENT,
	  L_CUR_CONT ", container_namespace, " L_CUR_ZONE,
	  "Active energy of containers of this namespace that are no longer shown.", emit_current_rows_retired, LEVEL_CONTAINER },
	{ "kepler_container_cpu_watts", METRIC_GAUGE, "watts", CURRENT, L_CUR_CONT ", state, " L_CUR_ZONE,
	  "Active power of the container over the last interval.", emit_current_rows_watts, LEVEL_CONTAINER },
	{ "kepler_container_cpu_seconds", METRIC_COUNTER, "seconds", CURRENT, L_CUR_CONT ", node_name",
	  "CPU time of the container's processes.", emit_current_rows_cpu_seconds, LEVEL_CONTAINER },
	{ "kepler_process_cpu_joules", METRIC_COUNTER, "joules", CURRENT, L_CUR_PROCESS ", state, " L_CUR_ZONE,
	  "Active energy of the process in a measured zone.", emit_current_rows_energy, LEVEL_PROCESS },
	{ "kepler_process_cpu_retired_joules", METRIC_COUNTER, "joules", CURRENT,
	  "container_id, vm_id, container_namespace, " L_CUR_ZONE,
	  "Active energy of the container's processes that are no longer shown.", emit_current_rows_retired, LEVEL_PROCESS },
	{ "kepler_process_cpu_watts", METRIC_GAUGE, "watts", CURRENT, L_CUR_PROCESS ", state, " L_CUR_ZONE,
	  "Active power of the process over the last interval.", emit_current_rows_watts, LEVEL_PROCESS },
	{ "kepler_process_cpu_seconds", METRIC_COUNTER, "seconds", CURRENT, L_CUR_PROCESS ", node_name",
	  "CPU time of the process.", emit_current_rows_cpu_seconds, LEVEL_PROCESS },
	{ "kepler_build", METRIC_INFO, "", CURRENT, "arch, branch, revision, version",
	  "The build of Kepler that runs.", emit_current_build_info, 0 },

	{ "kepler_exporter_build", METRIC_INFO, "", CLASSIC, "arch, branch, revision, version, os",
	  "The build of Kepler that runs.", emit_build_info, 0 },
	{ "kepler_exporter_start_time_seconds", METRIC_GAUGE, "seconds", BOTH, "",
	  "When Kepler started, as Unix time.", emit_start_time, 0 },
	{ "kepler_exporter_cpu_seconds", METRIC_COUNTER, "seconds", BOTH, "",
	  "CPU time that Kepler used, its BPF programs included.", emit_self_double, SELF(cpu_seconds) },
	{ "kepler_exporter_bpf_seconds", METRIC_COUNTER, "seconds", BOTH, "",
	  "Part of Kepler's CPU time that was spent in its BPF program.", emit_self_double, SELF(bpf_seconds) },
	{ "kepler_exporter_resident_memory_bytes", METRIC_GAUGE, "bytes", BOTH, "",
	  "Resident memory of Kepler.", emit_self_u64, SELF(rss_bytes) },
	{ "kepler_exporter_resident_memory_max_bytes", METRIC_GAUGE, "bytes", BOTH, "",
	  "Highest resident memory of Kepler so far.", emit_self_u64, SELF(max_rss_bytes) },
	{ "kepler_exporter_open_fds", METRIC_GAUGE, "", BOTH, "",
	  "Open file descriptors of Kepler.", emit_self_u64, SELF(open_fds) },
	{ "kepler_exporter_threads", METRIC_GAUGE, "", BOTH, "",
	  "Threads of Kepler.", emit_self_u64, SELF(threads) },
	{ "kepler_exporter_interval_seconds", METRIC_GAUGE, "seconds", BOTH, "",
	  "Configured time between two readings.", emit_self_double, SELF(interval_s) },
	{ "kepler_exporter_interval_duration_seconds", METRIC_HISTOGRAM, "seconds", BOTH, "le",
	  "How long reading, attributing and publishing took in each interval.", emit_interval_histogram, 0 },
	{ "kepler_exporter_intervals_missed", METRIC_COUNTER, "", BOTH, "",
	  "Intervals that began too late because the one before took too long.", emit_self_u64, SELF(intervals_missed) },
	{ "kepler_exporter_snapshots", METRIC_COUNTER, "", BOTH, "",
	  "Snapshots published; this page shows the latest.", emit_snapshot_sequence, 0 },
	{ "kepler_exporter_snapshot_timestamp_seconds", METRIC_GAUGE, "seconds", BOTH, "",
	  "When the snapshot on this page was published, as Unix time.", emit_snapshot_timestamp, 0 },
	{ "kepler_exporter_source_up", METRIC_GAUGE, "", BOTH, L_ZONE,
	  "Was the last reading of the zone good? 1 or 0.", emit_zone_up, 0 },
	{ "kepler_exporter_source_age_seconds", METRIC_GAUGE, "seconds", BOTH, L_ZONE,
	  "Age of the zone's last good reading.", emit_zone_age, 0 },
	{ "kepler_exporter_source_reads", METRIC_COUNTER, "", BOTH, L_ZONE,
	  "Good readings of the zone.", emit_zone_counter, ZONE(reads) },
	{ "kepler_exporter_source_read_errors", METRIC_COUNTER, "", BOTH, L_ZONE,
	  "Readings of the zone that failed.", emit_zone_counter, ZONE(errors) },
	{ "kepler_exporter_source_dropped", METRIC_COUNTER, "", BOTH, L_ZONE,
	  "Readings of the zone that were impossible and not counted.", emit_zone_counter, ZONE(dropped) },
	{ "kepler_exporter_source_wraps", METRIC_COUNTER, "", BOTH, L_ZONE,
	  "Times the zone's counter went round, corrected.", emit_zone_counter, ZONE(wraps) },
	{ "kepler_exporter_activity_reader", METRIC_INFO, "", BOTH, "reader",
	  "What tells how long each process ran.", emit_activity_info, 0 },
	{ "kepler_exporter_activity_drops", METRIC_COUNTER, "", BOTH, "",
	  "Records of ended tasks that found no room; their time is charged without a name.", emit_self_u64, SELF(activity_drops) },
	{ "kepler_exporter_activity_errors", METRIC_COUNTER, "", BOTH, "",
	  "Passes over the processes that failed.", emit_self_u64, SELF(activity_errors) },
	{ "kepler_exporter_tasks_walked", METRIC_COUNTER, "", BOTH, "",
	  "Threads that the passes looked at.", emit_self_u64, SELF(tasks_walked) },
	{ "kepler_exporter_tasks_sent", METRIC_COUNTER, "", BOTH, "",
	  "Threads that had run and were handed over.", emit_self_u64, SELF(tasks_sent) },
	{ "kepler_exporter_threads_known", METRIC_GAUGE, "", BOTH, "",
	  "Threads whose run time is kept between passes.", emit_self_u64, SELF(threads_known) },
	{ "kepler_exporter_series_folded", METRIC_COUNTER, "", BOTH, "level",
	  "Rows that were moved to retired because of --metrics.max-series.", emit_folded, 0 },
	{ "kepler_exporter_table_overflows", METRIC_COUNTER, "", BOTH, "table",
	  "Processes or containers that found no room in the ledger.", emit_table_overflows, 0 },
	{ "kepler_exporter_state_write_errors", METRIC_COUNTER, "", BOTH, "",
	  "Times the state file could not be written.", emit_self_u64, SELF(state_write_errors) },
	{ "kepler_exporter_config_reloads", METRIC_COUNTER, "", BOTH, "result",
	  "Reloads of the configuration.", emit_reloads, 0 },
	{ "kepler_exporter_config_last_reload_successful", METRIC_GAUGE, "", BOTH, "",
	  "Did the last reload succeed? 1 or 0.", emit_self_bool, SELF(last_reload_ok) },
	{ "kepler_exporter_http_requests", METRIC_COUNTER, "", BOTH, "code",
	  "HTTP requests answered, by class of status.", emit_http_requests, 0 },
	{ "kepler_exporter_http_connections", METRIC_GAUGE, "", BOTH, "",
	  "HTTP connections open now.", emit_http_u64, HTTP(connections) },
	{ "kepler_exporter_http_connections_accepted", METRIC_COUNTER, "", BOTH, "",
	  "HTTP connections accepted.", emit_http_u64, HTTP(connections_total) },
	{ "kepler_exporter_http_connections_evicted", METRIC_COUNTER, "", BOTH, "",
	  "HTTP connections cut while silent because others waited for room.", emit_http_u64, HTTP(requests[0]) },
	{ "kepler_exporter_http_timeouts", METRIC_COUNTER, "", BOTH, "",
	  "HTTP connections cut because a request or an answer took too long.", emit_http_u64, HTTP(timeouts) },
	{ "kepler_exporter_http_sent_bytes", METRIC_COUNTER, "bytes", BOTH, "",
	  "Bytes of answers sent, without headers.", emit_http_u64, HTTP(bytes_sent) },
};
/* clang-format on */

const struct metric *metric_table(size_t *ret_count)
{
	*ret_count = ARRAY_SIZE(table);
	return table;
}
