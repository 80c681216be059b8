// SPDX-License-Identifier: Apache-2.0
/*
 * Names, types, units and help texts of everything we export, in the order of the page.
 *
 * Classic names are those of Kepler up to 0.9, current names those since 0.10. What tells how
 * Kepler itself does, and what no process got, is in both.
 */
#include "export/catalog.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"

#define COUNTER   FAMILY_COUNTER
#define GAUGE     FAMILY_GAUGE
#define INFO      FAMILY_INFO
#define HISTOGRAM FAMILY_HISTOGRAM

#define CLASSIC   SCHEMA_CLASSIC
#define CURRENT   SCHEMA_CURRENT
#define BOTH      SCHEMA_BOTH
#define ALONE     SCHEMA_CURRENT_ALONE

#define DYNAMIC   (1U << MODE_DYNAMIC)
#define IDLE      (1U << MODE_IDLE)
#define TOTAL     (DYNAMIC | IDLE)

/* clang-format off */
/* The field's own type, so that what is read is what stands there; of an array its elements'. */
#define TYPE_OF(type_, field)                                                                      \
	_Generic(((type_ *)0)->field,                                                              \
		uint64_t: AS_U64,                                                                  \
		int64_t: AS_I64,                                                                   \
		bool: AS_BOOL,                                                                     \
		double: AS_DOUBLE,                                                                 \
		uint64_t *: AS_U64,                                                                \
		uint64_t(*)[UNATTRIBUTED_REASON_COUNT]: AS_U64,                                    \
		double *: AS_DOUBLE)
#define SUM(type_, field, decimals_, modes_)                                                       \
	{ .offset = offsetof(type_, field), .type = TYPE_OF(type_, field),                         \
	  .decimals = (decimals_), .modes = (modes_) }
#define AT(type_, field, decimals)      SUM(type_, field, decimals, 0)
#define PART(field, decimals, modes)    SUM(struct snapshot_zone, field, decimals, modes)
#define SELF(field, decimals)           AT(struct snapshot, self.field, decimals)
#define ZONE(field, decimals)           AT(struct snapshot_zone, field, decimals)
#define HTTP(field)                     AT(struct http_stats, field, 0)
#define NAMES(field)                    AT(struct snapshot_name_source, field, 0)
#define IDLE_STATE(field)                     AT(struct snapshot_idle_state, field, 0)
#define COUNT(field)                    AT(struct snapshot_counter, field, 0)
#define ZONE_IS_UP                                                                                 \
	{ .offset = offsetof(struct snapshot_zone, state), .type = AS_ZONE_STATE }
#define MICROJOULES                     { .type = AS_U64, .decimals = 6 } /* where the walk is */
#define WATTS                           { .type = AS_DOUBLE } /* likewise */
#define COUNTED                         { .type = AS_U64 } /* likewise */
#define ROWS(level_, decimals_)         { .level = (level_), .decimals = (decimals_) }
#define ONE                             { .type = AS_ONE }
#define VARIANTS                        ONE /* each has its own */
#define HISTOGRAMS                      ONE /* enum family_of says which */

#define LABELS(...)          ((const enum point_label[]){ __VA_ARGS__, POINT_LABELS_END })
#define L_NONE               NULL
#define L_ZONE               LABELS(POINT_ZONE, POINT_PACKAGE, POINT_SOURCE)
#define L_MODE               LABELS(POINT_PACKAGE, POINT_MODE, POINT_SOURCE)
#define L_ROW                LABELS(POINT_ROW_PACKAGE, POINT_MODE, POINT_SOURCE)
#define L_ROW_ZONE           LABELS(POINT_ZONE, POINT_ROW_PACKAGE, POINT_MODE, POINT_SOURCE)
#define L_TOTAL              LABELS(POINT_MODE, POINT_SOURCE)
#define L_CPU                LABELS(POINT_ACTIVITY_SOURCE)
#define L_NODE               LABELS(POINT_NODE_NAME)
#define L_NAMES              LABELS(POINT_NAME_SOURCE)
#define L_CUT                LABELS(POINT_CUT_REASON)
#define L_CUR_ZONE           LABELS(POINT_ZONE, POINT_PATH, POINT_NODE_NAME)
#define L_CUR_ROW            LABELS(POINT_ZONE, POINT_ROW_PATH, POINT_NODE_NAME)
#define L_CUR_STATE          LABELS(POINT_STATE, POINT_ZONE, POINT_ROW_PATH, POINT_NODE_NAME)
#define L_GPU                LABELS(POINT_GPU, POINT_GPU_UUID, POINT_NODE_NAME)
#define L_GPU_ROW            LABELS(POINT_ROW_GPU, POINT_ROW_GPU_UUID, POINT_ROW_PATH,          \
                                    POINT_NODE_NAME)
#define L_GPU_STATE          LABELS(POINT_STATE, POINT_ROW_GPU, POINT_ROW_GPU_UUID,             \
                                    POINT_ROW_PATH, POINT_NODE_NAME)

/* So that increase() counts it from its start: docs/design/publication.md */
#define SETTLES              " A new series shows 0 at first (--metrics.settle)."

static const struct variant lookups[] = {
	{ "found", SELF(names_found, 0), 0 },
	{ "unknown", SELF(names_unknown, 0), 0 },
	{ "refused", SELF(names_refused, 0), 0 },
	{ 0 },
};
static const struct variant allocations[] = {
	{ "held", SELF(pod_resources.held, 0), 0 },
	{ "nameless", SELF(pod_resources.nameless, 0), 0 },
	{ "unknown", SELF(pod_resources.unknown, 0), 0 },
	{ "beyond", SELF(pod_resources.beyond, 0), 0 },
	{ 0 },
};
static const struct variant overflows[] = {
	{ "processes", SELF(process_overflows, 0), 0 },
	{ "containers", SELF(container_overflows, 0), 0 },
	{ "machines", SELF(machine_overflows, 0), 0 },
	{ "pods", AT(struct snapshot, level[LEVEL_POD].overflows, 0), 0 },
	{ "vms", AT(struct snapshot, level[LEVEL_VM].overflows, 0), 0 },
	{ "namespaces", AT(struct snapshot, level[LEVEL_NAMESPACE].overflows, 0), 0 },
	{ 0 },
};
static const struct variant reloads[] = {
	{ "success", SELF(reloads, 0), offsetof(struct snapshot, self.reload_failures) },
	{ "failure", SELF(reload_failures, 0), 0 },
	{ "merged", SELF(reloads_merged, 0), 0 },
	{ 0 },
};
static const struct variant answers[] = {
	{ "2xx", HTTP(requests[2]), 0 },
	{ "3xx", HTTP(requests[3]), 0 },
	{ "4xx", HTTP(requests[4]), 0 },
	{ "5xx", HTTP(requests[5]), 0 },
	{ 0 },
};
static const struct variant evictions[] = {
	{ "silent", HTTP(cuts[HTTP_CUT_SILENT]), 0 },
	{ "slow", HTTP(cuts[HTTP_CUT_SLOW]), 0 },
	{ "old_page", HTTP(cuts[HTTP_CUT_OLD]), 0 },
	{ 0 },
};
static const struct variant timeouts[] = {
	{ "request", HTTP(cuts[HTTP_CUT_REQUEST]), 0 },
	{ "answer", HTTP(cuts[HTTP_CUT_ANSWER]), 0 },
	{ "stalled", HTTP(cuts[HTTP_CUT_STALLED]), 0 },
	{ 0 },
};

