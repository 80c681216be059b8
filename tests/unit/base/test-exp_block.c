// SPDX-License-Identifier: Apache-2.0
#include "base/exp_block.h"

#include "tests/unit/unit.h"

static double worst_ratio(double first, double apart)
{
	double values[EXP_BLOCK], worst = 0;

	for (unsigned i = 0; i < EXP_BLOCK; i++)
		values[i] = first + i * apart;
	exp_block(values);
	for (unsigned i = 0; i < EXP_BLOCK; i++)
		worst = fmax(worst, fabs(values[i] / exp(first + i * apart) - 1));
	return worst;
}

static void test_it_is_exp(void **state)
{
	for (double x = -699; x < 699; x += 0.37)
		assert_true(worst_ratio(x, 0.0123) < 1e-15);
	for (double x = -1; x < 1; x += 0.001)
		assert_true(worst_ratio(x, 1e-4) < 1e-15);
}

static void test_far_numbers_equal_the_library(void **state)
{
	double values[EXP_BLOCK] = { 0, 1, -800, 800, (double)INFINITY, -(double)INFINITY, 2, NAN };

	exp_block(values);
	assert_true(values[0] >= 1 && values[0] <= 1);
	assert_true(fabs(values[1] / exp(1) - 1) < 1e-15);
	assert_true(values[2] >= 0 && values[2] <= 0);
	assert_true(isinf(values[3]) && isinf(values[4]));
	assert_true(values[5] >= 0 && values[5] <= 0);
	assert_true(fabs(values[6] / exp(2) - 1) < 1e-15);
	assert_true(isnan(values[7]));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_is_exp),
		cmocka_unit_test(test_far_numbers_equal_the_library),
	};

	return unit_run(tests);
}
