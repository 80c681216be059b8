// SPDX-License-Identifier: Apache-2.0
/*
 * Each trainer on rows of a known truth: the form that made the rows is found again. What linear
 * forms minimise is checked by its own definition: no small step of the weights makes it smaller.
 */
#include "training/trainer.h"

#include "tests/unit/unit.h"
#include "training/load_path.h"
#include "training/random.h"

#define ROWS     300
#define FEATURES 3

struct rows {
	double x[ROWS * FEATURES], y[ROWS];
};

static struct training_task task_of(const struct rows *rows, size_t features)
{
	return (struct training_task){
		.x = rows->x, .y = rows->y, .rows = ROWS, .features = features, .seed = 7
	};
}

static void fill_by_chance(struct rows *rows, size_t features)
{
	struct random random = { 1 };

	for (size_t i = 0; i < ROWS * features; i++)
		rows->x[i] = random_part(&random);
}

static struct predictor train(const char *name, const struct training_task *task)
{
	struct predictor predictor;
	struct diag diag = { "" };
	int r = trainer_train(trainer_find(name), task, &predictor, &diag);

	if (r < 0)
		print_message("%s\n", diag.text);
	assert_int_equal(r, 0);
	return predictor;
}

static double worst_error(const struct predictor *predictor, const struct training_task *task)
{
	double worst = 0;

	for (size_t i = 0; i < task->rows; i++)
		worst = fmax(worst, fabs(predictor_watts(predictor, task->x + i * task->features) -
					 task->y[i]));
	return worst;
}

static double mean_error(const struct predictor *predictor, const struct training_task *task)
{
	double sum = 0;

	for (size_t i = 0; i < task->rows; i++)
		sum += fabs(predictor_watts(predictor, task->x + i * task->features) - task->y[i]);
	return sum / (double)task->rows;
}

static void test_lines_find_a_line(void **state)
{
	static const char *const names[] = { "LeastSquares", "Ridge", "LinearRegressionTrainer" };
	struct rows rows;
	struct training_task task = task_of(&rows, FEATURES);

	fill_by_chance(&rows, FEATURES);
	for (size_t i = 0; i < ROWS; i++)
		rows.y[i] = 40 + 100 * rows.x[i * FEATURES] + 7 * rows.x[i * FEATURES + 2];
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct predictor predictor = train(names[i], &task);

		assert_true(worst_error(&predictor, &task) < (i == 1 ? 1e-4 : 1e-9));
		assert_true(fabs(predictor.linear.weights[0] - 40) < 1e-4);
		assert_true(fabs(predictor.linear.weights[3] - 7) < 1e-4);
		predictor_release(&predictor);
	}
}

/* The loss of ridge by its definition; the intercept has no penalty. */
static double loss(const struct training_task *task, const double *weights, double penalty)
{
	double sum = 0;

	for (size_t i = 0; i < task->rows; i++) {
		double error = weights[0] - task->y[i];

		for (size_t j = 0; j < task->features; j++)
			error += weights[1 + j] * task->x[i * task->features + j];
		sum += error * error;
	}
	for (size_t j = 0; j < task->features; j++)
		sum += penalty * (double)task->rows * weights[1 + j] * weights[1 + j];
	return sum;
}

static void assert_lowest(const struct training_task *task, const struct predictor *predictor,
			  double penalty, bool non_negative)
{
	double weights[1 + FEATURES], lowest;

	memcpy(weights, predictor->linear.weights, sizeof(weights));
	lowest = loss(task, weights, penalty);
	for (size_t i = 0; i <= FEATURES; i++) {
		for (int sign = -1; sign <= 1; sign += 2) {
			double before = weights[i];

			weights[i] += sign * 1e-3;
			if (!non_negative || i == 0 || weights[i] >= 0)
				assert_true(loss(task, weights, penalty) > lowest);
			weights[i] = before;
		}
	}
}

static void make_noisy_line(struct rows *rows)
{
	struct random random = { 2 };

	fill_by_chance(rows, FEATURES);
	for (size_t i = 0; i < ROWS; i++)
		rows->y[i] = 40 + 100 * rows->x[i * FEATURES] - 20 * rows->x[i * FEATURES + 1] +
			     10 * random_part(&random);
}

