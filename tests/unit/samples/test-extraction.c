// SPDX-License-Identifier: Apache-2.0
#include "samples/extraction.h"

#include <unistd.h>

#include "tests/unit/unit.h"

#define assert_near(a, b, slack) assert_true(fabs((a) - (b)) <= (slack))

/* Series as JSON, and a reading of them from memory. */
static struct strbuf text;

static void add_series(const char *labels, const char *values)
{
	strbuf_addf(&text, "%s{\"metric\":{%s},\"values\":[%s]}", text.len ? "," : "[", labels,
		    values);
}

static int read_text(void *userdata, const struct series_sink *sink, struct diag *diag)
{
	(void)userdata;
	return series_read_text(text.data, text.len, sink, NULL, diag);
}

static int extract(const struct extract_options *options, struct extraction *ret, struct diag *diag)
{
	int r;

	strbuf_add_char(&text, ']');
	r = extraction_run(options, read_text, NULL, ret, diag);
	strbuf_reset(&text);
	return r;
}

#define NAME(name)  "\"__name__\":\"" name "\""
#define LABEL(k, v) ",\"" k "\":\"" v "\""
#define PACKAGE(package, mode)                                                                     \
	NAME("kepler_node_package_joules_total")                                                   \
	LABEL("source", "rapl-sysfs") LABEL("package", package) LABEL("mode", mode)
#define CYCLES(id) NAME("kepler_container_cpu_cycles_total") LABEL("container_id", id)

static const struct extract_options usual = {
	.sources = { "rapl-sysfs" },
	.source_count = 1,
	.level = METRIC_CONTAINER,
	.node = "",
};

static double cell(const struct extraction *extraction, const char *name, size_t row)
{
	size_t column = sample_table_find(&extraction->table, name);

	assert_int_not_equal(column, SAMPLE_COLUMN_NONE);
	return extraction->table.columns[column][row];
}

static void test_power_and_features(void **state)
{
	struct extract_options options = usual;
	struct extraction all;
	struct diag diag = { "" };

	add_series(PACKAGE("0", "dynamic"), "[10,\"0\"],[12,\"20\"],[14,\"60\"]");
	add_series(PACKAGE("0", "idle"), "[10,\"5\"],[12,\"9\"],[14,\"13\"]");
	add_series(PACKAGE("1", "dynamic"), "[10,\"0\"],[12,\"2\"],[14,\"4\"]");
	add_series(CYCLES("a"), "[10,\"100\"],[12,\"300\"],[14,\"300\"]");
	add_series(CYCLES("b"), "[12,\"7\"],[14,\"27\"]");
	add_series(NAME("kepler_node_cpu_scaling_frequency_hertz") LABEL("cpu", "0"),
		   "[10,\"1\"],[12,\"1000\"],[14,\"3000\"]");
	add_series(NAME("kepler_node_cpu_scaling_frequency_hertz") LABEL("cpu", "1"),
		   "[10,\"1\"],[12,\"2000\"],[14,\"5000\"]");
	assert_int_equal(extract(&options, &all, &diag), 0);
	assert_int_equal(all.table.rows, 2);
	assert_near(cell(&all, "timestamp", 0), 12, 0);
	assert_near(cell(&all, "package_power", 0), 13, 1e-9);
	assert_near(cell(&all, "package_power", 1), 23, 1e-9);
	assert_near(cell(&all, "cpu_cycles", 0), 100, 1e-9);
	assert_near(cell(&all, "cpu_cycles", 1), 10, 1e-9);
	assert_near(cell(&all, "cpu_scaling_frequency_hertz", 1), 4000, 1e-9);
	assert_near(all.components[0].energy_j, 72, 1e-9);
	extraction_release(&all);
}

