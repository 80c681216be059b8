// SPDX-License-Identifier: Apache-2.0
/* Rows on disk make the model and the errors that the same rows in memory do. */
#include "training/streamed_training.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"
#include "training/model_training.h"
#include "training/random.h"

#define ROWS       6000
#define NODES      12
#define MEMORY     (1U << 20) /* so little that blocks are a part of the rows */
#define COLUMNS    5
#define COMPONENTS 1

static const char *const names[COLUMNS] = { "bpf_cpu_time_ms", "cpu_cycles", "package_power",
					    "node", "is_test" };
static const char *const components[COMPONENTS] = { "package" };

struct both {
	struct sample_table table;
	struct sample_spool spool;
	struct streamed_table streamed;
};

static double truth_w(double x, double cycles)
{
	return 30 + x / 100 + 4e-9 * cycles * (1 + cycles / 1e10);
}

static void make_rows(struct both *both)
{
	struct random random = { 1 };
	struct diag diag = { "" };
	size_t column;

	*both = (struct both){ .table = { .rows = 0 } };
	assert_int_equal(sample_spool_open(&both->spool, "/tmp", COLUMNS, &diag), 0);
	for (size_t i = 0; i < COLUMNS; i++)
		assert_int_equal(sample_table_add_column(&both->table, names[i], &column), 0);
	for (size_t i = 0; i < ROWS; i++) {
		double x = 4000 * random_part(&random), cycles = 1e10 * random_part(&random);
		double row[COLUMNS] = { x, cycles, truth_w(x, cycles) + random_part(&random),
					(double)(i * NODES / ROWS), 0 };

		if (i % 100 == 7)
			row[1] = (double)NAN;
		assert_int_equal(sample_spool_add(&both->spool, row, &diag), 0);
		assert_int_equal(sample_table_add_row(&both->table), 0);
		for (size_t c = 0; c < COLUMNS; c++)
			both->table.columns[c][i] = row[c];
	}
	assert_int_equal(sample_spool_finish(&both->spool, &diag), 0);
	both->streamed = (struct streamed_table){ &both->spool, names, 3, NODES };
}

static void release_rows(struct both *both)
{
	sample_table_release(&both->table);
	sample_spool_close(&both->spool);
}

static struct training_request request_of(const char *trainer)
{
	return (struct training_request){
		.trainers = { trainer_find(trainer) },
		.trainer_count = 1,
		.features = names,
		.feature_count = 2,
		.components = components,
		.component_count = COMPONENTS,
		.plan = { .kind = FOLDS_GROUPS, .folds = 3, .seed = 5 },
		.group_column = "node",
	};
}

/* Watts of both models at some points: how far they are apart at most. */
static double distance(const struct trained_model *a, const struct trained_model *b)
{
	double worst = 0;
	bool outside;

	for (unsigned i = 0; i < 100; i++) {
		double values[2] = { 40.0 * i, 1e8 * (i * 37 % 100) };

		worst = fmax(worst,
			     fabs(model_component_form_watts(&a->components[0], values, &outside) -
				  model_component_form_watts(&b->components[0], values, &outside)));
	}
	return worst;
}

static void compare(struct both *both, const char *trainer, double most_w, double most_mae)
{
	CLEANUP(trained_model_release) struct trained_model a = { .node_type = -1 };
	CLEANUP(trained_model_release) struct trained_model b = { .node_type = -1 };
	CLEANUP_FREE struct training_report *in_memory = calloc(2, sizeof(*in_memory));
	struct training_report *streamed = in_memory + 1;
	struct training_request request = request_of(trainer);
	struct diag diag = { "" };
	double off;

	assert_non_null(in_memory);
	assert_int_equal(model_training_run(&both->table, &request, &a, in_memory, &diag), 0);
	assert_int_equal(
		streamed_training_run(&both->streamed, &request, MEMORY, &b, streamed, &diag), 0);
	assert_int_equal(streamed->left_out[0], ROWS / 100);
	assert_int_equal(streamed->results[0][0].score.rows, in_memory->results[0][0].score.rows);
	assert_true(distance(&a, &b) <= most_w);
	off = streamed->results[0][0].score.mae_w - in_memory->results[0][0].score.mae_w;
	assert_true(fabs(off) <= most_mae);
	assert_true(fabs(a.components[0].maximum_w - b.components[0].maximum_w) < 1e-9);
}

static void test_lines_are_those_of_rows_in_memory(void **state)
{
	static const char *const trainer_names[] = { "LeastSquares", "Ridge", "LinearRegression",
						     "SGDRegressor", "Polynomial" };
	struct both both;

	(void)state;
	make_rows(&both);
	for (size_t i = 0; i < ARRAY_SIZE(trainer_names); i++)
		compare(&both, trainer_names[i], 1e-8, 1e-8);
	release_rows(&both);
}

static void test_trees_grow_on_blocks(void **state)
{
	struct both both;

	(void)state;
	make_rows(&both);
	compare(&both, "GradientBoosting", 4, 0.1); /* at a single point, of 30 to 150 W */
	release_rows(&both);
}

static void see_a_sample(const struct both *both, const char *trainer)
{
	CLEANUP(trained_model_release) struct trained_model model = { .node_type = -1 };
	CLEANUP_FREE struct training_report *report = calloc(1, sizeof(*report));
	struct training_request request = request_of(trainer);
	struct diag diag = { "" };

	assert_non_null(report);
	request.only_errors = true;
	assert_int_equal(
		streamed_training_run(&both->streamed, &request, MEMORY, &model, report, &diag), 0);
	assert_string_equal(report->results[0][0].failure.text, "");
	assert_true(report->results[0][0].sample > 500 && report->results[0][0].sample < ROWS);
	assert_true(report->results[0][0].score.mae_w < 3);
	assert_int_equal(report->results[0][0].score.rows, ROWS - ROWS / 100);
}

static void test_others_see_a_sample_and_say_so(void **state)
{
	static const char *const others[] = { "ExtraTrees", "RatioTrees", "RatioBlend" };
	struct both both;

	(void)state;
	make_rows(&both);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		see_a_sample(&both, others[i]);
	release_rows(&both);
}

static void test_refused(void **state)
{
	CLEANUP(trained_model_release) struct trained_model model = { .node_type = -1 };
	CLEANUP_FREE struct training_report *report = calloc(1, sizeof(*report));
	struct training_request request = request_of("LeastSquares");
	struct both both;
	struct diag diag = { "" };

	(void)state;
	make_rows(&both);
	request.plan.folds = NODES + 1;
	assert_int_equal(
		streamed_training_run(&both.streamed, &request, MEMORY, &model, report, &diag),
		-EINVAL);
	request = request_of("LeastSquares");
	request.split_column = "is_test";
	assert_int_equal(
		streamed_training_run(&both.streamed, &request, MEMORY, &model, report, &diag),
		-EINVAL);
	assert_non_null(strstr(diag.text, "--split-column"));
	request = request_of("LeastSquares");
	request.components = (const char *const[]){ "dram" };
	assert_int_equal(
		streamed_training_run(&both.streamed, &request, MEMORY, &model, report, &diag),
		-ENOENT);
	assert_string_equal(diag.text, "there is no column dram_power with numbers");
	release_rows(&both);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_are_those_of_rows_in_memory),
		cmocka_unit_test(test_trees_grow_on_blocks),
		cmocka_unit_test(test_others_see_a_sample_and_say_so),
		cmocka_unit_test(test_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