static void test_lines_are_the_least_squares(void **state)
{
	struct rows rows;
	struct training_task task = task_of(&rows, FEATURES);
	struct predictor predictor;

	make_noisy_line(&rows);
	predictor = train("LeastSquares", &task);
	assert_lowest(&task, &predictor, 0, false);
	predictor_release(&predictor);
	predictor = train("SGDRegressorTrainer", &task);
	assert_lowest(&task, &predictor, 1e-4, false);
	predictor_release(&predictor);
}

static void test_no_weight_is_negative(void **state)
{
	struct rows rows;
	struct training_task task = task_of(&rows, FEATURES);
	struct predictor predictor;

	make_noisy_line(&rows);
	predictor = train("LinearRegression", &task);
	assert_true(predictor.linear.weights[2] >= 0 && predictor.linear.weights[2] <= 0);
	assert_true(predictor.linear.weights[1] > 90);
	assert_lowest(&task, &predictor, 0, true);
	predictor_release(&predictor);
}

/* The second column explains most at first, and nothing once the two others are there. */
static void test_a_weight_that_turns_negative_leaves(void **state)
{
	struct random random = { 5 };
	struct rows rows;
	struct training_task task = task_of(&rows, FEATURES);
	struct predictor predictor;

	fill_by_chance(&rows, FEATURES);
	for (size_t i = 0; i < ROWS; i++) {
		double *x = rows.x + i * FEATURES;

		x[1] = x[0] + x[2] + 0.1 * random_part(&random);
		rows.y[i] = 20 + 40 * x[0] + 30 * x[2] - 10 * x[1] + random_part(&random);
	}
	predictor = train("LinearRegression", &task);
	assert_true(predictor.linear.weights[2] >= 0 && predictor.linear.weights[2] <= 0);
	assert_lowest(&task, &predictor, 0, true);
	predictor_release(&predictor);
}

static void test_columns_that_are_alike_share(void **state)
{
	static const char *const names[] = { "LeastSquares", "Ridge", "SGDRegressorTrainer" };
	struct rows rows;
	struct training_task task = task_of(&rows, FEATURES);

	fill_by_chance(&rows, FEATURES);
	for (size_t i = 0; i < ROWS; i++) {
		rows.x[i * FEATURES + 1] = rows.x[i * FEATURES];
		rows.x[i * FEATURES + 2] = 0.5; /* constant */
		rows.y[i] = 10 + 60 * rows.x[i * FEATURES];
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct predictor predictor = train(names[i], &task);

		assert_true(fabs(predictor.linear.weights[1] - 30) < 0.2);
		assert_true(fabs(predictor.linear.weights[2] - 30) < 0.2);
		assert_true(fabs(predictor.linear.weights[3]) < 1e-9);
		predictor_release(&predictor);
	}
}

static void test_polynomial_finds_one(void **state)
{
	struct rows rows;
	struct training_task task = task_of(&rows, FEATURES);
	struct predictor predictor;

	fill_by_chance(&rows, FEATURES);
	for (size_t i = 0; i < ROWS; i++) {
		const double *x = rows.x + i * FEATURES;

		rows.y[i] = 30 + 50 * x[0] * x[2] - 8 * x[1] * x[1];
	}
	predictor = train("PolynomialRegressionTrainer", &task);
	assert_int_equal(predictor.form, PREDICTOR_POLYNOMIAL);
	assert_true(worst_error(&predictor, &task) < 1e-3);
	predictor_release(&predictor);
}

static void test_penalty_tames_terms_beyond_the_rows(void **state)
{
	struct rows rows;
	struct training_task task = task_of(&rows, FEATURES);
	double far[FEATURES] = { 1.2, 1.2, 1.2 };
	struct predictor predictor;

	make_noisy_line(&rows);
	task.rows = 8; /* of 9 terms */
	predictor = train("PolynomialRegressionTrainer", &task);
	assert_true(fabs(predictor_watts(&predictor, far) - 136) < 60);
	predictor_release(&predictor);
}

