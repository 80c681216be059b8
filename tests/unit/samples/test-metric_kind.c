// SPDX-License-Identifier: Apache-2.0
#include "samples/metric_kind.h"

#include "tests/unit/unit.h"

#define assert_near(a, b, slack) assert_true(fabs((a) - (b)) <= (slack))

/* @labels: "__name__", a name, then name and value in turn; ends with NULL. */
static struct series_labels make(const char *const *words)
{
	struct series_labels labels = { .count = 0 };

	for (; words[0]; words += 2) {
		labels.name[labels.count] = words[0];
		labels.value[labels.count++] = words[1];
	}
	return labels;
}

static struct metric_kind find(const char *name, const char *zone, enum metric_level level)
{
	const char *words[] = { "__name__", name, zone ? "zone" : NULL, zone, NULL };
	struct series_labels labels = make(words);
	struct metric_kind kind;

	metric_kind_find(&labels, level, &kind);
	return kind;
}

static void expect(const char *name, const char *zone, enum metric_subject subject,
		   const char *found, uint8_t rank)
{
	struct metric_kind kind = find(name, zone, METRIC_CONTAINER);

	assert_int_equal(kind.subject, subject);
	if (found) {
		assert_string_equal(kind.name, found);
		assert_int_equal(kind.rank, rank);
	}
}

static void test_power(void **state)
{
	expect("kepler_node_package_joules_total", NULL, METRIC_POWER, "package", 0);
	expect("kepler_node_cpu_joules_total", "package-1", METRIC_POWER, "package", 1);
	expect("kepler_node_cpu_joules_total", "DRAM", METRIC_POWER, "dram", 1);
	expect("kepler_platform_watts", NULL, METRIC_POWER, "platform", 2);
	expect("kepler_node_gpu_joules_total", NULL, METRIC_POWER, "gpu", 0);
	expect("kepler_node_joules_total", NULL, METRIC_IGNORED, NULL, 0);
	expect("kepler_node_other_joules_total", NULL, METRIC_IGNORED, NULL, 0);
	expect("kepler_node_cpu_active_joules_total", "package", METRIC_IGNORED, NULL, 0);
	expect("kepler_node_unattributed_joules_total", "package", METRIC_IGNORED, NULL, 0);
	expect("kepler_node_package_watts", NULL, METRIC_IGNORED, NULL, 0);
	expect("kepler_container_package_joules_total", NULL, METRIC_IGNORED, NULL, 0);
}

static void test_features(void **state)
{
	struct metric_kind kind;

	expect("kepler_container_cpu_cycles_total", NULL, METRIC_FEATURE, "cpu_cycles", 0);
	expect("kepler_container_retired_cpu_cycles_total", NULL, METRIC_IGNORED, NULL, 0);
	expect("kepler_process_cpu_cycles_total", NULL, METRIC_IGNORED, NULL, 0);
	expect("kepler_container_cpu_usage_per_package_ratio", NULL, METRIC_IGNORED, "", 0);
	expect("kepler_node_cpu_scaling_frequency_hertz", NULL, METRIC_FREQUENCY, "", 0);
	expect("up", NULL, METRIC_IGNORED, NULL, 0);
	expect("", NULL, METRIC_IGNORED, NULL, 0);
	kind = find("kepler_process_cpu_seconds_total", NULL, METRIC_PROCESS);
	assert_string_equal(kind.name, "bpf_cpu_time_ms");
	assert_near(kind.factor, 1000, 0);
	assert_int_equal(kind.rank, 1);
	kind = find("kepler_node_cpu_cycles_total", NULL, METRIC_NODE);
	assert_int_equal(kind.subject, METRIC_FEATURE);
	kind = find("kepler_node_unattributed_cpu_cycles_total", NULL, METRIC_NODE);
	assert_int_equal(kind.subject, METRIC_IGNORED);
	assert_false(kind.is_gauge);
}

static void test_labels(void **state)
{
	const char *package[] = { "package", "3", NULL }, *zone[] = { "zone", "package-2", NULL },
		   *none[] = { "path", "x", NULL };
	const char *owner[] = { "pod_name", "p", "container_id", "c", NULL };
	struct series_labels labels = make(package);
	char name[16], cut[3];

	assert_int_equal(metric_package(&labels), 3);
	labels = make(zone);
	assert_int_equal(metric_package(&labels), 2);
	labels = make(none);
	assert_int_equal(metric_package(&labels), 0);
	labels = make(owner);
	metric_owner(&labels, METRIC_CONTAINER, name, sizeof(name));
	assert_string_equal(name, "c/p//");
	metric_owner(&labels, METRIC_CONTAINER, cut, sizeof(cut));
	assert_string_equal(cut, "c/");
	metric_owner(&labels, METRIC_NODE, name, sizeof(name));
	assert_string_equal(name, "");
}

static void test_sources(void **state)
{
	assert_true(metric_source_matches("intel_rapl", "rapl-sysfs"));
	assert_true(metric_source_matches("", "acpi"));
	assert_true(metric_source_matches("acpi", "acpi"));
	assert_false(metric_source_matches("acpi", "rapl-sysfs"));
	assert_true(metric_is_collected("kepler_node_package_joules_total"));
	assert_false(metric_is_collected("kepler_exporter_build_info"));
	assert_false(metric_is_collected("up"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_power),
		cmocka_unit_test(test_features),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_sources),
	};

	return unit_run(tests);
}
