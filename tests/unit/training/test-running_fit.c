// SPDX-License-Identifier: Apache-2.0
#include "training/running_fit.h"

#include "tests/unit/unit.h"
#include "training/random.h"
#include "training/trainer.h"

#define ROWS 400

static const char *const names[] = { "bpf_cpu_time_ms", "cache_miss", "constant" };

static void release(struct model_component *component)
{
	predictor_release(&component->predictor);
	free(component->features);
}

/* Row by row it is the line that all rows at once give, far from 0 as well. */
static void test_it_is_the_line_of_all_rows(void **state)
{
	double x[ROWS][3], scaled[ROWS][3], y[ROWS], stretch[3];
	const struct training_task task = { .x = scaled[0], .y = y, .rows = ROWS, .features = 3 };
	struct random random = { 7 };
	struct running_fit fit;
	struct model_component line;
	struct predictor all;
	struct diag diag = { "" };

	running_fit_init(&fit, 3);
	for (size_t i = 0; i < ROWS; i++) {
		x[i][0] = 1e9 + 1000 * random_part(&random);
		x[i][1] = 10 * random_part(&random);
		x[i][2] = 5;
		y[i] = 40 + 0.02 * (x[i][0] - 1e9) - 3 * x[i][1] + random_part(&random);
		running_fit_add(&fit, x[i], y[i]);
	}
	assert_int_equal(running_fit_solve(&fit, "package", names, &line, &diag), 0);
	for (size_t i = 0; i < ROWS; i++)
		for (size_t j = 0; j < 3; j++)
			scaled[i][j] = x[i][j] / line.features[j].scale;
	assert_int_equal(
		trainer_train(trainer_find("LinearRegressionTrainer"), &task, stretch, &all, &diag),
		0);
	for (size_t i = 0; i < ROWS; i += 40)
		assert_true(fabs(predictor_watts(&line.predictor, scaled[i]) -
				 (predictor_watts(&all, scaled[i]))) < 1e-3);
	/* A weight that would be negative is 0. */
	assert_true(fabs(line.predictor.linear.weights[2]) < 1e-12);
	assert_true(fabs(line.features[1].maximum - fit.maximum[1]) < 1e-12);
	assert_true(isnan(line.error.mae_w));
	predictor_release(&all);
	release(&line);
}

static void test_few_rows_make_no_line(void **state)
{
	struct running_fit fit;
	struct model_component line;
	const double x[3] = { 1, 2, 3 };
	struct diag diag = { "" };

	running_fit_init(&fit, 3);
	for (int i = 0; i < 7; i++)
		running_fit_add(&fit, x, 10);
	assert_int_equal(running_fit_solve(&fit, "package", names, &line, &diag), -EINVAL);
	running_fit_add(&fit, x, 10);
	assert_int_equal(running_fit_solve(&fit, "package", names, &line, &diag), 0);
	assert_string_equal(line.name, "package");
	release(&line);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_is_the_line_of_all_rows),
		cmocka_unit_test(test_few_rows_make_no_line),
	};

	return unit_run(tests);
}