static void test_curves_find_theirs(void **state)
{
	static const char *const names[] = { "LogarithmicRegressionTrainer",
					     "LogisticRegressionTrainer",
					     "ExponentialRegressionTrainer" };
	struct rows rows;
	struct training_task task = task_of(&rows, 2);

	fill_by_chance(&rows, 2);
	task.main_feature = 1;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct predictor predictor;

		for (size_t row = 0; row < ROWS; row++) {
			double x = rows.x[row * 2 + 1];

			rows.y[row] = i == 0   ? 30 * log(5 * x + 1) + 50
				      : i == 1 ? 80 / (1 + exp(-6 * (x - 0.4))) + 20
					       : 12 * exp(1.5 * x) + 30;
		}
		predictor = train(names[i], &task);
		assert_int_equal(predictor.curve.feature, 1);
		assert_true(worst_error(&predictor, &task) < 1e-3);
		predictor_release(&predictor);
	}
}

static void test_curves_take_constant_power(void **state)
{
	struct rows rows;
	struct training_task task = task_of(&rows, 1);
	struct predictor predictor;

	fill_by_chance(&rows, 1);
	for (size_t row = 0; row < ROWS; row++)
		rows.y[row] = 60;
	predictor = train("LogisticRegressionTrainer", &task);
	assert_true(worst_error(&predictor, &task) < 1e-6);
	predictor_release(&predictor);
}

static void test_neighbours_are_the_rows(void **state)
{
	struct rows rows = { .y = { 0 } };
	struct training_task task = task_of(&rows, 1);
	struct predictor predictor;
	double at = 0.1;

	for (size_t i = 0; i < ROWS; i++) {
		rows.x[i] = (double)i;
		rows.y[i] = i < 6 ? 60 : 1000;
	}
	predictor = train("KNeighborsRegressorTrainer", &task);
	assert_true(fabs(predictor_watts(&predictor, &at) - 60) < 1e-9);
	predictor_release(&predictor);
	task.rows = 2; /* fewer than the neighbours */
	predictor = train("KNeighborsRegressorTrainer", &task);
	assert_true(fabs(predictor_watts(&predictor, &at) - 60) < 1e-9);
	predictor_release(&predictor);
}

static void make_steps(struct rows *rows)
{
	struct random random = { 3 };

	fill_by_chance(rows, FEATURES);
	for (size_t i = 0; i < ROWS; i++) {
		const double *x = rows->x + i * FEATURES;

		rows->y[i] =
			50 + (x[0] > 0.5 ? 100 : 0) + (x[1] > 0.3 ? 30 : 0) + random_part(&random);
	}
}

static void test_trees_and_vectors_follow_steps(void **state)
{
	static const struct {
		const char *name;
		double mean_w; /* below it */
	} cases[] = {
		{ "ExtraTrees", 0.01 },       { "BlendedTrees", 4 },
		{ "MonotoneBoosting", 0.3 },  { "GradientBoostingRegressorTrainer", 0.3 },
		{ "XgboostFitTrainer", 0.3 }, { "SVRRegressorTrainer", 40 },
		{ "RatioTrees", 4 },          { "RatioBlend", 4 },
		{ "SteadyTrees", 20 },        { "SteadyCurve", 40 },
	};
	struct rows rows;
	struct training_task task = task_of(&rows, FEATURES);

	make_steps(&rows);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct predictor predictor = train(cases[i].name, &task);
		struct predictor again = train(cases[i].name, &task);

		assert_true(mean_error(&predictor, &task) < cases[i].mean_w);
		assert_true(mean_error(&predictor, &task) <= mean_error(&again, &task) &&
			    mean_error(&predictor, &task) >= mean_error(&again, &task));
		predictor_release(&predictor);
		predictor_release(&again);
	}
}

static void test_monotone_trees_never_fall(void **state)
{
	static const bool is_load[FEATURES] = { true, false, false };
	struct random random = { 4 };
	struct rows rows;
	struct training_task task = task_of(&rows, FEATURES);
	struct predictor predictor;

	make_steps(&rows);
	for (size_t i = 0; i < ROWS; i++) /* falls in places */
		rows.y[i] += 40 * sin(9 * rows.x[i * FEATURES]);
	task.is_load = is_load;
	predictor = train("MonotoneBoosting", &task);
	for (size_t i = 0; i < 200; i++) {
		double x[FEATURES] = { 0, random_part(&random), random_part(&random) }, before = 0;

		for (unsigned step = 0; step <= 50; step++) {
			double watts;

			x[0] = step / 50.0;
			watts = predictor_watts(&predictor, x);
			assert_true(watts >= before - 1e-3);
			before = watts;
		}
	}
	predictor_release(&predictor);
}