/* A value of the node, whatever the level; before it is known it has no value. */
static void test_stolen_time(void **state)
{
	struct extract_options options = usual;
	struct extraction all;
	struct diag diag = { "" };

	for (unsigned by_owner = 0; by_owner < 2; by_owner++) {
		add_series(PACKAGE("0", "dynamic"),
			   "[10,\"0\"],[12,\"20\"],[14,\"60\"],[16,\"90\"]");
		add_series(CYCLES("a"), "[10,\"0\"],[12,\"20\"],[14,\"60\"],[16,\"90\"]");
		add_series(NAME("kepler_node_cpu_steal_seconds_total"),
			   "[12,\"0.5\"],[14,\"2.5\"],[16,\"3\"]");
		options.by_owner = by_owner;
		assert_int_equal(extract(&options, &all, &diag), 0);
		assert_int_equal(all.table.rows, 3);
		assert_true(isnan(cell(&all, "cpu_steal_seconds", 0)));
		assert_near(cell(&all, "cpu_steal_seconds", 1), 1, 1e-9);
		assert_near(cell(&all, "cpu_steal_seconds", 2), 0.25, 1e-9);
		assert_near(cell(&all, "cpu_cycles", 1), 20, 1e-9);
		extraction_release(&all);
	}
}

/* Steps as long as the exporter's interval: one reads nothing new, the next one two intervals. */
static void test_counters_that_stand_still(void **state)
{
	struct extraction all;
	struct diag diag = { "" };

	add_series(PACKAGE("0", "dynamic"),
		   "[10,\"0\"],[11,\"20\"],[12,\"20\"],[13,\"60\"],[14,\"80\"]");
	add_series(CYCLES("a"), "[10,\"0\"],[11,\"2\"],[12,\"2\"],[13,\"6\"],[14,\"8\"]");
	assert_int_equal(extract(&usual, &all, &diag), 0);
	assert_int_equal(all.table.rows, 2);
	assert_int_equal(all.steps_left_out, 2);
	assert_int_equal(all.steps_late, 1);
	for (size_t row = 0; row < 2; row++) {
		assert_near(cell(&all, "package_power", row), 20, 1e-9);
		assert_near(cell(&all, "cpu_cycles", row), 2, 1e-9);
	}
	extraction_release(&all);
}

/* An exporter that begins again: what flowed meanwhile is unknown, and so is the step. */
static void test_restart_under_other_labels(void **state)
{
	struct extraction all;
	struct diag diag = { "" };

	/* Later labels come first, as Prometheus sorts them. */
	add_series(PACKAGE("0", "dynamic") LABEL("pod", "a"), "[40,\"0\"],[50,\"30\"]");
	add_series(PACKAGE("0", "dynamic") LABEL("pod", "b"), "[10,\"0\"],[20,\"10\"],[30,\"30\"]");
	/* Two that scrape the same exporter: nothing is counted twice. */
	add_series(PACKAGE("0", "dynamic") LABEL("pod", "c"), "[10,\"0\"],[20,\"10\"],[30,\"30\"]");
	/* A part of the power does not count as the power. */
	add_series(PACKAGE("1", "dynamic"),
		   "[10,\"0\"],[20,\"10\"],[30,\"20\"],[40,\"30\"],[50,\"40\"]");
	assert_int_equal(extract(&usual, &all, &diag), 0);
	assert_int_equal(all.table.rows, 3);
	assert_int_equal(all.steps_left_out, 1);
	assert_int_equal(all.duplicates, 2);
	assert_near(cell(&all, "package_power", 0), 2, 1e-9);
	assert_near(cell(&all, "package_power", 1), 3, 1e-9);
	assert_near(cell(&all, "timestamp", 2), 50, 0);
	assert_near(cell(&all, "package_power", 2), 4, 1e-9);
	extraction_release(&all);
}

static void test_hostile_values(void **state)
{
	struct extraction all;
	struct diag diag = { "" };

	add_series(PACKAGE("0", "dynamic"), "[10,\"0\"],[20,\"10\"],[30,\"NaN\"],[40,\"40\"],"
					    "[50,\"1e308\"],[60,\"5\"],[70,\"15\"]");
	add_series(CYCLES("a"), "[10,\"9\"],[20,\"4\"],[40,\"-1e308\"],[50,\"1e308\"],[60,\"2\"]");
	assert_int_equal(extract(&usual, &all, &diag), 0);
	/* The steps around an invalid number are one; an impossible value has no row. */
	assert_int_equal(all.table.rows, 3);
	assert_near(cell(&all, "package_power", 1), 1.5, 1e-9);
	assert_near(cell(&all, "timestamp", 2), 70, 0);
	assert_int_equal(all.implausible, 1);
	assert_int_equal(all.faults.not_numbers, 1);
	assert_near(cell(&all, "cpu_cycles", 0), 0.4, 1e-9);
	for (size_t i = 0; i < all.table.rows; i++)
		assert_true(isfinite(cell(&all, "cpu_cycles", i)));
	extraction_release(&all);
}

