// SPDX-License-Identifier: Apache-2.0
/*
 * Classic names are the names of Kepler up to 0.9, current names those since 0.10. Metrics about
 * Kepler itself, and about energy that belongs to no process, are part of both.
 */
#include "export/catalog/catalog.h"

#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "export/catalog/catalog_table.h"

/* clang-format off */
static const struct variant answers[] = {
	{ "2xx", HTTP(requests[2]) },
	{ "3xx", HTTP(requests[3]) },
	{ "4xx", HTTP(requests[4]) },
	{ "5xx", HTTP(requests[5]) },
	{ 0 },
};
static const struct variant evictions[] = {
	{ "silent", HTTP(cuts[HTTP_CUT_SILENT]) },
	{ "slow", HTTP(cuts[HTTP_CUT_SLOW]) },
	{ "old_page", HTTP(cuts[HTTP_CUT_OLD]) },
	{ 0 },
};
static const struct variant timeouts[] = {
	{ "request", HTTP(cuts[HTTP_CUT_REQUEST]) },
	{ "answer", HTTP(cuts[HTTP_CUT_ANSWER]) },
	{ "stalled", HTTP(cuts[HTTP_CUT_STALLED]) },
	{ 0 },
};

static const struct family node[] = {
	{ "kepler_node_<zone>_joules", COUNTER, "joules", CLASSIC,
	  OF_ZONE_MODES, ZONE(node_uj, 6), L_MODE,
	  "Energy of this zone of the node since Kepler started.", NULL },
	{ "kepler_node_joules", COUNTER, "joules", BOTH,
	  OF_TOTALS, MICROJOULES, L_TOTAL,
	  "Energy of the node since Kepler started: the sum of the zones with in_total=\"true\" in "
	  "kepler_zone_info, which do not overlap. While one of them cannot be read "
	  "(kepler_exporter_source_up), its part does not grow.", NULL },
	{ "kepler_node_watts", GAUGE, "watts", BOTH,
	  OF_TOTALS, WATTS, L_TOTAL,
	  "Mean power of the node over the last interval, over the zones in "
	  "kepler_node_joules_total. Absent while the power of one of them is unknown.", NULL },
	{ "kepler_node_unattributed_watts", GAUGE, "watts", BOTH,
	  OF_UNATTRIBUTED_TOTALS, WATTS, L_TOTAL,
	  "Part of kepler_node_watts that is in no series of a process, container or namespace: "
	  "unattributed energy, idle power that stays with the node, and the power of owners whose "
	  "names are not known yet.", NULL },
	{ "kepler_node_unattributed_joules", COUNTER, "joules", BOTH,
	  OF_ZONE_REASONS, ZONE(unattributed_uj, 6),
	  LABELS(POINT_ZONE, POINT_PACKAGE, POINT_MODE, POINT_SOURCE, POINT_REASON),
	  "Part of the node's energy that belongs to no process or container, by reason: "
	  "idle_policy (idle energy stays with the node), no_activity (nothing ran), dropped (used "
	  "by tasks whose owner could not be recorded), unseen (CPU time that the machine counted "
	  "but that belongs to no visible process).", NULL },
	{ "kepler_pending_joules", GAUGE, "joules", BOTH,
	  OF_PENDING, MICROJOULES,
	  LABELS(POINT_LEVEL, POINT_ZONE, POINT_ROW_PACKAGE, POINT_MODE, POINT_SOURCE),
	  "Energy already charged whose series still shows 0 so that a scrape sees it start "
	  "(--metrics.settle), or whose owner's names are not known yet.", NULL },
	{ "kepler_node_<zone>_watts", GAUGE, "watts", CLASSIC,
	  OF_ZONE_MODES, ZONE(watts, 0), L_MODE,
	  "Mean power of this zone of the node over the last interval.", NULL },
	{ "kepler_node_idle_estimate_watts", GAUGE, "watts", BOTH,
	  OF_ZONES, ZONE(idle_estimate_w, 0), L_ZONE,
	  "Estimated power of the zone when nothing runs; an upper bound while idle_state in "
	  "kepler_zone_info is provisional.", NULL },
	{ "kepler_node_model", INFO, "", BOTH,
	  OF_ZONES_OF_MODELS, ONE,
	  LABELS(POINT_ZONE, POINT_SOURCE, POINT_MODEL, POINT_MODEL_OUTPUT, POINT_MODEL_FEATURES,
	         POINT_MODEL_MACHINE),
	  "The model that estimates a zone, built-in or trained (--model.file, --model.url): its "
	  "output, its features, and the processor that it was trained on.", NULL },
	{ "kepler_node_model_error_watts", GAUGE, "watts", BOTH,
	  OF_ZONES_OF_MODELS, ZONE(model_error_w, 0), L_ZONE,
	  "Error bound of the estimated power: nine of ten estimates are within it, as measured on "
	  "machines or rows outside the model's training data. Absent if it was not measured.",
	  NULL },
	{ "kepler_node_model_outside", GAUGE, "", BOTH,
	  OF_ZONES_OF_MODELS, ZONE(model_outside, 0), L_ZONE,
	  "1 if the node's load is outside the range of the trained model's data, or the machine "
	  "is unlike the machines of the built-in model; otherwise 0. The error bound is wider "
	  "then.", NULL },
	{ "kepler_node_model_changes", COUNTER, "", BOTH,
	  OF_ZONES_OF_MODELS, ZONE(model_changes, 0), L_ZONE,
	  "Times that the model that estimates a zone was replaced, by a changed file or a newer "
	  "model from --model.url. The energy counter continues.", NULL },
	{ "kepler_node_bpf_cpu_time_ms", COUNTER, "", CLASSIC,
	  OF_SNAPSHOT, NODE(cpu_ns, 6), L_CPU,
	  "CPU time used on the node, in milliseconds.", NULL },
	{ "kepler_node_<counter>", COUNTER, "", BOTH,
	  OF_COUNTERS, COUNT(node), L_CPU,
	  "All processes and containers of the node: <counter>.", NULL },
	{ "kepler_node_unattributed_<counter>", COUNTER, "", BOTH,
	  OF_COUNTERS, COUNT(unattributed), L_CPU,
	  "Part of the node's sum that belongs to no process or container: <counter>.", NULL },
	{ "kepler_pending_<counter>", GAUGE, "", BOTH,
	  OF_PENDING_COUNTERS, COUNTED, LABELS(POINT_LEVEL, POINT_ACTIVITY_SOURCE),
	  "Counted in series that still show 0 (--metrics.settle), or whose owner's names are not "
	  "known yet: <counter>.", NULL },
	{ "kepler_node_cpu_usage_ratio", GAUGE, "ratio", BOTH,
	  OF_SNAPSHOT, NODE(busy_ratio, 0), L_NODE,
	  "Share of CPU time of all CPUs that was busy in the last interval, 0 to 1.", NULL },
	{ "kepler_node_cpu_steal_seconds", COUNTER, "seconds", BOTH,
	  OF_SNAPSHOT, NODE(cpu_steal_seconds, 0), L_NODE,
	  "Time that this virtual machine's vCPUs waited for a CPU of the host since Kepler "
	  "started. Estimates use CPU time without it.", NULL },
	{ "kepler_node_vm_host_share_ratio", GAUGE, "ratio", BOTH,
	  OF_SNAPSHOT, NODE(vm_host_share_ratio, 0),
	  LABELS(POINT_HOST_CPUS_SOURCE, POINT_NODE_NAME),
	  "Share of the host's logical CPUs that this virtual machine is assumed to have. "
	  "host_cpus_source names the source of the host's CPU count: an option (--vm.host-cpus), "
	  "the instance type, a trained model, the name of the processor, or a typical "
	  "host.", NULL },
	{ "kepler_node_vm_neighbour_load_min_ratio", GAUGE, "ratio", BOTH,
	  OF_SNAPSHOT, NODE(vm_load_low, 0), L_NODE,
	  "Lowest load of the host's other CPUs that the estimate covers "
	  "(--vm.neighbour-load).", NULL },
	{ "kepler_node_vm_neighbour_load_max_ratio", GAUGE, "ratio", BOTH,
	  OF_SNAPSHOT, NODE(vm_load_high, 0), L_NODE,
	  "Highest load of the host's other CPUs that the estimate covers "
	  "(--vm.neighbour-load).", NULL },
	{ "kepler_node", INFO, "", BOTH,
	  OF_SNAPSHOT, ONE,
	  LABELS(POINT_CPU_ARCHITECTURE, POINT_COMPONENTS_SOURCE, POINT_PLATFORM_SOURCE,
	         POINT_NODE_QUALITY, POINT_KERNEL, POINT_NODE_NAME, POINT_OS_SOURCE),
	  "The machine and its power sources; quality is measured, estimated, both or "
	  "none.", NULL },
	{ "kepler_zone", INFO, "", BOTH,
	  OF_ZONES, ONE,
	  LABELS(POINT_ZONE, POINT_PACKAGE, POINT_SOURCE, POINT_PATH, POINT_QUALITY, POINT_SCOPE,
	         POINT_IDLE_STATE, POINT_IN_TOTAL),
	  "A zone: the source of its energy, measured or estimated, how its idle power was "
	  "determined, and whether it is part of the totals.", NULL },

	{ "kepler_attribution", INFO, "", BOTH,
	  OF_ZONES_IN_USE, ONE, LABELS(POINT_ZONE, POINT_PACKAGE, POINT_SOURCE, POINT_SIGNAL),
	  "The rule by which the dynamic energy of a zone is shared: one of --attribution.package, "
	  "device-time (GPUs: the time that each process kept the GPU busy), or parts (the zone "
	  "other: the energy that each process used in the machine's parts).", NULL },
	{ "kepler_attribution_error_ratio", GAUGE, "ratio", BOTH,
	  OF_ZONES_IN_USE, ZONE(share_error_ratio, 0), L_ZONE,
	  "Deviation of the power predicted from all work from the meter: root mean square over "
	  "the last minutes, relative to the zone's mean power. The error of a single share can "
	  "differ. Absent if nothing is learned (see kepler_attribution_info).", NULL },
	{ "kepler_attribution_share_half_width_ratio", GAUGE, "ratio", BOTH,
	  OF_ZONES_IN_USE, ZONE(share_half_width, 0), L_ZONE,
	  "Half width of the 90 % interval for the share of the container with the most dynamic "
	  "energy in the zone in the last interval, 0 to 1, as far as the zone's own meter shows. "
	  "0.02 at a share of 40 % means 38 to 42 %. Absent if nothing is learned.", NULL },
	{ "kepler_attribution_smt_factor_ratio", GAUGE, "ratio", BOTH,
	  OF_ZONES_IN_USE, ZONE(smt_factor, 0), L_ZONE,
	  "Energy per cycle of a thread whose sibling thread is busy, relative to a cycle alone, "
	  "as learned from the zone's meter. Absent if it is not known to +- 0.1; "
	  "--attribution.smt-factor is used then.", NULL },
	{ "kepler_zone_deviation_ratio", GAUGE, "ratio", BOTH,
	  OF_ZONES, ZONE(deviation_ratio, 0), L_ZONE,
	  "Relative difference of this source from the charged source of the same energy over the "
	  "last minute (at first, since it began): 0.02 means that it reads 2 % more. Absent for "
	  "the charged source and for a source without a rival.", NULL },
	{ "kepler_zone_coverage_ratio", GAUGE, "ratio", BOTH,
	  OF_ZONES, ZONE(coverage_ratio, 0), L_ZONE,
	  "Energy counted by a meter of the whole machine (psys, platform), divided by the energy "
	  "that the meters of its parts counted over the same minute (at first, since it began). "
	  "Below 1, the meter does not measure all parts, and totals are the sum of the parts. "
	  "Absent for other zones.",
	  NULL },
	{ "kepler_zone_delay_seconds", GAUGE, "seconds", BOTH,
	  OF_ZONES, ZONE(delay_s, 0), L_ZONE,
	  "Age of the most recently counted energy, for sources that report late or report a mean. "
	  "It is shared by what ran at that time. Absent for other sources.", NULL },
	{ "kepler_zone_window_seconds", GAUGE, "seconds", BOTH,
	  OF_ZONES, ZONE(window_s, 0), L_ZONE,
	  "Time over which such a source averages power. Absent for other sources.",
	  NULL },
};

