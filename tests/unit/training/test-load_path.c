// SPDX-License-Identifier: Apache-2.0
#include "training/load_path.h"

#include "tests/unit/unit.h"

static void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-6))
		fail_msg("%.12g is not %.12g", value, expected);
}

/* x0 < 5 ? 100 : 60 */
static struct tree_node nodes[] = { { .left = 1, .threshold = 5 },
				    { .threshold = 100 },
				    { .threshold = 60 } };
static uint32_t root;
static const double x[] = { 1, 2, 10, 4, 3, 3 }, y[] = { 1, 2, 3 };

static struct predictor falling(size_t features)
{
	return (struct predictor){ .form = PREDICTOR_TREES,
				   .features = features,
				   .trees = { nodes, ARRAY_SIZE(nodes), &root, 1, 0, 1 } };
}

static void test_a_fall_is_found(void **state)
{
	struct training_task task = { .x = x, .y = y, .rows = 3, .features = 2 };
	struct predictor predictor = falling(2);

	assert_near(load_path_fall(&task, &predictor), 4); /* 40 W of 10 */
	nodes[2].threshold = 120;
	assert_near(load_path_fall(&task, &predictor), 0);
	nodes[1].threshold = 2; /* half a watt of it may be missing */
	nodes[2].threshold = 1.75;
	assert_near(load_path_fall(&task, &predictor), 0.5);
	nodes[1].threshold = 100;
	nodes[2].threshold = 60;
}

static void test_rows_rise_along_the_path(void **state)
{
	struct training_task task = { .x = x, .y = y, .rows = 3, .features = 2 };
	double path_x[LOAD_PATH_ROWS * 2], path_y[LOAD_PATH_ROWS];
	struct predictor predictor = falling(2);

	assert_int_equal(load_path_rows(&task, &predictor, path_x, path_y), LOAD_PATH_STEPS);
	for (size_t i = 0; i < LOAD_PATH_STEPS; i++) {
		assert_near(path_x[2 * i], 10 * ((double)i + 0.5) / LOAD_PATH_STEPS);
		assert_near(path_x[2 * i + 1], 4 * ((double)i + 0.5) / LOAD_PATH_STEPS);
		assert_near(path_y[i], 80); /* half of them 100, half 60 */
	}
}

static void test_the_part_without_load_is_at_three_places(void **state)
{
	static const bool grows[] = { true, false };
	struct training_task task = { .x = x, .y = y, .rows = 3, .features = 2, .grows = grows };
	double path_x[LOAD_PATH_ROWS * 2], path_y[LOAD_PATH_ROWS];
	struct predictor predictor = falling(2);

	nodes[2].threshold = 120;
	assert_int_equal(load_path_rows(&task, &predictor, path_x, path_y), LOAD_PATH_ROWS);
	assert_near(path_x[1], 2);
	assert_near(path_x[2 * LOAD_PATH_STEPS + 1], 3);
	assert_near(path_x[4 * LOAD_PATH_STEPS + 1], 4);
	assert_near(path_y[0], 100);
	assert_near(path_y[LOAD_PATH_STEPS - 1], 120);
	nodes[2].threshold = 60;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_fall_is_found),
		cmocka_unit_test(test_rows_rise_along_the_path),
		cmocka_unit_test(test_the_part_without_load_is_at_three_places),
	};

	return unit_run(tests);
}