/* Current names are used where the classic ones are missing; both are not added up. */
static void test_current_names(void **state)
{
	struct extraction all;
	struct diag diag = { "" };

	add_series(NAME("kepler_node_cpu_joules_total") LABEL("zone", "dram"),
		   "[10,\"0\"],[20,\"50\"]");
	add_series(NAME("kepler_node_cpu_joules_total") LABEL("zone", "package"),
		   "[10,\"0\"],[20,\"990\"]");
	add_series(PACKAGE("0", "dynamic"), "[10,\"0\"],[20,\"100\"]");
	add_series(NAME("kepler_platform_watts") LABEL("source", "rapl-sysfs"),
		   "[10,\"1\"],[20,\"70\"]");
	add_series(NAME("kepler_container_cpu_seconds_total"), "[10,\"0\"],[20,\"5\"]");
	assert_int_equal(extract(&usual, &all, &diag), 0);
	assert_int_equal(all.table.rows, 1);
	assert_near(cell(&all, "dram_power", 0), 5, 1e-9);
	assert_near(cell(&all, "package_power", 0), 10, 1e-9);
	assert_near(cell(&all, "platform_power", 0), 70, 1e-9);
	assert_near(cell(&all, "bpf_cpu_time_ms", 0), 500, 1e-9);
	extraction_release(&all);
}

static bool is_b(void *userdata, const char *owner)
{
	(void)userdata;
	return owner[0] == 'b';
}

static void test_owners(void **state)
{
	struct extract_options options = usual;
	struct strbuf csv = STRBUF_INIT;
	struct extraction all;
	struct diag diag = { "" };

	options.by_owner = true;
	add_series(PACKAGE("0", "dynamic"), "[10,\"0\"],[20,\"10\"]");
	add_series(CYCLES("a"), "[10,\"0\"],[20,\"50\"]");
	add_series(CYCLES("b"), "[10,\"0\"],[20,\"20\"]");
	add_series(CYCLES("c"), "[10,\"5\"],[20,\"5\"]");
	assert_int_equal(extract(&options, &all, &diag), 0);
	assert_int_equal(extraction_write_csv(&all, &csv), 0);
	assert_string_equal(csv.data, "timestamp,owner,cpu_cycles,package_power\n"
				      "20,a///,5,1\n20,b///,2,1\n");
	extraction_release(&all);
	options.by_owner = false;
	options.is_background = is_b;
	add_series(PACKAGE("0", "dynamic"), "[10,\"0\"],[20,\"10\"]");
	add_series(CYCLES("a"), "[10,\"0\"],[20,\"50\"]");
	add_series(CYCLES("b"), "[10,\"0\"],[20,\"20\"]");
	assert_int_equal(extract(&options, &all, &diag), 0);
	assert_near(cell(&all, "cpu_cycles", 0), 5, 1e-9);
	assert_near(cell(&all, "background_cpu_cycles", 0), 2, 1e-9);
	extraction_release(&all);
	strbuf_release(&csv);
}

