// SPDX-License-Identifier: Apache-2.0
#include "model/predictor.h"

#include "tests/unit/unit.h"

static void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-9 * fmax(1, fabs(expected))))
		fail_msg("%.12g is not %.12g", value, expected);
}

static void test_linear(void **state)
{
	double weights[] = { 10, 2, -3 };
	struct predictor predictor = { .form = PREDICTOR_LINEAR,
				       .features = 2,
				       .linear = { weights, 3 } };

	assert_int_equal(predictor_check(&predictor, NULL), 0);
	assert_near(predictor_watts(&predictor, (double[]){ 5, 1 }), 17);
	predictor.log_output = true;
	assert_near(predictor_watts(&predictor, (double[]){ 0, 3 }), exp(1));
}

static void test_polynomial_has_its_terms_in_order(void **state)
{
	double weights[] = { 1, 10, 100, 1e3, 1e4, 1e5 }; /* 1, x, y, x², xy, y² */
	struct predictor predictor = { .form = PREDICTOR_POLYNOMIAL,
				       .features = 2,
				       .linear = { weights, 6 } };

	assert_int_equal(predictor_terms(PREDICTOR_POLYNOMIAL, 2), 6);
	assert_int_equal(predictor_check(&predictor, NULL), 0);
	assert_near(predictor_watts(&predictor, (double[]){ 2, 3 }),
		    1 + 20 + 300 + 4e3 + 6e4 + 9e5);
}

static void test_curves(void **state)
{
	struct predictor predictor = { .form = PREDICTOR_LOGARITHMIC,
				       .features = 2,
				       .curve = { 1, { 10, 4, 30, 0 } } };

	assert_int_equal(predictor_check(&predictor, NULL), 0);
	assert_near(predictor_watts(&predictor, (double[]){ 9, 0.5 }), 10 * log(3) + 30);
	predictor.form = PREDICTOR_EXPONENTIAL;
	assert_near(predictor_watts(&predictor, (double[]){ 9, 0.5 }), 10 * exp(2) + 30);
	predictor.form = PREDICTOR_LOGISTIC;
	memcpy(predictor.curve.c, (double[]){ 100, 0.5, 8, 20 }, sizeof(predictor.curve.c));
	assert_near(predictor_watts(&predictor, (double[]){ 9, 0.5 }), 70);
	assert_near(predictor_watts(&predictor, (double[]){ 9, 0.75 }), 100 / (1 + exp(-2)) + 20);
	predictor.curve.feature = 2;
	assert_true(predictor_check(&predictor, NULL) < 0);
}

/* x0 <= 5 ? (x1 <= 2 ? 1 : 2) : 4, and a tree that is a leaf. */
static struct tree_node nodes[] = {
	{ .left = 1, .feature = 0, .threshold = 5, .missing_left = true, .or_equal = true },
	{ .left = 3, .feature = 1, .threshold = 2, .or_equal = true },
	{ .threshold = 4, .or_equal = true },
	{ .threshold = 1, .or_equal = true },
	{ .threshold = 2, .or_equal = true },
	{ .threshold = 100, .or_equal = true },
};

static void test_trees(void **state)
{
	static uint32_t roots[] = { 0, 5 };
	struct predictor predictor = {
		.form = PREDICTOR_TREES,
		.features = 2,
		.trees = { nodes, ARRAY_SIZE(nodes), roots, ARRAY_SIZE(roots), 1000, 1 },
	};

	assert_int_equal(predictor_check(&predictor, NULL), 0);
	assert_near(predictor_watts(&predictor, (double[]){ 4, 2 }), 1101);
	assert_near(predictor_watts(&predictor, (double[]){ 4, 2.1 }), 1102);
	assert_near(predictor_watts(&predictor, (double[]){ 5, 0 }), 1101);
	assert_near(predictor_watts(&predictor, (double[]){ 5.1, 0 }), 1104);
	assert_near(predictor_watts(&predictor, (double[]){ (double)NAN, 0 }), 1101);
	assert_near(predictor_watts(&predictor, (double[]){ 0, (double)NAN }), 1102);
	predictor.trees.rate = 0.5;
	assert_near(predictor_watts(&predictor, (double[]){ 6, 0 }), 1052);
	predictor.trees.rate = 1;
	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++)
		nodes[i].or_equal = false;
	assert_near(predictor_watts(&predictor, (double[]){ 5, 0 }), 1104);
	assert_near(predictor_watts(&predictor, (double[]){ 4, 2 }), 1102);
	assert_near(predictor_watts(&predictor, (double[]){ (double)NAN, 2 }), 1102);
	nodes[3].or_equal = true;
	assert_true(predictor_check(&predictor, NULL) < 0);
	nodes[3].or_equal = false;
}

/* x1 / x0 < 2 ? 10 : 20 */
static void test_trees_see_ratios(void **state)
{
	struct tree_node nodes_of_ratio[] = { { .left = 1, .feature = 2, .threshold = 2 },
					      { .threshold = 10 },
					      { .threshold = 20 } };
	uint32_t root = 0;
	struct predictor predictor = {
		.form = PREDICTOR_TREES,
		.features = 2,
		.trees = { nodes_of_ratio, 3, &root, 1, 0, 1, { { 1, 0 } }, 1 },
	};

	assert_int_equal(predictor_check(&predictor, NULL), 0);
	assert_near(predictor_watts(&predictor, (double[]){ 4, 7 }), 10);
	assert_near(predictor_watts(&predictor, (double[]){ 4, 8 }), 20);
	assert_near(predictor_watts(&predictor, (double[]){ 0, 8 }), 10); /* nothing runs */
	nodes_of_ratio[0].missing_left = true;
	assert_near(predictor_watts(&predictor, (double[]){ 4, (double)NAN }), 10);
	nodes_of_ratio[0].missing_left = false;
	assert_near(predictor_watts(&predictor, (double[]){ (double)NAN, 1 }), 20);
	predictor.trees.ratios[0].denominator = 2;
	assert_true(predictor_check(&predictor, NULL) < 0);
	predictor.trees.ratios[0].denominator = 0;
	predictor.trees.ratio_count = 0;
	assert_true(predictor_check(&predictor, NULL) < 0);
	predictor.trees.ratio_count = PREDICTOR_RATIOS_MAX + 1;
	assert_true(predictor_check(&predictor, NULL) < 0);
}

