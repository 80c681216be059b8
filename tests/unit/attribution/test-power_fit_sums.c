// SPDX-License-Identifier: Apache-2.0
/* Lines through readings whose coefficients are known. */
#include "attribution/learning/power_fit_sums.h"

#include "tests/unit/unit.h"

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fmax(1, fabs(b));
}

/* Readings of 20 W + 2 J a cycle alone + 1.2 paired + 0.5 an instruction, where both vary. */
static void read_machine(struct power_fit_sums *sums)
{
	*sums = (struct power_fit_sums){ 0 };
	for (int i = 0; i < 60; i++) {
		struct power_fit_reading reading = { .weight = 1 };

		reading.x[POWER_FIT_ALONE] = i % 5;
		reading.x[POWER_FIT_PAIRED] = i % 3;
		reading.x[POWER_FIT_INSTRUCTIONS] = i % 4;
		reading.x[POWER_FIT_BASE] = 1;
		reading.power_w = 20 + 2 * (i % 5) + 1.2 * (i % 3) + 0.5 * (i % 4);
		power_fit_sums_read(sums, &reading);
	}
}

static void test_coefficients_are_found(void **state)
{
	double coefficient[POWER_FIT_TERMS] = { 0 }, prior[POWER_FIT_TERMS] = { 0 };
	struct power_fit_sums sums;

	read_machine(&sums);
	power_fit_solve_drawn(&sums, -1, prior, 10, 0, coefficient);
	assert_true(is_near(coefficient[POWER_FIT_ALONE], 2));
	assert_true(is_near(coefficient[POWER_FIT_PAIRED], 1.2));
	assert_true(is_near(coefficient[POWER_FIT_INSTRUCTIONS], 0.5));
	assert_true(is_near(coefficient[POWER_FIT_TRAFFIC], 0));
	assert_true(is_near(coefficient[POWER_FIT_BASE], 20));
	assert_true(power_fit_left_w2(&sums, coefficient) < 1e-5);
	assert_true(
		is_near(power_fit_explained_w2(&sums, coefficient), power_fit_variance_w2(&sums)));
}

static void test_noise_draws_towards_the_prior(void **state)
{
	double prior[POWER_FIT_TERMS] = { 3, 3, 1, 0, 0, 0, 0, 10 };
	double weak[POWER_FIT_TERMS] = { 0 }, strong[POWER_FIT_TERMS] = { 0 };
	struct power_fit_sums sums;

	read_machine(&sums);
	power_fit_solve_drawn(&sums, -1, prior, 10, 0.1, weak);
	power_fit_solve_drawn(&sums, -1, prior, 10, 1e6, strong);
	for (size_t i = POWER_FIT_ALONE; i <= POWER_FIT_PAIRED; i++)
		assert_true(fabs(weak[i] - prior[i]) > fabs(strong[i] - prior[i]));
	assert_true(fabs(weak[POWER_FIT_ALONE] - 2) < 0.1);
	assert_true(fabs(strong[POWER_FIT_ALONE] - 3) < 0.1);
	assert_true(strong[POWER_FIT_BASE] > 15); /* the base is not drawn */
	power_fit_solve_drawn(&sums, 9, prior, 10, 0, strong);
	assert_true(is_near(strong[POWER_FIT_BASE], 9)); /* that which is known */
	assert_true(strong[POWER_FIT_ALONE] > 2.5);
	power_fit_solve_ratio(&sums, 9, prior, strong);
	assert_true(is_near(strong[POWER_FIT_BASE], 9));
}

static void test_the_plain_ratio_is_one_line(void **state)
{
	const double unit[POWER_FIT_FEATURES] = { 1, 0.6 };
	struct power_fit_sums sums = { 0 };
	double ratio[POWER_FIT_TERMS];

	for (int i = 0; i < 60; i++) {
		struct power_fit_reading reading = { .weight = 2 };

		reading.x[POWER_FIT_ALONE] = i % 5;
		reading.x[POWER_FIT_PAIRED] = i % 3;
		reading.x[POWER_FIT_BASE] = 1;
		reading.power_w = 7 + 4 * (i % 5 + 0.6 * (i % 3));
		power_fit_sums_read(&sums, &reading);
	}
	power_fit_solve_ratio(&sums, -1, unit, ratio);
	assert_true(is_near(ratio[POWER_FIT_ALONE], 4) && is_near(ratio[POWER_FIT_PAIRED], 2.4));
	assert_true(is_near(ratio[POWER_FIT_BASE], 7));
	assert_true(is_near(power_fit_solve_smt_factor(&sums, -1), 0.6));
}

static void test_no_factor_without_cycles(void **state)
{
	struct power_fit_reading reading = { .weight = 1, .power_w = 10 };
	struct power_fit_sums sums = { 0 };

	reading.x[POWER_FIT_BASE] = 1;
	power_fit_sums_read(&sums, &reading);
	assert_true(is_near(power_fit_solve_smt_factor(&sums, -1), 0));
}

static void test_what_is_forgotten_weighs_less(void **state)
{
	struct power_fit_sums sums, twice = { 0 };
	double variance_w2;

	read_machine(&sums);
	assert_true(is_near(power_fit_sums_weight(&sums), 60));
	variance_w2 = power_fit_variance_w2(&sums);
	power_fit_sums_forget(&sums, 0.5);
	assert_true(is_near(power_fit_sums_weight(&sums), 30));
	power_fit_sums_add(&twice, &sums);
	power_fit_sums_add(&twice, &sums);
	assert_true(is_near(power_fit_sums_weight(&twice), 60));
	assert_true(is_near(power_fit_variance_w2(&twice), variance_w2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_coefficients_are_found),
		cmocka_unit_test(test_noise_draws_towards_the_prior),
		cmocka_unit_test(test_the_plain_ratio_is_one_line),
		cmocka_unit_test(test_no_factor_without_cycles),
		cmocka_unit_test(test_what_is_forgotten_weighs_less),
	};

	return unit_run(tests);
}