static const struct family node_current[] = {
	{ "kepler_node_cpu", INFO, "", CURRENT,
	  OF_CPUS, ONE,
	  LABELS(POINT_PROCESSOR, POINT_CPU_VENDOR, POINT_CPU_MODEL, POINT_PHYSICAL_ID,
	         POINT_CORE_ID),
	  "A CPU that was online when Kepler started.", NULL },
	{ "kepler_node_cpu_joules", COUNTER, "joules", CURRENT,
	  OF_MEASURED_ZONES, PART(node_uj, 6, TOTAL), L_CUR_ZONE,
	  "Measured energy of this zone of the node since Kepler started.", NULL },
	{ "kepler_node_cpu_active_joules", COUNTER, "joules", CURRENT,
	  OF_MEASURED_ZONES, PART(node_uj, 6, DYNAMIC), L_CUR_ZONE,
	  "Part of the zone's energy above its idle power.", NULL },
	{ "kepler_node_cpu_idle_joules", COUNTER, "joules", CURRENT,
	  OF_MEASURED_ZONES, PART(node_uj, 6, IDLE), L_CUR_ZONE,
	  "Part of the zone's energy that is due to its idle power.", NULL },
	{ "kepler_node_cpu_watts", GAUGE, "watts", CURRENT,
	  OF_MEASURED_ZONES, PART(watts, 0, TOTAL), L_CUR_ZONE,
	  "Measured mean power of the zone over the last interval.", NULL },
	{ "kepler_node_cpu_active_watts", GAUGE, "watts", CURRENT,
	  OF_MEASURED_ZONES, PART(watts, 0, DYNAMIC), L_CUR_ZONE,
	  "Part of the zone's power above its idle power.", NULL },
	{ "kepler_node_cpu_idle_watts", GAUGE, "watts", CURRENT,
	  OF_MEASURED_ZONES, PART(watts, 0, IDLE), L_CUR_ZONE,
	  "Idle part of the zone's power.", NULL },
	{ "kepler_node_gpu_joules", COUNTER, "joules", ALONE,
	  OF_DEVICE_ZONES, PART(node_uj, 6, TOTAL), L_GPU,
	  "Measured energy of the GPU since Kepler started.", NULL },
	{ "kepler_node_gpu_active_joules", COUNTER, "joules", CURRENT,
	  OF_DEVICE_ZONES, PART(node_uj, 6, DYNAMIC), L_GPU,
	  "Part of the GPU's energy above its idle power.", NULL },
	{ "kepler_node_gpu_idle_joules", COUNTER, "joules", CURRENT,
	  OF_DEVICE_ZONES, PART(node_uj, 6, IDLE), L_GPU,
	  "Part of the GPU's energy that is due to its idle power.", NULL },
	{ "kepler_node_gpu_watts", GAUGE, "watts", ALONE,
	  OF_DEVICE_ZONES, PART(watts, 0, TOTAL), L_GPU,
	  "Measured mean power of the GPU over the last interval.", NULL },
	{ "kepler_node_gpu_active_watts", GAUGE, "watts", CURRENT,
	  OF_DEVICE_ZONES, PART(watts, 0, DYNAMIC), L_GPU,
	  "Part of the GPU's power above its idle power.", NULL },
	{ "kepler_node_gpu_idle_watts", GAUGE, "watts", CURRENT,
	  OF_DEVICE_ZONES, PART(watts, 0, IDLE), L_GPU,
	  "Idle part of the GPU's power.", NULL },
	{ "kepler_platform_watts", GAUGE, "watts", CURRENT,
	  OF_PLATFORM_ZONES, PART(watts, 0, TOTAL),
	  LABELS(POINT_SOURCE, POINT_NODE_NAME, POINT_SOURCE_ID, POINT_QUALITY, POINT_SCOPE),
	  "Power of the whole machine; quality is measured or estimated.", NULL },
};

