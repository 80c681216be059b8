// SPDX-License-Identifier: Apache-2.0
#include "training/training_rows.h"

#include "tests/unit/samples/csv_text.h"
#include "tests/unit/unit.h"

static const char *const features[] = { "cpu_cycles", "cpu_instructions" };

static struct sample_table parse(const char *text)
{
	struct sample_table table = { .rows = 0 };
	struct diag diag = { "" };

	assert_int_equal(csv_text_read(text, strlen(text), &table, &diag), 0);
	return table;
}

static bool is_value(double value, double expected)
{
	return fabs(value - expected) < 1e-9;
}

static void test_scaled_features_and_gaps(void **state)
{
	CLEANUP(sample_table_release)
	struct sample_table table = parse("cpu_cycles,cpu_instructions,package_power\n"
					  "100,50,30\n,9,31\n400,200,90\n0,0,20\n200,10,\n");
	CLEANUP(training_rows_release) struct training_rows rows = { .rows = 0 };
	struct diag diag = { "" };

	assert_int_equal(training_rows_read(&table, features, 2, "package", &rows, &diag), 0);
	assert_int_equal(rows.rows, 3);
	assert_int_equal(rows.left_out, 2);
	assert_true(is_value(rows.features[0].scale, 400) && is_value(rows.features[1].scale, 200));
	assert_true(is_value(rows.features[0].minimum, 0));
	assert_true(is_value(rows.features[1].maximum, 200));
	assert_true(is_value(rows.x[0], 0.25) && is_value(rows.x[1], 0.25));
	assert_true(is_value(rows.x[2], 1) && is_value(rows.x[3], 1));
	assert_true(is_value(rows.x[4], 0) && is_value(rows.x[5], 0));
	assert_true(is_value(rows.y[1], 90) && rows.source[1] == 2);
	assert_true(rows.is_load[0] && !rows.is_load[1]);
}

/* After a high load, less power may be drawn; yet both grow as load does. */
static void test_a_recent_mean_may_lower_the_power(void **state)
{
	static const char *const names[] = { "bpf_cpu_time_ms", "bpf_cpu_time_ms_mean_30s" };
	struct model_feature described[2];
	bool is_load[2], grows[2];

	training_rows_name(names, 2, described, is_load, grows);
	assert_true(is_load[0] && !is_load[1]);
	assert_true(grows[0] && grows[1]);
}

static void test_what_is_missing_is_named(void **state)
{
	CLEANUP(sample_table_release)
	struct sample_table table = parse("cpu_cycles,package_power\n1,\n,2\n");
	struct training_rows rows = { .rows = 5 };
	struct diag diag = { "" };

	assert_int_equal(training_rows_read(&table, features, 2, "package", &rows, &diag), -ENOENT);
	assert_string_equal(diag.text, "there is no column cpu_instructions with numbers");
	assert_int_equal(training_rows_read(&table, features, 1, "dram", &rows, &diag), -ENOENT);
	assert_string_equal(diag.text, "there is no column dram_power with numbers");
	assert_int_equal(training_rows_read(&table, features, 1, "package", &rows, &diag), -EINVAL);
	assert_string_equal(diag.text, "none of 2 rows has all features and the power of package");
	assert_int_equal(rows.rows, 5);
}

static void test_parts(void **state)
{
	CLEANUP(sample_table_release)
	struct sample_table table = parse("cpu_cycles,package_power\n1,10\n2,20\n4,40\n");
	CLEANUP(training_rows_release) struct training_rows rows = { .rows = 0 };
	CLEANUP(training_part_release) struct training_part part = { .rows = 0 };
	const bool held_out[] = { false, true, false };
	struct training_task task;
	struct diag diag = { "" };

	assert_int_equal(training_rows_read(&table, features, 1, "package", &rows, &diag), 0);
	assert_int_equal(training_rows_take(&rows, held_out, false, &part), 0);
	task = training_task_of(&rows, &part, 3);
	assert_int_equal(task.rows, 2);
	assert_true(is_value(task.x[1], 1) && is_value(task.y[1], 40));
	task = training_task_of(&rows, NULL, 3);
	assert_int_equal(task.rows, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scaled_features_and_gaps),
		cmocka_unit_test(test_a_recent_mean_may_lower_the_power),
		cmocka_unit_test(test_what_is_missing_is_named),
		cmocka_unit_test(test_parts),
	};

	return unit_run(tests);
}