/* More trees than are descended at once are all counted, of any depths. */
static void test_many_trees(void **state)
{
	static uint32_t roots[37];
	struct predictor predictor = {
		.form = PREDICTOR_TREES,
		.features = 2,
		.trees = { nodes, ARRAY_SIZE(nodes), roots, ARRAY_SIZE(roots), 0, 1 },
	};
	double expected = 0;

	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		static const uint32_t at[] = { 0, 5, 1, 2 };
		static const double watts[] = { 2, 100, 2, 4 };

		roots[i] = at[i % 4];
		expected += watts[i % 4];
	}
	assert_near(predictor_watts(&predictor, (double[]){ 1, 3 }), expected);
}

static void test_invalid_trees_are_refused(void **state)
{
	static uint32_t root = 0;
	struct tree_node broken[ARRAY_SIZE(nodes)];
	struct predictor predictor = {
		.form = PREDICTOR_TREES,
		.features = 2,
		.trees = { broken, ARRAY_SIZE(nodes), &root, 1, 0, 1 },
	};

	memcpy(broken, nodes, sizeof(nodes));
	broken[1].left = 1; /* its own child */
	assert_true(predictor_check(&predictor, NULL) < 0);
	memcpy(broken, nodes, sizeof(nodes));
	broken[1].left = ARRAY_SIZE(nodes) - 1; /* the right one is missing */
	assert_true(predictor_check(&predictor, NULL) < 0);
	memcpy(broken, nodes, sizeof(nodes));
	broken[4].feature = 2;
	assert_true(predictor_check(&predictor, NULL) < 0);
	memcpy(broken, nodes, sizeof(nodes));
	broken[4].threshold = INFINITY;
	assert_true(predictor_check(&predictor, NULL) < 0);
	memcpy(broken, nodes, sizeof(nodes));
	root = ARRAY_SIZE(nodes);
	assert_true(predictor_check(&predictor, NULL) < 0);
}

static void test_neighbours(void **state)
{
	double rows[] = { 0, 0, 1, 0, 0, 2, 9, 9, 1, 0 };
	double values[] = { 10, 20, 30, 1000, 60 };
	struct predictor predictor = {
		.form = PREDICTOR_NEIGHBOURS,
		.features = 2,
		.rows = { rows, values, 5, 3, 0, 0 },
	};

	assert_int_equal(predictor_check(&predictor, NULL), 0);
	/* The two at (1, 0), then the origin. */
	assert_near(predictor_watts(&predictor, (double[]){ 0.9, 0 }), 30);
	predictor.rows.nearest = 2; /* of the three that are equally near, the first two */
	assert_near(predictor_watts(&predictor, (double[]){ 0.5, 0 }), 15);
	predictor.rows.nearest = 6;
	assert_true(predictor_check(&predictor, NULL) < 0);
}

static void test_kernel(void **state)
{
	double rows[] = { 0, 2 }, coefficients[] = { 3, -1 };
	struct predictor predictor = {
		.form = PREDICTOR_KERNEL,
		.features = 1,
		.rows = { rows, coefficients, 2, 0, 0.5, 7 },
	};

	assert_int_equal(predictor_check(&predictor, NULL), 0);
	assert_near(predictor_watts(&predictor, (double[]){ 1 }), 7 + 2 * exp(-0.5));
	predictor.rows.gamma = -1;
	assert_true(predictor_check(&predictor, NULL) < 0);
}

static void test_what_is_not_finite_is_refused(void **state)
{
	double weights[] = { 1, (double)NAN };
	struct predictor predictor = { .form = PREDICTOR_LINEAR,
				       .features = 1,
				       .linear = { weights, 2 } };
	struct diag diag = { "" };

	assert_true(predictor_check(&predictor, &diag) < 0);
	assert_string_equal(diag.text, "weight 1 is nan, not a finite number");
	weights[1] = 0;
	predictor.linear.terms = 1;
	assert_true(predictor_check(&predictor, &diag) < 0);
	predictor.features = 0;
	assert_true(predictor_check(&predictor, &diag) < 0);
	predictor.features = PREDICTOR_FEATURES_MAX + 1;
	assert_true(predictor_check(&predictor, &diag) < 0);
	predictor.features = 1;
	predictor.form = PREDICTOR_FORM_COUNT;
	assert_true(predictor_check(&predictor, &diag) < 0);
}

static void test_forms_have_names(void **state)
{
	for (unsigned form = 0; form < PREDICTOR_FORM_COUNT; form++)
		assert_int_equal(
			predictor_form_find(predictor_form_name((enum predictor_form)form)), form);
	assert_int_equal(predictor_form_find("forest"), PREDICTOR_FORM_COUNT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_linear),
		cmocka_unit_test(test_polynomial_has_its_terms_in_order),
		cmocka_unit_test(test_curves),
		cmocka_unit_test(test_trees),
		cmocka_unit_test(test_trees_see_ratios),
		cmocka_unit_test(test_many_trees),
		cmocka_unit_test(test_invalid_trees_are_refused),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_what_is_not_finite_is_refused),
		cmocka_unit_test(test_forms_have_names),
	};

	return unit_run(tests);
}