static const struct family exporter[] = {
	{ "kepler_build", INFO, "", CURRENT,
	  OF_SNAPSHOT, ONE, LABELS(POINT_ARCH, POINT_BRANCH, POINT_REVISION, POINT_VERSION),
	  "The running build of Kepler.", NULL },

	{ "kepler_exporter_build", INFO, "", CLASSIC,
	  OF_SNAPSHOT, ONE,
	  LABELS(POINT_ARCH, POINT_BRANCH, POINT_REVISION, POINT_VERSION, POINT_OS),
	  "The running build of Kepler.", NULL },
	{ "kepler_exporter_start_time_seconds", GAUGE, "seconds", BOTH,
	  OF_PAGE, AT(struct catalog_view, start_ms, 3), L_NONE,
	  "When Kepler started, as Unix time.", NULL },
	{ "kepler_exporter_snapshots", COUNTER, "", BOTH,
	  OF_SNAPSHOT, AT(struct snapshot, sequence, 0), L_NONE,
	  "Snapshots published; this page shows the latest.", NULL },
	{ "kepler_exporter_snapshot_timestamp_seconds", GAUGE, "seconds", BOTH,
	  OF_SNAPSHOT, AT(struct snapshot, realtime_ms, 3), L_NONE,
	  "When the snapshot on this page was published, as Unix time.", NULL },
	{ "kepler_exporter_settle_seconds", GAUGE, "seconds", BOTH,
	  OF_SNAPSHOT, AT(struct snapshot, settle_s, 0), L_NONE,
	  "How long a new series shows 0 (--metrics.settle), as of this page.", NULL },
	{ "kepler_exporter_source_up", GAUGE, "", BOTH,
	  OF_ZONES_IN_USE, ZONE_IS_UP, L_ZONE,
	  "1 if the last reading of the zone succeeded, otherwise 0. Absent once another source "
	  "has taken over permanently.", NULL },
	{ "kepler_exporter_source_age_seconds", GAUGE, "seconds", BOTH,
	  OF_ZONES_IN_USE, ZONE(age_s, 0), L_ZONE,
	  "Age of the zone's last good reading.", NULL },
	{ "kepler_exporter_source_unverified", GAUGE, "", BOTH,
	  OF_REMOTE_ZONES, ZONE(zone.is_unverified, 0), L_ZONE,
	  "1 if the zone is read over a network without verifying the peer's certificate, "
	  "otherwise 0. Only for zones read over a network.", NULL },
	{ "kepler_exporter_source_caveat", GAUGE, "", BOTH,
	  OF_CAVEAT_ZONES, ONE, LABELS(POINT_ZONE, POINT_PACKAGE, POINT_SOURCE, POINT_CAVEAT),
	  "Zones with values that are counted in spite of a caveat: always 1. caveat: inactive, "
	  "the BMC reports that it does not measure power, yet has a value; output, the output of "
	  "the power supplies, without their losses; ambiguous, another meter may measure the same "
	  "or another part of the machine; late, the zone was found after the total of its whole "
	  "had begun, and is in no total until Kepler is restarted; virtual, a hypervisor makes "
	  "the counter as a share of its host's energy, by CPU time; host-claimed, the machine is "
	  "protected from its host (SEV-SNP, TDX, Secure Execution), which claims the energy; "
	  "filtered, the processor, or the host's, blurs its counters: they are right in sum.",
	  NULL },
	{ "kepler_exporter_source_reads", COUNTER, "", BOTH,
	  OF_ZONES, ZONE(reads, 0), L_ZONE,
	  "Attempted readings of the zone, including failed ones.", NULL },
	{ "kepler_exporter_source_read_errors", COUNTER, "", BOTH,
	  OF_ZONES, ZONE(errors, 0), L_ZONE,
	  "Readings of the zone that failed.", NULL },
	{ "kepler_exporter_source_dropped", COUNTER, "", BOTH,
	  OF_ZONES, ZONE(dropped, 0), L_ZONE,
	  "Readings of the zone that were implausible and not counted.", NULL },
	{ "kepler_exporter_source_wraps", COUNTER, "", BOTH,
	  OF_ZONES, ZONE(wraps, 0), L_ZONE,
	  "Times that the zone's counter wrapped; corrected.", NULL },
	{ "kepler_exporter_series_merged", COUNTER, "", BOTH,
	  OF_LEVELS, AT(struct snapshot_table, merged, 0), LABELS(POINT_LEVEL),
	  "Rows that were moved to retired early because of a limit.", NULL },
	{ "kepler_exporter_http_requests", COUNTER, "", BOTH,
	  OF_HTTP, VARIANTS, LABELS(POINT_CODE),
	  "HTTP requests answered, by status class.", answers },
	{ "kepler_exporter_http_connections", GAUGE, "", BOTH,
	  OF_HTTP, HTTP(connections), L_NONE,
	  "Open HTTP connections.", NULL },
	{ "kepler_exporter_http_connections_accepted", COUNTER, "", BOTH,
	  OF_HTTP, HTTP(connections_total), L_NONE,
	  "HTTP connections accepted.", NULL },
	{ "kepler_exporter_http_connections_evicted", COUNTER, "", BOTH,
	  OF_HTTP, VARIANTS, L_CUT,
	  "HTTP connections closed because others waited for their resources, by reason: silent "
	  "(no request, or small responses not read), slow (the slowest reader), old_page (reading "
	  "a page whose memory was needed for a new one).", evictions },
	{ "kepler_exporter_http_timeouts", COUNTER, "", BOTH,
	  OF_HTTP, VARIANTS, L_CUT,
	  "HTTP connections closed because a request or a response took too long, or a reader "
	  "stalled.",
	  timeouts },
	{ "kepler_exporter_http_accept_errors", COUNTER, "", BOTH,
	  OF_HTTP, HTTP(accept_errors), L_NONE,
	  "HTTP connections for which no file descriptor was available; some were accepted "
	  "later.", NULL },
	{ "kepler_exporter_http_misdirected_requests", COUNTER, "", BOTH,
	  OF_HTTP, HTTP(misdirected), L_NONE,
	  "HTTP requests refused with status 421 because their Host header does not name this "
	  "machine; web.allowed-hosts allows more names.", NULL },
	{ "kepler_exporter_http_unauthorized_requests", COUNTER, "", BOTH,
	  OF_HTTP, HTTP(unauthorized), L_NONE,
	  "HTTP requests refused with status 401: without a valid token or password.", NULL },
	{ "kepler_exporter_http_limited_requests", COUNTER, "", BOTH,
	  OF_HTTP, HTTP(limited), L_NONE,
	  "HTTP requests refused with status 429, because of rate_limit in the web configuration.",
	  NULL },
	{ "kepler_exporter_http_client_certificates_refused", COUNTER, "", BOTH,
	  OF_HTTP, HTTP(certificates_refused), L_NONE,
	  "TLS handshakes that ended because the client's certificate was missing, not valid or "
	  "without an allowed name.", NULL },
	{ "kepler_exporter_http_password_comparisons", COUNTER, "", BOTH,
	  OF_HTTP, HTTP(password_comparisons), L_NONE,
	  "Passwords that were compared with a bcrypt hash, once for each user and password; later "
	  "requests use the result.", NULL },
	{ "kepler_exporter_http_wrong_passwords", COUNTER, "", BOTH,
	  OF_HTTP, HTTP(passwords_wrong), L_NONE,
	  "Comparisons of passwords that failed: a wrong password, or an unknown user.", NULL },
	{ "kepler_exporter_http_passwords_not_compared", COUNTER, "", BOTH,
	  OF_HTTP, HTTP(passwords_busy), L_NONE,
	  "HTTP requests answered with status 503, because too many others waited for the "
	  "comparison of their passwords.", NULL },
	{ "kepler_exporter_http_sent_bytes", COUNTER, "bytes", BOTH,
	  OF_HTTP, HTTP(bytes_sent), L_NONE,
	  "Bytes of response bodies sent.", NULL },
};
/* clang-format on */

