// SPDX-License-Identifier: Apache-2.0
#include "training/model_training.h"

#include "samples/sample_table.h"
#include "tests/unit/unit.h"
#include "training/model_validation.h"
#include "training/random.h"

#define ROWS 120

static const char *const features[] = { "bpf_cpu_time_ms" };
static const char *const components[] = { "package", "dram" };

/* 30 W idle and 70 W more at full load, dram a tenth of that; a rack has 20 rows. */
static struct sample_table make_table(double slope_w)
{
	static const char *const names[] = { "bpf_cpu_time_ms", "package_power", "dram_power",
					     "rack", "is_test" };
	struct sample_table table = { .rows = 0 };
	struct random random = { 1 };
	size_t column;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(sample_table_add_column(&table, names[i], &column), 0);
	for (size_t row = 0; row < ROWS; row++) {
		double load = (double)((row * 37) % ROWS) / ROWS;

		assert_int_equal(sample_table_add_row(&table), 0);
		table.columns[0][row] = 4000 * load;
		table.columns[1][row] = 30 + slope_w * load + random_part(&random);
		table.columns[2][row] = 3 + 7 * load;
		table.columns[3][row] = (double)(row / 20);
		table.columns[4][row] = row < 12;
	}
	return table;
}

static struct training_request request_of(const char *first, const char *second)
{
	struct training_request request = {
		.trainers = { trainer_find(first), second ? trainer_find(second) : NULL },
		.trainer_count = second ? 2 : 1,
		.features = features,
		.feature_count = 1,
		.components = components,
		.component_count = 2,
		.plan = { .kind = FOLDS_RANDOM, .folds = 5, .seed = 1 },
	};

	return request;
}

static void test_the_smallest_error_makes_the_model(void **state)
{
	CLEANUP(sample_table_release) struct sample_table table = make_table(70);
	CLEANUP(trained_model_release) struct trained_model model = { .node_type = 7 };
	CLEANUP_FREE struct training_report *report = calloc(1, sizeof(*report));
	struct training_request request = request_of("SVR", "LeastSquares");
	struct model_columns columns;
	struct model_answer answer;
	struct diag diag = { "" };
	double load = 2000;

	assert_int_equal(model_training_run(&table, &request, &model, report, &diag), 0);
	assert_int_equal(report->chosen, 1);
	assert_string_equal(model.origin.trainer, "LeastSquares");
	assert_string_equal(model.name, "LeastSquares_7");
	assert_int_equal(model.component_count, 2);
	assert_string_equal(model.components[1].name, "dram");
	assert_true(model.components[0].minimum_w >= 30 && model.components[0].maximum_w < 101);
	assert_true(model.components[0].error.rows == ROWS && !model.components[0].error.blocked);
	assert_true(model.components[0].error.mae_w > 0.1 && model.components[0].error.mae_w < 0.4);
	assert_int_equal(trained_model_bind(&model, 0, features, 1, &columns, &diag), 0);
	trained_model_predict(&model, 0, &columns, &load, &answer);
	assert_true(fabs(answer.watts - 65.5) < 0.5);
	assert_true(answer.bound_w > 0.2 && answer.bound_w < 0.8);
}

static void test_an_unusable_model_makes_way(void **state)
{
	CLEANUP(sample_table_release) struct sample_table table = make_table(-20);
	CLEANUP(trained_model_release) struct trained_model model = { .node_type = -1 };
	CLEANUP_FREE struct training_report *report = calloc(1, sizeof(*report));
	struct training_request request = request_of("LeastSquares", "LinearRegression");
	struct diag diag = { "" };

	request.component_count = 1;
	assert_int_equal(model_training_run(&table, &request, &model, report, &diag), 0);
	assert_int_equal(report->chosen, 1);
	assert_non_null(strstr(report->unusable[0].text, "falls"));
	request.trainer_count = 1;
	assert_int_equal(model_training_run(&table, &request, &model, report, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "no trainer made a model that can be used"));
	assert_int_equal(model.component_count, 0);
}

/* Power above idle is 0 where nothing runs, whatever the lowest of the rows is. */
static void test_dynamic_power_begins_at_nothing(void **state)
{
	CLEANUP(sample_table_release) struct sample_table table = make_table(70);
	CLEANUP_FREE struct training_report *report = calloc(1, sizeof(*report));
	struct training_request request = request_of("RatioTrees", NULL);
	struct diag diag = { "" };

	request.component_count = 1;
	for (int output = 0; output < MODEL_OUTPUT_COUNT; output++) {
		CLEANUP(trained_model_release) struct trained_model model = { .node_type = -1 };
		double nothing = 0, watts;
		bool outside = false;

		model.output = (enum model_output)output;
		assert_int_equal(model_training_run(&table, &request, &model, report, &diag), 0);
		watts = model_component_form_watts(&model.components[0], &nothing, &outside);
		if (output == MODEL_DYN_POWER)
			assert_true(watts < 15);
		else
			assert_true(watts > 25);
	}
}