/* Rows that it has not seen. */
static double error_of_steps_by_ratio(const struct predictor *predictor)
{
	struct random random = { 9 };
	double sum = 0;

	for (size_t i = 0; i < ROWS; i++) {
		double x[2] = { 0.5 + random_part(&random) / 2, random_part(&random) };

		sum += fabs(predictor_watts(predictor, x) - (x[1] > x[0] ? 150 : 50));
	}
	return sum / ROWS;
}

static void test_ratio_trees_see_ratios(void **state)
{
	static const struct feature_ratio ratio = { .numerator = 1, .denominator = 0 };
	static const char *const names[] = { "RatioTrees", "RatioBlend" };
	struct rows rows;
	struct training_task task = task_of(&rows, 2);
	struct predictor extra, predictor;

	fill_by_chance(&rows, 2);
	for (size_t i = 0; i < ROWS; i++) {
		rows.x[2 * i] = 0.5 + rows.x[2 * i] / 2;
		rows.y[i] = rows.x[2 * i + 1] > rows.x[2 * i] ? 150 : 50;
	}
	task.ratios = &ratio;
	task.ratio_count = 1;
	extra = train("ExtraTrees", &task);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		predictor = train(names[i], &task);
		assert_int_equal(predictor.features, 2);
		assert_int_equal(predictor.trees.ratio_count, 1);
		assert_true(error_of_steps_by_ratio(&predictor) <
			    0.5 * error_of_steps_by_ratio(&extra));
		predictor_release(&predictor);
	}
	predictor_release(&extra);
}

/* Every other eighth of the load is a step lower, and its rows lie off the path. */
static void test_ratio_trees_rise_along_the_load(void **state)
{
	struct random random = { 11 };
	struct rows rows;
	struct training_task task = task_of(&rows, 2);
	struct predictor extra, predictor;

	for (size_t i = 0; i < ROWS; i++) {
		double load = random_part(&random);
		bool lower = (unsigned)(load * 8) % 2;

		rows.x[2 * i] = load;
		rows.x[2 * i + 1] = load * (lower ? 0.3 : 1);
		rows.y[i] = (lower ? 90 : 140) + 60 * load;
	}
	extra = train("ExtraTrees", &task);
	predictor = train("RatioTrees", &task);
	assert_true(load_path_fall(&task, &extra) > 1);
	assert_true(load_path_fall(&task, &predictor) < 1);
	predictor_release(&extra);
	predictor_release(&predictor);
}

/* In one of six rows load has begun in the middle: half of the power. */
static void test_steady_trees_leave_out_where_load_begins(void **state)
{
	struct random random = { 12 };
	struct rows rows;
	struct training_task task = task_of(&rows, 1);
	struct predictor extra, predictor;

	for (size_t i = 0; i < ROWS; i++) {
		rows.x[i] = random_part(&random);
		rows.y[i] = (100 + 100 * rows.x[i]) * (random_below(&random, 6) ? 1 : 0.5);
	}
	extra = train("ExtraTrees", &task);
	predictor = train("SteadyTrees", &task);
	assert_true(load_path_fall(&task, &extra) > 3);
	assert_true(load_path_fall(&task, &predictor) < 1);
	for (unsigned step = 2; step <= 50; step++) {
		double load = step / 50.0, lasting = 100 + 100 * load;
		double watts = predictor_watts(&predictor, &load);

		assert_true(watts < lasting + 5);
		assert_true(watts > lasting * 0.9 - 5);
	}
	predictor_release(&extra);
	predictor_release(&predictor);
}

/* The sum of errors of @name on 40 rows of a step by load, with a feature that is chance. */
static double error_beside_chance(const char *name)
{
	struct rows rows;
	struct training_task task = task_of(&rows, 2);
	struct predictor predictor;
	double sum = 0;

	fill_by_chance(&rows, 2);
	for (size_t i = 0; i < ROWS; i++)
		rows.y[i] = 100 + 10 * floor(8 * rows.x[2 * i]);
	task.rows = 40;
	predictor = train(name, &task);
	for (size_t i = task.rows; i < ROWS; i++)
		sum += fabs(predictor_watts(&predictor, rows.x + 2 * i) - rows.y[i]);
	predictor_release(&predictor);
	return sum;
}