static void test_refusals(void **state)
{
	struct extract_options options = usual;
	struct extraction all;
	struct diag diag = { "" };

	options.sources[0] = "acpi";
	add_series(PACKAGE("0", "dynamic"), "[10,\"0\"],[20,\"10\"]");
	assert_int_equal(extract(&options, &all, &diag), -ENODATA);
	assert_non_null(strstr(diag.text, "the series have rapl-sysfs"));
	add_series(PACKAGE("0", "dynamic") LABEL("instance", "x"), "[10,\"0\"],[20,\"10\"]");
	add_series(PACKAGE("0", "dynamic") LABEL("instance", "y"), "[10,\"0\"],[20,\"30\"]");
	assert_int_equal(extract(&usual, &all, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "x, y"));
	options = usual;
	options.node = "y";
	add_series(PACKAGE("0", "dynamic") LABEL("instance", "x"), "[10,\"0\"],[20,\"10\"]");
	add_series(PACKAGE("0", "dynamic") LABEL("instance", "y"), "[10,\"0\"],[20,\"30\"]");
	assert_int_equal(extract(&options, &all, &diag), 0);
	assert_near(cell(&all, "package_power", 0), 3, 1e-9);
	extraction_release(&all);
}

static void test_wanted_features(void **state)
{
	static const char *const wanted[] = { "cpu_cycles", NULL }, *const missing[] = { "x",
											 NULL };
	struct extract_options options = usual;
	struct extraction all;
	struct diag diag = { "" };

	for (int i = 0; i < 2; i++) {
		options.features = i ? missing : wanted;
		add_series(PACKAGE("0", "dynamic"), "[10,\"0\"],[20,\"10\"]");
		add_series(CYCLES("a"), "[10,\"0\"],[20,\"50\"]");
		add_series(NAME("kepler_container_cache_miss_total"), "[10,\"0\"],[20,\"50\"]");
		assert_int_equal(extract(&options, &all, &diag), i ? -ENODATA : 0);
		if (i)
			break;
		assert_int_equal(all.table.column_count, 3);
		assert_near(cell(&all, "cpu_cycles", 0), 5, 1e-9);
		extraction_release(&all);
	}
	assert_string_equal(diag.text, "the series have no feature x");
}

static void test_smooth(void **state)
{
	struct extract_options options = usual;
	struct extraction all;
	struct diag diag = { "" };

	options.smooth = 2;
	add_series(PACKAGE("0", "dynamic"), "[10,\"0\"],[20,\"10\"],[30,\"40\"],[40,\"60\"]");
	assert_int_equal(extract(&options, &all, &diag), 0);
	assert_int_equal(all.table.rows, 2);
	assert_near(cell(&all, "timestamp", 0), 30, 0);
	assert_near(cell(&all, "package_power", 0), 2, 1e-9);
	assert_near(cell(&all, "package_power", 1), 2.5, 1e-9);
	extraction_release(&all);
}

/* The result of the model server's own extraction on the same recorded answer. */
static void test_recorded_answer(void **state)
{
	const char *shared = getenv("KEPLER_SHARED");
	struct extract_options options = usual;
	char path[512];
	struct extraction all;
	struct diag diag = { "" };

	(void)snprintf(path, sizeof(path), "%s/data/prometheus/coremark.json", shared);
	assert_int_equal(extraction_of_file(&options, path, &all, &diag), 0);
	assert_int_equal(all.table.rows, 187);
	for (size_t i = 0; i < all.component_count; i++) {
		if (strcmp(all.components[i].name, "package") != 0)
			continue;
		assert_near(all.components[i].minimum_w, 32.217, 0.001);
		assert_near(all.components[i].maximum_w, 193.291, 0.001);
	}
	assert_near(cell(&all, "bpf_cpu_time_us", 0), 656.667, 0.001);
	assert_near(cell(&all, "cpu_cycles", 186), 54797640000, 2e9);
	extraction_release(&all);
}

int main(void)
{
	const char *shared = getenv("KEPLER_SHARED");
	bool has_recorded = shared && access(shared, R_OK) == 0;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_power_and_features),
		cmocka_unit_test(test_stolen_time),
		cmocka_unit_test(test_counters_that_stand_still),
		cmocka_unit_test(test_restart_under_other_labels),
		cmocka_unit_test(test_hostile_values),
		cmocka_unit_test(test_current_names),
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_wanted_features),
		cmocka_unit_test(test_smooth),
		cmocka_unit_test(test_recorded_answer), /* the last, if any */
	};
	int failed;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	failed = _cmocka_run_group_tests("extraction", tests, ARRAY_SIZE(tests) - !has_recorded,
					 NULL, NULL);
	strbuf_release(&text);
	return failed;
}