static void test_groups_splits_and_errors_alone(void **state)
{
	CLEANUP(sample_table_release) struct sample_table table = make_table(70);
	CLEANUP(trained_model_release) struct trained_model model = { .node_type = -1 };
	CLEANUP_FREE struct training_report *report = calloc(1, sizeof(*report));
	struct training_request request = request_of("Ridge", NULL);
	struct diag diag = { "" };

	request.only_errors = true;
	request.split_column = "is_test";
	assert_int_equal(model_training_run(&table, &request, &model, report, &diag), 0);
	assert_int_equal(report->results[0][0].score.rows, 12);
	assert_int_equal(model.component_count, 0);
	request.only_errors = false;
	request.split_column = NULL;
	request.plan.kind = FOLDS_GROUPS;
	request.group_column = "rack";
	assert_int_equal(model_training_run(&table, &request, &model, report, &diag), 0);
	assert_true(model.components[0].error.blocked);
	request.group_column = "row";
	assert_int_equal(model_training_run(&table, &request, &model, report, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "there is no column row"));
}

static int validate(const struct trained_model *model, const struct sample_table *rows,
		    struct training_result *ret, struct diag *diag)
{
	CLEANUP(model_validation_release) struct model_validation validation = { .size = 0 };
	const char *names[SAMPLE_COLUMNS_MAX];
	double values[SAMPLE_COLUMNS_MAX];
	int r;

	sample_table_get_names(rows, names);
	r = model_validation_begin(&validation, model, 0, names, rows->column_count, diag);
	for (size_t row = 0; r == 0 && row < rows->rows; row++) {
		sample_table_get_row(rows, row, values);
		r = model_validation_add(&validation, values);
	}
	return r < 0 ? r : model_validation_finish(&validation, 1, ret, diag);
}

static void test_errors_of_a_model_on_other_rows(void **state)
{
	CLEANUP(sample_table_release) struct sample_table table = make_table(70);
	CLEANUP(sample_table_release) struct sample_table other = make_table(80);
	CLEANUP(trained_model_release) struct trained_model model = { .node_type = -1 };
	CLEANUP_FREE struct training_report *report = calloc(1, sizeof(*report));
	struct training_request request = request_of("LeastSquares", NULL);
	struct training_result result;
	struct diag diag = { "" };

	assert_int_equal(model_training_run(&table, &request, &model, report, &diag), 0);
	other.columns[0][3] = (double)NAN;
	assert_int_equal(validate(&model, &other, &result, &diag), 0);
	assert_int_equal(result.score.rows, ROWS - 1);
	assert_true(fabs(result.score.mae_w - 5) < 0.5); /* 10 W times the mean load */
	assert_true(result.coverage < 0.2);
	(void)snprintf(other.names[0], sizeof(other.names[0]), "bpf_cpu_time");
	assert_int_equal(validate(&model, &other, &result, &diag), -ENOENT);
}

static void test_threads_change_nothing(void **state)
{
	CLEANUP(sample_table_release) struct sample_table table = make_table(70);
	CLEANUP_FREE struct training_report *reports = calloc(2, sizeof(*reports));
	struct training_request request = request_of("Xgboost", "SVR");
	struct diag diag = { "" };

	request.only_errors = true;
	for (unsigned i = 0; i < 2; i++) {
		struct trained_model model = { .node_type = -1 };

		request.threads = i == 0 ? 1 : 4;
		assert_int_equal(model_training_run(&table, &request, &model, &reports[i], &diag),
				 0);
	}
	for (size_t t = 0; t < 2; t++) {
		for (size_t c = 0; c < 2; c++) {
			assert_true(reports[0].results[t][c].score.rows == ROWS);
			assert_memory_equal(&reports[0].results[t][c].score,
					    &reports[1].results[t][c].score,
					    sizeof(reports[0].results[t][c].score));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_smallest_error_makes_the_model),
		cmocka_unit_test(test_an_unusable_model_makes_way),
		cmocka_unit_test(test_dynamic_power_begins_at_nothing),
		cmocka_unit_test(test_groups_splits_and_errors_alone),
		cmocka_unit_test(test_errors_of_a_model_on_other_rows),
		cmocka_unit_test(test_threads_change_nothing),
	};

	return unit_run(tests);
}