static const struct family table[] = {
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
	  OF_SNAPSHOT, SELF(node_cpu_ns, 6), L_CPU,
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
	  OF_SNAPSHOT, SELF(node_busy_ratio, 0), L_NODE,
	  "Share of CPU time of all CPUs that was busy in the last interval, 0 to 1.", NULL },
	{ "kepler_node_cpu_steal_seconds", COUNTER, "seconds", BOTH,
	  OF_SNAPSHOT, SELF(node_cpu_steal_seconds, 0), L_NODE,
	  "Time that this virtual machine's vCPUs waited for a CPU of the host since Kepler "
	  "started. Estimates use CPU time without it.", NULL },
	{ "kepler_node_vm_host_share_ratio", GAUGE, "ratio", BOTH,
	  OF_SNAPSHOT, SELF(vm_host_share_ratio, 0),
	  LABELS(POINT_HOST_CPUS_SOURCE, POINT_NODE_NAME),
	  "Share of the host's logical CPUs that this virtual machine is assumed to have. "
	  "host_cpus_source names the source of the host's CPU count: an option (--vm.host-cpus), "
	  "the instance type, a trained model, the name of the processor, or a typical "
	  "host.", NULL },
	{ "kepler_node_vm_neighbour_load_min_ratio", GAUGE, "ratio", BOTH,
	  OF_SNAPSHOT, SELF(vm_load_low, 0), L_NODE,
	  "Lowest load of the host's other CPUs that the estimate covers "
	  "(--vm.neighbour-load).", NULL },
	{ "kepler_node_vm_neighbour_load_max_ratio", GAUGE, "ratio", BOTH,
	  OF_SNAPSHOT, SELF(vm_load_high, 0), L_NODE,
	  "Highest load of the host's other CPUs that the estimate covers "
	  "(--vm.neighbour-load).", NULL },
	{ "kepler_node_cpu_idle_state_seconds", COUNTER, "seconds", BOTH,
	  OF_IDLE_STATES, IDLE_STATE(seconds), LABELS(POINT_CPU_IDLE_STATE),
	  "Time in this idle state, summed over all CPUs, since Kepler started, as requested by "
	  "cpuidle; read every 10 s.", NULL },
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

	{ "kepler_container_joules", COUNTER, "joules", BOTH,
	  OF_ROW_TOTALS, ROWS(LEVEL_CONTAINER, 6), L_TOTAL,
	  "Energy charged to the container: the sum of the zones that "
	  "kepler_node_joules_total has." SETTLES, NULL },
	{ "kepler_container_watts", GAUGE, "watts", BOTH,
	  OF_ROW_TOTALS, ROWS(LEVEL_CONTAINER, 6), L_TOTAL,
	  "Mean power of the container over the last interval: its part of "
	  "kepler_node_watts.", NULL },
	{ "kepler_container_<zone>_joules", COUNTER, "joules", CLASSIC,
	  OF_ROWS, ROWS(LEVEL_CONTAINER, 6), L_ROW,
	  "Energy charged to the container's processes, ended ones included." SETTLES, NULL },
	{ "kepler_container_retired_joules", COUNTER, "joules", BOTH,
	  OF_RETIRED, ROWS(LEVEL_CONTAINER, 6), L_ROW_ZONE,
	  "Energy of containers of this namespace that are no longer shown.", NULL },
	{ "kepler_container_<zone>_watts", GAUGE, "watts", CLASSIC,
	  OF_ROWS, ROWS(LEVEL_CONTAINER, 6), L_ROW,
	  "Mean power of the container over the last interval.", NULL },
	{ "kepler_container_bpf_cpu_time_ms", COUNTER, "", CLASSIC,
	  OF_ROWS_CPU, ROWS(LEVEL_CONTAINER, 6), L_CPU,
	  "CPU time of the container's processes, in milliseconds." SETTLES, NULL },
	{ "kepler_container_<counter>", COUNTER, "", BOTH,
	  OF_ROWS_COUNTERS, ROWS(LEVEL_CONTAINER, 0), L_CPU,
	  "The container's processes: <counter>." SETTLES, NULL },
	{ "kepler_container_retired_<counter>", COUNTER, "", BOTH,
	  OF_RETIRED_COUNTERS, ROWS(LEVEL_CONTAINER, 0), L_CPU,
	  "Containers of this namespace that are no longer shown: <counter>.", NULL },
	{ "kepler_container_bpf_<event>", COUNTER, "", CLASSIC,
	  OF_ROWS_COUNTERS, ROWS(LEVEL_CONTAINER, 0), L_CPU,
	  "The container's processes: <counter>." SETTLES, NULL },
	{ "kepler_pod_joules", COUNTER, "joules", BOTH,
	  OF_ROW_TOTALS, ROWS(LEVEL_POD, 6), L_TOTAL,
	  "Energy charged to the pod: the sum of the zones that "
	  "kepler_node_joules_total has." SETTLES, NULL },
	{ "kepler_pod_watts", GAUGE, "watts", BOTH,
	  OF_ROW_TOTALS, ROWS(LEVEL_POD, 6), L_TOTAL,
	  "Mean power of the pod over the last interval: its part of kepler_node_watts.", NULL },
	{ "kepler_pod_<zone>_joules", COUNTER, "joules", CLASSIC,
	  OF_ROWS, ROWS(LEVEL_POD, 6), L_ROW,
	  "Energy charged to the pod's containers, restarted and ended ones "
	  "included." SETTLES, NULL },
	{ "kepler_pod_retired_joules", COUNTER, "joules", BOTH,
	  OF_RETIRED, ROWS(LEVEL_POD, 6), L_ROW_ZONE,
	  "Energy of pods of this namespace that are no longer shown.", NULL },
	{ "kepler_pod_<zone>_watts", GAUGE, "watts", CLASSIC,
	  OF_ROWS, ROWS(LEVEL_POD, 6), L_ROW,
	  "Mean power of the pod over the last interval.", NULL },
	{ "kepler_pod_bpf_cpu_time_ms", COUNTER, "", CLASSIC,
	  OF_ROWS_CPU, ROWS(LEVEL_POD, 6), L_CPU,
	  "CPU time of the pod, in milliseconds." SETTLES, NULL },
	{ "kepler_pod_<counter>", COUNTER, "", BOTH,
	  OF_ROWS_COUNTERS, ROWS(LEVEL_POD, 0), L_CPU,
	  "The pod: <counter>." SETTLES, NULL },
	{ "kepler_pod_retired_<counter>", COUNTER, "", BOTH,
	  OF_RETIRED_COUNTERS, ROWS(LEVEL_POD, 0), L_CPU,
	  "Pods of this namespace that are no longer shown: <counter>.", NULL },
	{ "kepler_pod_bpf_<event>", COUNTER, "", CLASSIC,
	  OF_ROWS_COUNTERS, ROWS(LEVEL_POD, 0), L_CPU,
	  "The pod: <counter>." SETTLES, NULL },
	{ "kepler_pod", INFO, "", BOTH,
	  OF_PODS, ROWS(LEVEL_POD, 0), LABELS(POINT_QOS_CLASS),
	  "A pod that is shown. qos_class is Guaranteed, Burstable or BestEffort, as reported by "
	  "Kubernetes, or empty.", NULL },
	{ "kepler_vm_joules", COUNTER, "joules", BOTH,
	  OF_ROW_TOTALS, ROWS(LEVEL_VM, 6), L_TOTAL,
	  "Energy charged to the virtual machine: the sum of the zones that "
	  "kepler_node_joules_total has." SETTLES, NULL },
	{ "kepler_vm_watts", GAUGE, "watts", BOTH,
	  OF_ROW_TOTALS, ROWS(LEVEL_VM, 6), L_TOTAL,
	  "Mean power of the virtual machine over the last interval: its part of "
	  "kepler_node_watts.", NULL },
	{ "kepler_vm_<zone>_joules", COUNTER, "joules", CLASSIC,
	  OF_ROWS, ROWS(LEVEL_VM, 6), L_ROW,
	  "Energy charged to the virtual machine: its vCPU, I/O and vhost threads." SETTLES, NULL },
	{ "kepler_vm_retired_joules", COUNTER, "joules", BOTH,
	  OF_RETIRED, ROWS(LEVEL_VM, 6), L_ROW_ZONE,
	  "Energy of virtual machines that are no longer shown.", NULL },
	{ "kepler_vm_<zone>_watts", GAUGE, "watts", CLASSIC,
	  OF_ROWS, ROWS(LEVEL_VM, 6), L_ROW,
	  "Mean power of the virtual machine over the last interval.", NULL },
	{ "kepler_vm_bpf_cpu_time_ms", COUNTER, "", CLASSIC,
	  OF_ROWS_CPU, ROWS(LEVEL_VM, 6), L_CPU,
	  "CPU time of the virtual machine, in milliseconds." SETTLES, NULL },
	{ "kepler_vm_<counter>", COUNTER, "", BOTH,
	  OF_ROWS_COUNTERS, ROWS(LEVEL_VM, 0), L_CPU,
	  "The virtual machine: <counter>." SETTLES, NULL },
	{ "kepler_vm_retired_<counter>", COUNTER, "", BOTH,
	  OF_RETIRED_COUNTERS, ROWS(LEVEL_VM, 0), L_CPU,
	  "Virtual machines that are no longer shown: <counter>.", NULL },
	{ "kepler_vm_bpf_<event>", COUNTER, "", CLASSIC,
	  OF_ROWS_COUNTERS, ROWS(LEVEL_VM, 0), L_CPU,
	  "The virtual machine: <counter>." SETTLES, NULL },
	{ "kepler_namespace_joules", COUNTER, "joules", BOTH,
	  OF_ROW_TOTALS, ROWS(LEVEL_NAMESPACE, 6), L_TOTAL,
	  "Energy charged to the namespace: the sum of the zones that "
	  "kepler_node_joules_total has." SETTLES, NULL },
	{ "kepler_namespace_watts", GAUGE, "watts", BOTH,
	  OF_ROW_TOTALS, ROWS(LEVEL_NAMESPACE, 6), L_TOTAL,
	  "Mean power of the namespace over the last interval: its part of "
	  "kepler_node_watts.", NULL },
	{ "kepler_namespace_<zone>_joules", COUNTER, "joules", CLASSIC,
	  OF_ROWS, ROWS(LEVEL_NAMESPACE, 6), L_ROW,
	  "Energy charged to the containers and services of the namespace." SETTLES, NULL },
	{ "kepler_namespace_retired_joules", COUNTER, "joules", BOTH,
	  OF_RETIRED, ROWS(LEVEL_NAMESPACE, 6), L_ROW_ZONE,
	  "Energy of namespaces that are no longer shown.", NULL },
	{ "kepler_process_joules", COUNTER, "joules", BOTH,
	  OF_ROW_TOTALS, ROWS(LEVEL_PROCESS, 6), L_TOTAL,
	  "Energy charged to the process: the sum of the zones that "
	  "kepler_node_joules_total has." SETTLES, NULL },
	{ "kepler_process_watts", GAUGE, "watts", BOTH,
	  OF_ROW_TOTALS, ROWS(LEVEL_PROCESS, 6), L_TOTAL,
	  "Mean power of the process over the last interval: its part of "
	  "kepler_node_watts.", NULL },
	{ "kepler_process_<zone>_joules", COUNTER, "joules", CLASSIC,
	  OF_ROWS, ROWS(LEVEL_PROCESS, 6), L_ROW,
	  "Energy charged to the process; pid=\"\" and command=\"other\": the container's "
	  "processes without their own series." SETTLES, NULL },
	{ "kepler_process_retired_joules", COUNTER, "joules", BOTH,
	  OF_RETIRED, ROWS(LEVEL_PROCESS, 6), L_ROW_ZONE,
	  "Energy of the container's processes that are no longer shown.", NULL },
	{ "kepler_process_bpf_cpu_time_ms", COUNTER, "", CLASSIC,
	  OF_ROWS_CPU, ROWS(LEVEL_PROCESS, 6), L_CPU,
	  "CPU time of the process, in milliseconds." SETTLES, NULL },
	{ "kepler_process_<counter>", COUNTER, "", BOTH,
	  OF_ROWS_COUNTERS, ROWS(LEVEL_PROCESS, 0), L_CPU,
	  "The process: <counter>." SETTLES, NULL },
	{ "kepler_process_retired_<counter>", COUNTER, "", BOTH,
	  OF_RETIRED_COUNTERS, ROWS(LEVEL_PROCESS, 0), L_CPU,
	  "The container's processes that are no longer shown: <counter>.", NULL },
	{ "kepler_process_bpf_<event>", COUNTER, "", CLASSIC,
	  OF_ROWS_COUNTERS, ROWS(LEVEL_PROCESS, 0), L_CPU,
	  "The process: <counter>." SETTLES, NULL },

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
	{ "kepler_container_gpu_joules", COUNTER, "joules", ALONE,
	  OF_ROWS_DEVICES, ROWS(LEVEL_CONTAINER, 6), L_GPU_STATE,
	  "Active energy of the container in GPUs, by its use of each." SETTLES, NULL },
	{ "kepler_container_gpu_retired_joules", COUNTER, "joules", ALONE,
	  OF_RETIRED_DEVICES, ROWS(LEVEL_CONTAINER, 6), L_GPU_ROW,
	  "Active energy in GPUs of containers of this namespace that are no longer shown.", NULL },
	{ "kepler_container_gpu_watts", GAUGE, "watts", ALONE,
	  OF_ROWS_DEVICES, ROWS(LEVEL_CONTAINER, 6), L_GPU_STATE,
	  "Active power of the container in GPUs over the last interval.", NULL },
	{ "kepler_container_cpu_joules", COUNTER, "joules", CURRENT,
	  OF_ROWS, ROWS(LEVEL_CONTAINER, 6), L_CUR_STATE,
	  "Active energy of the container in a measured zone." SETTLES, NULL },
	{ "kepler_container_cpu_retired_joules", COUNTER, "joules", CURRENT,
	  OF_RETIRED, ROWS(LEVEL_CONTAINER, 6), L_CUR_ROW,
	  "Active energy of containers of this namespace that are no longer shown.", NULL },
	{ "kepler_container_cpu_watts", GAUGE, "watts", CURRENT,
	  OF_ROWS, ROWS(LEVEL_CONTAINER, 6), L_CUR_STATE,
	  "Active power of the container over the last interval.", NULL },
	{ "kepler_container_cpu_seconds", COUNTER, "seconds", CURRENT,
	  OF_ROWS_CPU, ROWS(LEVEL_CONTAINER, 9), L_NODE,
	  "CPU time of the container's processes." SETTLES, NULL },
	{ "kepler_pod_gpu_joules", COUNTER, "joules", ALONE,
	  OF_ROWS_DEVICES, ROWS(LEVEL_POD, 6), L_GPU_STATE,
	  "Active energy of the pod in GPUs, by its use of each." SETTLES, NULL },
	{ "kepler_pod_gpu_retired_joules", COUNTER, "joules", ALONE,
	  OF_RETIRED_DEVICES, ROWS(LEVEL_POD, 6), L_GPU_ROW,
	  "Active energy in GPUs of pods of this namespace that are no longer shown.", NULL },
	{ "kepler_pod_gpu_watts", GAUGE, "watts", ALONE,
	  OF_ROWS_DEVICES, ROWS(LEVEL_POD, 6), L_GPU_STATE,
	  "Active power of the pod in GPUs over the last interval.", NULL },
	{ "kepler_pod_cpu_joules", COUNTER, "joules", CURRENT,
	  OF_ROWS, ROWS(LEVEL_POD, 6), L_CUR_STATE,
	  "Active energy of the pod in a measured zone." SETTLES, NULL },
	{ "kepler_pod_cpu_retired_joules", COUNTER, "joules", CURRENT,
	  OF_RETIRED, ROWS(LEVEL_POD, 6), L_CUR_ROW,
	  "Active energy of pods of this namespace that are no longer shown.", NULL },
	{ "kepler_pod_cpu_watts", GAUGE, "watts", CURRENT,
	  OF_ROWS, ROWS(LEVEL_POD, 6), L_CUR_STATE,
	  "Active power of the pod over the last interval.", NULL },
	{ "kepler_pod_cpu_seconds", COUNTER, "seconds", CURRENT,
	  OF_ROWS_CPU, ROWS(LEVEL_POD, 9), L_NODE,
	  "CPU time of the pod." SETTLES, NULL },
	{ "kepler_vm_gpu_joules", COUNTER, "joules", ALONE,
	  OF_ROWS_DEVICES, ROWS(LEVEL_VM, 6), L_GPU_STATE,
	  "Active energy of the virtual machine in GPUs, by its use of each." SETTLES, NULL },
	{ "kepler_vm_gpu_retired_joules", COUNTER, "joules", ALONE,
	  OF_RETIRED_DEVICES, ROWS(LEVEL_VM, 6), L_GPU_ROW,
	  "Active energy in GPUs of virtual machines that are no longer shown.", NULL },
	{ "kepler_vm_gpu_watts", GAUGE, "watts", ALONE,
	  OF_ROWS_DEVICES, ROWS(LEVEL_VM, 6), L_GPU_STATE,
	  "Active power of the virtual machine in GPUs over the last interval.", NULL },
	{ "kepler_vm_cpu_joules", COUNTER, "joules", CURRENT,
	  OF_ROWS, ROWS(LEVEL_VM, 6), L_CUR_STATE,
	  "Active energy of the virtual machine in a measured zone." SETTLES, NULL },
	{ "kepler_vm_cpu_retired_joules", COUNTER, "joules", CURRENT,
	  OF_RETIRED, ROWS(LEVEL_VM, 6), L_CUR_ROW,
	  "Active energy of virtual machines that are no longer shown.", NULL },
	{ "kepler_vm_cpu_watts", GAUGE, "watts", CURRENT,
	  OF_ROWS, ROWS(LEVEL_VM, 6), L_CUR_STATE,
	  "Active power of the virtual machine over the last interval.", NULL },
	{ "kepler_vm_cpu_seconds", COUNTER, "seconds", CURRENT,
	  OF_ROWS_CPU, ROWS(LEVEL_VM, 9), L_NODE,
	  "CPU time of the virtual machine." SETTLES, NULL },
	{ "kepler_namespace_gpu_joules", COUNTER, "joules", ALONE,
	  OF_ROWS_DEVICES, ROWS(LEVEL_NAMESPACE, 6), L_GPU_STATE,
	  "Active energy of the namespace in GPUs, by its use of each." SETTLES, NULL },
	{ "kepler_namespace_gpu_retired_joules", COUNTER, "joules", ALONE,
	  OF_RETIRED_DEVICES, ROWS(LEVEL_NAMESPACE, 6), L_GPU_ROW,
	  "Active energy in GPUs of namespaces that are no longer shown.", NULL },
	{ "kepler_namespace_cpu_joules", COUNTER, "joules", CURRENT,
	  OF_ROWS, ROWS(LEVEL_NAMESPACE, 6), L_CUR_STATE,
	  "Active energy of the namespace in a measured zone." SETTLES, NULL },
	{ "kepler_namespace_cpu_retired_joules", COUNTER, "joules", CURRENT,
	  OF_RETIRED, ROWS(LEVEL_NAMESPACE, 6), L_CUR_ROW,
	  "Active energy of namespaces that are no longer shown.", NULL },
	{ "kepler_process_gpu_joules", COUNTER, "joules", ALONE,
	  OF_ROWS_DEVICES, ROWS(LEVEL_PROCESS, 6), L_GPU_STATE,
	  "Active energy of the process in GPUs, by its use of each." SETTLES, NULL },
	{ "kepler_process_gpu_retired_joules", COUNTER, "joules", ALONE,
	  OF_RETIRED_DEVICES, ROWS(LEVEL_PROCESS, 6), L_GPU_ROW,
	  "Active energy in GPUs of the container's processes that are no longer shown.", NULL },
	{ "kepler_process_gpu_watts", GAUGE, "watts", ALONE,
	  OF_ROWS_DEVICES, ROWS(LEVEL_PROCESS, 6), L_GPU_STATE,
	  "Active power of the process in GPUs over the last interval.", NULL },
	{ "kepler_process_cpu_joules", COUNTER, "joules", CURRENT,
	  OF_ROWS, ROWS(LEVEL_PROCESS, 6), L_CUR_STATE,
	  "Active energy of the process in a measured zone." SETTLES, NULL },
	{ "kepler_process_cpu_retired_joules", COUNTER, "joules", CURRENT,
	  OF_RETIRED, ROWS(LEVEL_PROCESS, 6), L_CUR_ROW,
	  "Active energy of the container's processes that are no longer shown.", NULL },
	{ "kepler_process_cpu_watts", GAUGE, "watts", CURRENT,
	  OF_ROWS, ROWS(LEVEL_PROCESS, 6), L_CUR_STATE,
	  "Active power of the process over the last interval.", NULL },
	{ "kepler_process_cpu_seconds", COUNTER, "seconds", CURRENT,
	  OF_ROWS_CPU, ROWS(LEVEL_PROCESS, 9), L_NODE,
	  "CPU time of the process." SETTLES, NULL },
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
	{ "kepler_exporter_cpu_seconds", COUNTER, "seconds", BOTH,
	  OF_SNAPSHOT, SELF(cpu_seconds, 0), L_NONE,
	  "CPU time used by Kepler, including its BPF passes over the threads in the "
	  "kernel.", NULL },
	{ "kepler_exporter_wakeups", COUNTER, "", BOTH,
	  OF_SNAPSHOT, SELF(wakeups, 0), L_NONE,
	  "Wake-ups of Kepler's threads (voluntary context switches).",
	  NULL },
	{ "kepler_exporter_bpf_seconds", COUNTER, "seconds", BOTH,
	  OF_SNAPSHOT, SELF(bpf_seconds, 0), L_NONE,
	  "Part of Kepler's CPU time spent in BPF passes over the threads. The time of the hooks "
	  "at the end of a thread counts for that thread.", NULL },
	{ "kepler_exporter_resident_memory_bytes", GAUGE, "bytes", BOTH,
	  OF_SNAPSHOT, SELF(rss_bytes, 0), L_NONE,
	  "Resident memory of Kepler.", NULL },
	{ "kepler_exporter_resident_memory_max_bytes", GAUGE, "bytes", BOTH,
	  OF_SNAPSHOT, SELF(max_rss_bytes, 0), L_NONE,
	  "Highest resident memory of Kepler so far.", NULL },
	{ "kepler_exporter_open_fds", GAUGE, "", BOTH,
	  OF_SNAPSHOT, SELF(open_fds, 0), L_NONE,
	  "Open file descriptors of Kepler.", NULL },
	{ "kepler_exporter_threads", GAUGE, "", BOTH,
	  OF_SNAPSHOT, SELF(threads, 0), L_NONE,
	  "Threads of Kepler.", NULL },
	{ "kepler_exporter_interval_seconds", GAUGE, "seconds", BOTH,
	  OF_SNAPSHOT, SELF(interval_s, 0), L_NONE,
	  "Configured time between two readings.", NULL },
	{ "kepler_exporter_interval_duration_seconds", HISTOGRAM, "seconds", BOTH,
	  OF_INTERVALS, HISTOGRAMS, L_NONE,
	  "Time that reading, attributing and publishing took in each interval.", NULL },
	{ "kepler_exporter_loop_step_seconds", HISTOGRAM, "seconds", BOTH,
	  OF_STEPS, HISTOGRAMS, LABELS(POINT_STEP),
	  "Duration of each step of the loop, which shows what made an interval late. signals: "
	  "signals and reloads; self: Kepler's own costs, names, connection deadlines, state; "
	  "meters, activity, identity, attribution, publication: the parts of an interval; table: "
	  "the live table.", NULL },
	{ "kepler_exporter_intervals_missed", COUNTER, "", BOTH,
	  OF_SNAPSHOT, SELF(intervals_missed, 0), L_NONE,
	  "Intervals that started late because the previous one took too long.", NULL },
	{ "kepler_exporter_snapshots", COUNTER, "", BOTH,
	  OF_SNAPSHOT, AT(struct snapshot, sequence, 0), L_NONE,
	  "Snapshots published; this page shows the latest.", NULL },
	{ "kepler_exporter_snapshot_timestamp_seconds", GAUGE, "seconds", BOTH,
	  OF_SNAPSHOT, AT(struct snapshot, realtime_ms, 3), L_NONE,
	  "When the snapshot on this page was published, as Unix time.", NULL },
	{ "kepler_exporter_settle_seconds", GAUGE, "seconds", BOTH,
	  OF_SNAPSHOT, SELF(settle_s, 0), L_NONE,
	  "How long a new series shows 0 (--metrics.settle), as of this page.", NULL },
	{ "kepler_exporter_scrape_clients", GAUGE, "", BOTH,
	  OF_SNAPSHOT, SELF(scrape_clients, 0), L_NONE,
	  "Clients that have scraped at least twice in the last ten minutes. --metrics.settle=auto "
	  "uses the longest gap between two scrapes by one of them.", NULL },
	{ "kepler_exporter_scrape_clients_forgotten", COUNTER, "", BOTH,
	  OF_SNAPSHOT, SELF(scrape_clients_forgotten, 0), L_NONE,
	  "Scrape clients dropped from the table because it was full. For the next ten minutes a "
	  "new series settles for at least a minute.", NULL },
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
	  "Zones whose values are counted although they are not quite what they should be: always "
	  "1. caveat: inactive, the BMC says that it does not measure power, yet has a value; "
	  "output, the power that supplies give to the machine, without their own losses; "
	  "ambiguous, another meter may measure the same or another part of the machine.", NULL },
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
	{ "kepler_exporter_activity_reader", INFO, "", BOTH,
	  OF_SNAPSHOT, ONE, LABELS(POINT_READER),
	  "The reader that measures the run time of processes.", NULL },
	{ "kepler_exporter_activity_drops", COUNTER, "", BOTH,
	  OF_SNAPSHOT, SELF(activity_drops, 0), L_NONE,
	  "Records of ended tasks that did not fit into the buffer; their time is charged without "
	  "a name.",
	  NULL },
	{ "kepler_exporter_activity_errors", COUNTER, "", BOTH,
	  OF_SNAPSHOT, SELF(activity_errors, 0), L_NONE,
	  "Passes over the processes that failed.", NULL },
	{ "kepler_exporter_tasks_walked", COUNTER, "", BOTH,
	  OF_SNAPSHOT, SELF(tasks_walked, 0), L_NONE,
	  "Threads that the passes examined.", NULL },
	{ "kepler_exporter_tasks_sent", COUNTER, "", BOTH,
	  OF_SNAPSHOT, SELF(tasks_sent, 0), L_NONE,
	  "Threads that had run and were reported to user space.", NULL },
	{ "kepler_exporter_threads_known", GAUGE, "", BOTH,
	  OF_SNAPSHOT, SELF(threads_known, 0), L_NONE,
	  "Threads whose run time is kept between passes.", NULL },
	{ "kepler_exporter_bpf_programs_refused", GAUGE, "", BOTH,
	  OF_SNAPSHOT, SELF(bpf_programs_refused, 0), L_NONE,
	  "BPF programs that this kernel should accept and refuses; the log and doctor "
	  "report which, and the consequences.", NULL },
	{ "kepler_exporter_io_dropped", COUNTER, "", BOTH,
	  OF_SNAPSHOT, SELF(io_dropped, 0), L_NONE,
	  "I/O events that belong to no container because the kernel's table of cgroups was "
	  "full.", NULL },
	{ "kepler_exporter_softirqs_without_cause", COUNTER, "", BOTH,
	  OF_SNAPSHOT, SELF(softirqs_without_cause, 0), L_NONE,
	  "Softirqs of network and block devices that belong to no container because no socket "
	  "or request was seen in them. 0 where softirqs are not counted.", NULL },
	{ "kepler_exporter_softirq_seconds_without_cause", COUNTER, "", BOTH,
	  OF_SNAPSHOT, SELF(softirq_seconds_without_cause, 0), L_NONE,
	  "Time of such softirqs, in seconds.", NULL },
	{ "kepler_exporter_switches_counted", GAUGE, "", BOTH,
	  OF_SNAPSHOT, SELF(switches_counted, 0), L_NONE,
	  "1 if Kepler traces context switches (counters.switches), otherwise 0.", NULL },
	{ "kepler_exporter_counters", GAUGE, "", BOTH,
	  OF_SNAPSHOT, SELF(counters, 0), L_NONE,
	  "Hardware events that are counted per process. kepler doctor lists them, and the reasons "
	  "why others are not counted.",
	  NULL },
	{ "kepler_exporter_counters_uncounted_cpus", GAUGE, "cpus", BOTH,
	  OF_SNAPSHOT, SELF(counters_uncounted_cpus, 0), L_NONE,
	  "Online CPUs on which such an event is not counted, because they came online after "
	  "startup (counters.enabled=true is needed for these) or their type of core lacks it.",
	  NULL },
	{ "kepler_exporter_threads_without_work", COUNTER, "", BOTH,
	  OF_SNAPSHOT, SELF(threads_without_work, 0), L_NONE,
	  "Times that the kernel had no memory for a thread's counters between context switches. "
	  "Only the thread's run time is counted then.",
	  NULL },
	{ "kepler_exporter_work_lost_seconds", COUNTER, "seconds", BOTH,
	  OF_SNAPSHOT, SELF(work_lost_seconds, 0), L_NONE,
	  "Run time counted at context switches that was assigned to no process because a buffer "
	  "or a table was full.",
	  NULL },
	{ "kepler_exporter_own_pid_namespace", GAUGE, "", BOTH,
	  OF_SNAPSHOT, SELF(own_pid_namespace, 0), L_NONE,
	  "1 if Kepler runs in its own PID namespace, so that /proc does not show the machine's "
	  "processes; otherwise 0.",
	  NULL },
	{ "kepler_exporter_cgroups_missed", COUNTER, "", BOTH,
	  OF_SNAPSHOT, SELF(cgroups_missed, 0), L_NONE,
	  "New cgroups missed because the kernel's buffer was full: short work there may lack an "
	  "owner.", NULL },
	{ "kepler_exporter_process_reads_outstanding", GAUGE, "", BOTH,
	  OF_SNAPSHOT, SELF(process_reads_outstanding, 0), L_NONE,
	  "Reads of processes' command lines and cgroups that have not returned yet. They can "
	  "hang, so they run on separate threads. Until the read returns, the process belongs to "
	  "its cgroup or, if the cgroup is being read, to its last owner or the system.", NULL },
	{ "kepler_exporter_process_reads_late", COUNTER, "", BOTH,
	  OF_SNAPSHOT, SELF(process_reads_late, 0), L_NONE,
	  "Reads of processes' command lines and cgroups that took longer than a second.", NULL },
	{ "kepler_exporter_unseen_processes", GAUGE, "", BOTH,
	  OF_SNAPSHOT, SELF(unseen_processes, 0), L_NONE,
	  "Processes visible in /proc but hidden from BPF by the kernel. At most 32 are read from "
	  "/proc; the CPU time of any others is unseen. Kepler looks for them at the start and "
	  "every 4,096 intervals.", NULL },
	{ "kepler_exporter_unseen_cpu_seconds", COUNTER, "seconds", BOTH,
	  OF_SNAPSHOT, SELF(unseen_cpu_seconds, 0), L_NONE,
	  "CPU time of these processes since they were found, from /proc.", NULL },
	{ "kepler_exporter_unseen_work_seconds", COUNTER, "seconds", BOTH,
	  OF_SNAPSHOT, SELF(unseen_work_seconds, 0), L_NONE,
	  "CPU time in /proc/stat that belongs to no visible process, beyond the possible error of "
	  "tick sampling. Its energy is unattributed, with reason=\"unseen\".", NULL },
	{ "kepler_exporter_machine_time_up", GAUGE, "", BOTH,
	  OF_SNAPSHOT, SELF(machine_time_up, 0), L_NONE,
	  "1 if /proc/stat counts the machine's CPU time; 0 if it is hidden or does not advance, "
	  "in which case unseen time is unknown.", NULL },
	{ "kepler_exporter_activity_partial", GAUGE, "", BOTH,
	  OF_SNAPSHOT, SELF(activity_partial, 0), L_NONE,
	  "1 if processes of this machine are hidden from Kepler by a PID namespace or hidepid, "
	  "otherwise 0.", NULL },
	{ "kepler_exporter_meters_searching", GAUGE, "", BOTH,
	  OF_SNAPSHOT, SELF(meters_searching, 0), L_NONE,
	  "1 if the first search for energy meters is still waiting for a driver that does not "
	  "respond, otherwise 0. Energy is estimated meanwhile.", NULL },
	{ "kepler_exporter_zones_without_value", GAUGE, "", BOTH,
	  OF_SNAPSHOT, SELF(zones_silent, 0), L_NONE,
	  "Zones that were found but have not given a single value since Kepler started. They have "
	  "no series and are in no total.", NULL },
	{ "kepler_exporter_zones_left_out", GAUGE, "", BOTH,
	  OF_SNAPSHOT, SELF(zones_left_out, 0), L_NONE,
	  "Energy zones that were found but are not read, because another zone counts the same "
	  "energy, because they are a single core of a package (AMD), or because there are too "
	  "many.", NULL },
	{ "kepler_exporter_device_files_unread", GAUGE, "", BOTH,
	  OF_SNAPSHOT, SELF(device_files_unread, 0), L_NONE,
	  "Open device files of AMD and Intel GPUs beyond the limits per process or in total. "
	  "Their use is unknown; GPU time that no known client explains is unseen.",
	  NULL },
	{ "kepler_exporter_packages_exceeded", GAUGE, "", BOTH,
	  OF_SNAPSHOT, SELF(packages_exceeded, 0), L_NONE,
	  "Packages whose parts, core and uncore, counted more energy over the last minute than "
	  "the package itself, so that one of the counters is wrong. Nothing is corrected.", NULL },
	{ "kepler_exporter_name_source_up", GAUGE, "", BOTH,
	  OF_NAME_SOURCES, NAMES(up), LABELS(POINT_NAME_SOURCE, POINT_VIA),
	  "1 if this source of container names responds, otherwise 0.", NULL },
	{ "kepler_exporter_name_source_age_seconds", GAUGE, "seconds", BOTH,
	  OF_NAME_SOURCES, NAMES(age_s), L_NAMES,
	  "Time since the last response of the source.", NULL },
	{ "kepler_exporter_name_source_containers", GAUGE, "", BOTH,
	  OF_NAME_SOURCES, NAMES(containers), L_NAMES,
	  "Existing containers that the source has named.", NULL },
	{ "kepler_exporter_name_source_requests", COUNTER, "", BOTH,
	  OF_NAME_SOURCES, NAMES(requests), L_NAMES,
	  "Requests to the source, or scans of its files.", NULL },
	{ "kepler_exporter_name_source_failures", COUNTER, "", BOTH,
	  OF_NAME_SOURCES, NAMES(failures), L_NAMES,
	  "Requests to the source that failed.", NULL },
	{ "kepler_exporter_name_source_bad", COUNTER, "", BOTH,
	  OF_NAME_SOURCES, NAMES(bad), L_NAMES,
	  "Pods or containers skipped because the source's description was invalid.",
	  NULL },
	{ "kepler_exporter_name_source_labels_lost", COUNTER, "", BOTH,
	  OF_NAME_SOURCES, NAMES(labels_lost), L_NAMES,
	  "Labels and annotations (--kube.pod-labels) that were cut to 127 bytes, or left out "
	  "because those of one pod exceed 1,023 bytes.",
	  NULL },
	{ "kepler_exporter_name_lookups", COUNTER, "", BOTH,
	  OF_LOOKUPS, VARIANTS, LABELS(POINT_RESULT),
	  "Containers looked up by id: found, unknown so far, or refused because the directory is "
	  "full.", lookups },
	{ "kepler_exporter_pod_resources_up", GAUGE, "", BOTH,
	  OF_HOLDERS, SELF(pod_resources.up, 0), L_NONE,
	  "1 if the kubelet reports which containers hold devices, otherwise 0.", NULL },
	{ "kepler_exporter_pod_resources_requests", COUNTER, "", BOTH,
	  OF_HOLDERS, SELF(pod_resources.requests, 0), L_NONE,
	  "Calls of the kubelet's PodResources API that reached the kubelet.", NULL },
	{ "kepler_exporter_pod_resources_failures", COUNTER, "", BOTH,
	  OF_HOLDERS, SELF(pod_resources.failures, 0), L_NONE,
	  "Calls of the kubelet's PodResources API that failed.", NULL },
	{ "kepler_exporter_pod_resources_bad", COUNTER, "", BOTH,
	  OF_HOLDERS, SELF(pod_resources.bad, 0), L_NONE,
	  "Pods, containers and devices skipped because the kubelet's description was "
	  "invalid.", NULL },
	{ "kepler_exporter_pod_resources_ids", GAUGE, "", BOTH,
	  OF_HOLDERS, VARIANTS, LABELS(POINT_RESULT),
	  "Ids of GPUs that the kubelet has allocated. held: by a container that runs here; "
	  "nameless: the container is unknown here or not running; unknown: no zone is that GPU "
	  "(for example part of one, with MIG); beyond: the table is full.", allocations },
	{ "kepler_exporter_model_files_up", GAUGE, "", BOTH,
	  OF_MODEL_FILES, SELF(model_files.up, 0), L_NONE,
	  "1 if each file of --model.file is usable as it is on disk now, otherwise 0.", NULL },
	{ "kepler_exporter_model_files_changes", COUNTER, "", BOTH,
	  OF_MODEL_FILES, SELF(model_files.taken, 0), L_NONE,
	  "Files of --model.file that changed while Kepler ran and were loaded again.",
	  NULL },
	{ "kepler_exporter_model_files_refused", COUNTER, "", BOTH,
	  OF_MODEL_FILES, SELF(model_files.refused, 0), L_NONE,
	  "Files of --model.file that changed while Kepler ran and were refused. The previous "
	  "model stays in use; the log and `kepler doctor` show the reason.", NULL },
	{ "kepler_exporter_model_fetch_up", GAUGE, "", BOTH,
	  OF_MODEL_FETCH, SELF(model_fetch.up, 0), L_NONE,
	  "1 if the last response of --model.url was a usable model or \"not modified\", otherwise "
	  "0.", NULL },
	{ "kepler_exporter_model_fetch_age_seconds", GAUGE, "seconds", BOTH,
	  OF_MODEL_FETCH, SELF(model_fetch.age_s, 0), L_NONE,
	  "Time since the last such response; absent before the first.", NULL },
	{ "kepler_exporter_model_fetch_newer", GAUGE, "", BOTH,
	  OF_MODEL_FETCH, SELF(model_fetch.is_newer, 0), L_NONE,
	  "1 if the most recently fetched model is not in use because it does not fit this "
	  "machine, otherwise 0.", NULL },
	{ "kepler_exporter_model_fetch_requests", COUNTER, "", BOTH,
	  OF_MODEL_FETCH, SELF(model_fetch.requests, 0), L_NONE,
	  "Requests that reached the host of --model.url.", NULL },
	{ "kepler_exporter_model_fetch_failures", COUNTER, "", BOTH,
	  OF_MODEL_FETCH, SELF(model_fetch.failures, 0), L_NONE,
	  "Times that no usable model could be fetched from there, including refused "
	  "models.", NULL },
	{ "kepler_exporter_model_fetch_refused", COUNTER, "", BOTH,
	  OF_MODEL_FETCH, SELF(model_fetch.refused, 0), L_NONE,
	  "Models from there that were refused because of their checksum, signature, syntax or "
	  "predictions.", NULL },
	{ "kepler_exporter_series_limit", GAUGE, "", BOTH,
	  OF_SNAPSHOT, SELF(max_series, 0), L_NONE,
	  "Limit on the series of rows in one response, in each schema (--metrics.max-series).",
	  NULL },
	{ "kepler_exporter_series_merged", COUNTER, "", BOTH,
	  OF_LEVELS, AT(struct snapshot_table, merged, 0), LABELS(POINT_LEVEL),
	  "Rows that were moved to retired early because of a limit.", NULL },
	{ "kepler_exporter_table_overflows", COUNTER, "", BOTH,
	  OF_SNAPSHOT, VARIANTS, LABELS(POINT_TABLE),
	  "Times that a process, container, pod, VM or namespace did not fit into a table; its use "
	  "is in a row \"other\". table=\"machines\": times that a process that may be a virtual "
	  "machine was not examined; it belongs to its cgroup.", overflows },
	{ "kepler_exporter_state_write_errors", COUNTER, "", BOTH,
	  OF_SNAPSHOT, SELF(state_write_errors, 0), L_NONE,
	  "Times that the state file could not be read or written in time.", NULL },
	{ "kepler_exporter_recorded_intervals", COUNTER, "", BOTH,
	  OF_RECORDING, SELF(recording.intervals, 0), L_NONE,
	  "Intervals that were recorded (--record.dir) or are waiting to be written.", NULL },
	{ "kepler_exporter_recording_lost_intervals", COUNTER, "", BOTH,
	  OF_RECORDING, SELF(recording.lost, 0), L_NONE,
	  "Intervals missing from recordings because the disk was full or too slow.", NULL },
	{ "kepler_exporter_recording_errors", COUNTER, "", BOTH,
	  OF_RECORDING, SELF(recording.errors, 0), L_NONE,
	  "Times that a recording could not be written, or an old one could not be "
	  "removed.", NULL },
	{ "kepler_exporter_recording_bytes", GAUGE, "bytes", BOTH,
	  OF_RECORDING, SELF(recording.bytes, 0), L_NONE,
	  "Size of all recordings in --record.dir.", NULL },
	{ "kepler_exporter_landlock_abi", GAUGE, "", BOTH,
	  OF_SNAPSHOT, SELF(landlock_abi, 0), L_NONE,
	  "Version of the Landlock ABI with which the kernel limits the files that Kepler can read "
	  "and write; 0: no limit.", NULL },
	{ "kepler_exporter_denied_system_calls", COUNTER, "", BOTH,
	  OF_SNAPSHOT, SELF(denied_calls, 0), L_NONE,
	  "System calls that the filter denied with EPERM or ENOSYS because they are not in its "
	  "list; each is logged once.", NULL },
	{ "kepler_exporter_log_lost_lines", COUNTER, "", BOTH,
	  OF_SNAPSHOT, SELF(log_lost_lines, 0), L_NONE,
	  "Log lines lost because standard error was not read.", NULL },
	{ "kepler_exporter_config_reloads", COUNTER, "", BOTH,
	  OF_SNAPSHOT, VARIANTS, LABELS(POINT_RESULT),
	  "Requested reloads of the configuration. merged: requested while another was under way, "
	  "and answered by the one after it.", reloads },
	{ "kepler_exporter_config_last_reload_successful", GAUGE, "", BOTH,
	  OF_SNAPSHOT, SELF(last_reload_ok, 0), L_NONE,
	  "1 if the last reload succeeded, otherwise 0.", NULL },
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
	{ "kepler_exporter_http_sent_bytes", COUNTER, "bytes", BOTH,
	  OF_HTTP, HTTP(bytes_sent), L_NONE,
	  "Bytes of response bodies sent.", NULL },
};
/* clang-format on */

const struct family *catalog(size_t *ret_count)
{
	*ret_count = ARRAY_SIZE(table);
	return table;
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