static void test_a_steady_curve_sees_the_load_alone(void **state)
{
	struct rows rows;
	struct training_task task = task_of(&rows, 2);
	struct predictor predictor;

	fill_by_chance(&rows, 2);
	for (size_t i = 0; i < ROWS; i++)
		rows.y[i] = 100 + 100 * rows.x[2 * i + 1];
	predictor = train("SteadyCurve", &task);
	assert_int_equal(predictor.features, 2);
	for (unsigned step = 0; step <= 50; step++) {
		double low[] = { 0, step / 50.0 }, high[] = { 1, step / 50.0 };

		assert_true(fabs(predictor_watts(&predictor, low) -
				 predictor_watts(&predictor, high)) < 1e-9);
	}
	predictor_release(&predictor);
	assert_true(error_beside_chance("SteadyCurve") < 0.9 * error_beside_chance("SteadyTrees"));
}

static void test_names(void **state)
{
	assert_ptr_equal(trainer_find("XgboostFit"), trainer_find("XgboostFitTrainer"));
	assert_ptr_equal(trainer_find("Ridge")->train, trainers[8].train);
	assert_ptr_equal(trainer_find("KNeighbors"), trainer_find("KNeighborsRegressorTrainer"));
	assert_null(trainer_find("Xgb"));
	assert_null(trainer_find(""));
}

static void assert_refused(const struct training_task *task, const char *name, const char *why)
{
	struct predictor predictor = { .features = 99 };
	struct diag diag = { "" };

	assert_int_equal(trainer_train(trainer_find(name), task, &predictor, &diag), -EINVAL);
	assert_string_equal(diag.text, why);
	assert_int_equal(predictor.features, 99);
}

static void test_refused(void **state)
{
	struct rows rows;
	struct training_task task = task_of(&rows, FEATURES);

	make_steps(&rows);
	rows.x[4] = (double)INFINITY;
	assert_refused(&task, "Ridge", "a feature of row 1 is not finite");
	rows.x[4] = 0;
	rows.y[9] = (double)NAN;
	assert_refused(&task, "Ridge", "the watts of row 9 are not finite");
	task.rows = 0;
	assert_refused(&task, "Ridge", "there are 0 rows to train on, not 1 to 1000000");
	task.rows = 2;
	assert_refused(&task, "LogisticRegression",
		       "LogisticRegressionTrainer: a curve of 4 weights cannot be found from 2 "
		       "rows");
}

static void test_one_row_and_constant_rows(void **state)
{
	struct rows rows = { .y = { 60, 60, 60, 60, 60, 60, 60, 60 } };
	struct training_task task = task_of(&rows, FEATURES);

	for (task.rows = 1; task.rows <= 8; task.rows += 7) {
		for (const struct trainer *trainer = trainers; trainer->name; trainer++) {
			struct predictor predictor;

			if (task.rows < 4 && strstr(trainer->what, "curve"))
				continue;
			predictor = train(trainer->name, &task);
			assert_true(fabs(predictor_watts(&predictor, rows.x) - 60) < 0.5);
			predictor_release(&predictor);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_find_a_line),
		cmocka_unit_test(test_lines_are_the_least_squares),
		cmocka_unit_test(test_no_weight_is_negative),
		cmocka_unit_test(test_a_weight_that_turns_negative_leaves),
		cmocka_unit_test(test_columns_that_are_alike_share),
		cmocka_unit_test(test_polynomial_finds_one),
		cmocka_unit_test(test_penalty_tames_terms_beyond_the_rows),
		cmocka_unit_test(test_curves_find_theirs),
		cmocka_unit_test(test_curves_take_constant_power),
		cmocka_unit_test(test_neighbours_are_the_rows),
		cmocka_unit_test(test_trees_and_vectors_follow_steps),
		cmocka_unit_test(test_monotone_trees_never_fall),
		cmocka_unit_test(test_ratio_trees_see_ratios),
		cmocka_unit_test(test_ratio_trees_rise_along_the_load),
		cmocka_unit_test(test_a_steady_curve_sees_the_load_alone),
		cmocka_unit_test(test_steady_trees_leave_out_where_load_begins),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_one_row_and_constant_rows),
	};

	return unit_run(tests);
}
