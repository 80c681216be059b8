// SPDX-License-Identifier: Apache-2.0
#include "evidence/pages/energy_metric.h"

#include "tests/unit/unit.h"

struct metric_case {
	enum exporter_kind kind;
	const char *name, *label, *value; /* one label besides mode="dynamic" */
	const char *zone;                 /* NULL: it is not taken */
	enum energy_level level;
	enum energy_part part;
	double unit;
};

#define CLASSIC EXPORTER_KEPLER_CLASSIC
#define CURRENT EXPORTER_KEPLER

static const struct metric_case cases[] = {
	{ CLASSIC, "kepler_node_package_joules_total", "mode", "idle", "package", ENERGY_NODE,
	  ENERGY_ROW, 1 },
	{ CLASSIC, "kepler_container_dram_joules_total", "mode", "dynamic", "dram",
	  ENERGY_CONTAINER, ENERGY_ROW, 1 },
	{ CLASSIC, "kepler_container_joules_total", "mode", "dynamic", NULL, 0, 0, 0 },
	{ CLASSIC, "kepler_node_cpu_joules_total", "zone", "package", NULL, 0, 0, 0 },
	{ CLASSIC, "kepler_node_gpu_joules_total", "gpu", "0", NULL, 0, 0, 0 },
	{ CLASSIC, "kepler_process_retired_joules_total", "zone", "core", "core", ENERGY_PROCESS,
	  ENERGY_GONE, 1 },
	{ CLASSIC, "kepler_node_unattributed_joules_total", "zone", "core", "core", ENERGY_NODE,
	  ENERGY_UNATTRIBUTED, 1 },
	{ CLASSIC, "kepler_node_bpf_cpu_time_ms_total", "source", "bpf", "cpu", ENERGY_NODE,
	  ENERGY_ROW, 1e-3 },
	{ CURRENT, "kepler_node_cpu_joules_total", "zone", "package", "package", ENERGY_NODE,
	  ENERGY_ROW, 1 },
	{ CURRENT, "kepler_node_cpu_active_joules_total", "zone", "package", "package",
	  ENERGY_NODE_ACTIVE, ENERGY_ROW, 1 },
	{ CURRENT, "kepler_node_cpu_idle_joules_total", "zone", "package", NULL, 0, 0, 0 },
	{ CURRENT, "kepler_node_gpu_joules_total", "gpu", "0", "gpu", ENERGY_NODE, ENERGY_ROW, 1 },
	{ CURRENT, "kepler_node_gpu_active_joules_total", "gpu", "0", "gpu", ENERGY_NODE_ACTIVE,
	  ENERGY_ROW, 1 },
	{ CURRENT, "kepler_node_gpu_idle_joules_total", "gpu", "0", NULL, 0, 0, 0 },
	{ CURRENT, "kepler_container_gpu_joules_total", "container_id", "1", "gpu",
	  ENERGY_CONTAINER, ENERGY_ROW, 1 },
	{ CURRENT, "kepler_pod_gpu_retired_joules_total", "pod_id", "1", "gpu", ENERGY_POD,
	  ENERGY_GONE, 1 },
	{ CURRENT, "kepler_process_gpu_joules_total", "mode", "dynamic", NULL, 0, 0, 0 },
	{ CURRENT, "kepler_process_cpu_retired_joules_total", "zone", "core", "core",
	  ENERGY_PROCESS, ENERGY_GONE, 1 },
	{ CURRENT, "kepler_node_unattributed_joules_total", "mode", "idle", NULL, 0, 0, 0 },
	{ CURRENT, "kepler_process_cpu_retired_joules_total", "pid", "1", NULL, 0, 0, 0 },
	{ CURRENT, "kepler_vm_cpu_joules_total", "zone", "dram", "dram", ENERGY_VM, ENERGY_ROW, 1 },
	{ EXPORTER_SCAPHANDRE, "scaph_socket_energy_microjoules", "socket_id", "0", "package",
	  ENERGY_NODE, ENERGY_ROW, 1e-6 },
	{ EXPORTER_SCAPHANDRE, "scaph_domain_energy_microjoules", "domain_name", "dram", "dram",
	  ENERGY_NODE, ENERGY_ROW, 1e-6 },
	{ EXPORTER_SCAPHANDRE, "scaph_host_power_microwatts", "x", "", NULL, 0, 0, 0 },
	{ CURRENT, "kepler_process_cpu_seconds_total", "pid", "1", "cpu", ENERGY_PROCESS,
	  ENERGY_ROW, 1 },
	{ CURRENT, "kepler_pod_cpu_seconds_total", "pod_id", "1", "cpu", ENERGY_POD, ENERGY_ROW,
	  1 },
	{ CURRENT, "kepler_node_cpu_seconds_total", "cpu", "0", NULL, 0, 0, 0 },
	{ EXPORTER_ALUMET, "cpu_time_delta_alumet_nanoseconds", "resource_consumer_kind", "process",
	  "cpu", ENERGY_PROCESS, ENERGY_ROW, 1e-9 },
	{ EXPORTER_ALUMET, "rapl_consumed_energy_joules", "domain", "package_total", NULL, 0, 0,
	  0 },
	{ EXPORTER_ALUMET, "rapl_consumed_energy_J", "domain", "package", "package", ENERGY_NODE,
	  ENERGY_ROW, 1 },
	{ EXPORTER_NODE_EXPORTER, "node_rapl_package_joules_total", "index", "0", "package",
	  ENERGY_NODE, ENERGY_ROW, 1 },
	{ EXPORTER_NODE_EXPORTER, "node_rapl_joules_total", "rapl_zone", "dram", "dram",
	  ENERGY_NODE, ENERGY_ROW, 1 },
	{ EXPORTER_NODE_EXPORTER, "node_rapl_joules_total", "index", "0", NULL, 0, 0, 0 },
	{ EXPORTER_NODE_EXPORTER, "node_cpu_seconds_total", "cpu", "0", NULL, 0, 0, 0 },
};

static void names_have_a_meaning(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct metric_case *want = &cases[i];
		const struct page_series series = {
			want->name, 1, { want->label }, { want->value }, 1
		};
		struct energy_metric metric;
		bool is_taken = energy_metric_find(want->kind, &series, &metric);

		if (is_taken != (want->zone != NULL))
			fail_msg("%s: taken %d", want->name, is_taken);
		if (!is_taken)
			continue;
		assert_string_equal(metric.zone, want->zone);
		assert_int_equal(metric.level, want->level);
		assert_int_equal(metric.part, want->part);
		assert_true(fabs(metric.unit - want->unit) < 1e-12);
	}
}

static void exporters_are_known_by_their_metrics(void **state)
{
	assert_int_equal(exporter_kind_of("kepler_exporter_snapshot_timestamp_seconds"),
			 EXPORTER_KEPLER_C);
	assert_int_equal(exporter_kind_of("kepler_node_package_joules_total"), CLASSIC);
	assert_int_equal(exporter_kind_of("kepler_node_cpu_joules_total"), CURRENT);
	assert_int_equal(exporter_kind_of("scaph_self_version"), EXPORTER_SCAPHANDRE);
	assert_int_equal(exporter_kind_of("rapl_consumed_energy_J"), EXPORTER_ALUMET);
	assert_int_equal(exporter_kind_of("node_rapl_package_joules_total"),
			 EXPORTER_NODE_EXPORTER);
	assert_int_equal(exporter_kind_of("node_cpu_seconds_total"), EXPORTER_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_have_a_meaning),
		cmocka_unit_test(exporters_are_known_by_their_metrics),
	};
	return unit_run(tests);
}