/* Number *index of @table; NULL if the table is shorter, whose rows are then taken off. */
static const struct family *find(const struct family *table, size_t count, size_t *index)
{
	if (*index < count)
		return &table[*index];
	*index -= count;
	return NULL;
}

const struct family *catalog_at(size_t index)
{
	size_t row_count, current_count;
	const struct family *rows = catalog_rows(&row_count);
	const struct family *rows_current = catalog_rows_current(&current_count);
	const struct family *family = find(node, ARRAY_SIZE(node), &index);

	if (!family)
		family = find(rows, row_count, &index);
	if (!family)
		family = find(node_current, ARRAY_SIZE(node_current), &index);
	if (!family)
		family = find(rows_current, current_count, &index);
	return family ? family : find(exporter, ARRAY_SIZE(exporter), &index);
}

const char *family_suffix(const struct family *family)
{
	if (family->type == FAMILY_COUNTER)
		return "_total";
	return family->type == FAMILY_INFO ? "_info" : "";
}

enum family_each family_each(const struct family *family)
{
	if (strstr(family->name, FAMILY_ZONE))
		return EACH_ZONE;
	return strchr(family->name, '<') ? EACH_COUNTER : EACH_ONE;
}

/*
 * Names of zones and signals come from tables of ours (energy), but a name in the exposition must
 * hold whatever comes.
 */
static size_t add_part(char *to, size_t room, const char *part)
{
	size_t len = 0;

	for (; len < room && part[len]; len++) {
		char c = part[len];
		bool fine = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

		to[len] = fine ? c : '_';
	}
	return len;
}

void family_name(const struct family *family, const char *one, char ret[FAMILY_NAME_MAX])
{
	const char *hole = strchr(family->name, '<'), *rest;
	size_t len, rest_len;

	if (!hole) {
		(void)snprintf(ret, FAMILY_NAME_MAX, "%s", family->name);
		return;
	}
	len = (size_t)(hole - family->name);
	rest = strchr(hole, '>') + 1;
	rest_len = strlen(rest);
	memcpy(ret, family->name, len); /* the table's names are short: a test says so */
	len += add_part(ret + len, FAMILY_NAME_MAX - 1 - len - rest_len, one);
	memcpy(ret + len, rest, rest_len + 1);
}
