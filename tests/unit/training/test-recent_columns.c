// SPDX-License-Identifier: Apache-2.0
#include "training/recent_columns.h"

#include "tests/unit/samples/csv_text.h"
#include "tests/unit/unit.h"

#define NAME "bpf_cpu_time_ms_mean_30s"

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

/* A row without a value has no mean; the next row's value counts for its time as well. */
static void test_in_the_order_of_rows(void **state)
{
	CLEANUP(sample_table_release)
	struct sample_table table = parse("timestamp,bpf_cpu_time_ms\n"
					  "100,0\n130,1000\n145,\n160,0\n50,400\n");
	struct diag diag = { "" };
	const double *mean;

	assert_int_equal(recent_columns_add(&table, NAME, &diag), 0);
	assert_int_equal(sample_table_find(&table, NAME), 2);
	mean = table.columns[2];
	assert_true(is_value(mean[0], 0));
	assert_true(is_value(mean[1], 1000 * (1 - exp(-1))));
	assert_true(isnan(mean[2]));
	assert_true(is_value(mean[3], 1000 * (1 - exp(-1)) * exp(-1)));
	assert_true(is_value(mean[4], 400)); /* another file */
	/* A column that the rows have is left as it is. */
	table.columns[2][0] = 5;
	assert_int_equal(recent_columns_add(&table, NAME, &diag), 0);
	assert_int_equal(table.column_count, 3);
	assert_true(is_value(table.columns[2][0], 5));
}

static void test_what_is_missing_is_named(void **state)
{
	CLEANUP(sample_table_release)
	struct sample_table untimed = parse("bpf_cpu_time_ms\n1\n");
	CLEANUP(sample_table_release)
	struct sample_table unlike = parse("timestamp,cpu_cycles\n1,1\n");
	struct diag diag = { "" };

	assert_int_equal(recent_columns_add(&untimed, NAME, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "have no column timestamp"));
	assert_int_equal(recent_columns_add(&unlike, NAME, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "have no column bpf_cpu_time_ms"));
	assert_int_equal(recent_columns_add(&unlike, "cpu_instructions", &diag), -EINVAL);
	assert_int_equal(unlike.column_count, 2);
}

/* The judgement of the model names a mean that cannot be computed. */
static void test_of_a_model(void **state)
{
	CLEANUP(sample_table_release)
	struct sample_table table = parse("timestamp,bpf_cpu_time_ms\n1,7\n");
	struct model_feature features[] = { { .name = "bpf_cpu_time_ms" },
					    { .name = "cpu_cycles_mean_9s" },
					    { .name = NAME } };
	struct model_component component = { .features = features, .feature_count = 3 };
	const struct trained_model model = { .components = &component, .component_count = 1 };
	struct diag diag = { "" };

	assert_int_equal(recent_columns_add_of_model(&table, &model, &diag), 0);
	assert_int_equal(table.column_count, 3);
	assert_true(is_value(table.columns[2][0], 7));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_the_order_of_rows),
		cmocka_unit_test(test_what_is_missing_is_named),
		cmocka_unit_test(test_of_a_model),
	};

	return unit_run(tests);
}
