// SPDX-License-Identifier: Apache-2.0
#include "training/reservoir.h"

#include "tests/unit/unit.h"

static void test_strata_are_halves_of_powers_of_two(void **state)
{
	assert_int_equal(reservoir_stratum(0), 0);
	assert_int_equal(reservoir_stratum(1e-9), 0);
	assert_int_equal(reservoir_stratum((double)NAN), 0);
	assert_int_equal(reservoir_stratum(1.49), reservoir_stratum(1.01));
	assert_int_equal(reservoir_stratum(1.5), reservoir_stratum(1.01) + 1);
	assert_int_equal(reservoir_stratum(2), reservoir_stratum(1.5) + 1);
	assert_int_equal(reservoir_stratum(1e300), RESERVOIR_STRATA - 1);
	for (double load = 1e-6; load < 1e15; load *= 1.1)
		assert_true(reservoir_stratum(load * 1.1) >= reservoir_stratum(load));
}

/* One row of work in a thousand idle ones is not lost. */
static void test_rare_loads_stay(void **state)
{
	struct reservoir reservoir;
	size_t busy = reservoir_stratum(1000);

	reservoir_init(&reservoir, 1, 1);
	for (int i = 0; i < 100000; i++) {
		double load = i % 1000 ? 1 : 1000;

		assert_int_equal(reservoir_add(&reservoir, load, &load), 0);
	}
	assert_int_equal(reservoir.count[busy], 100);
	assert_int_equal(reservoir.count[reservoir_stratum(1)], RESERVOIR_ROWS);
	assert_int_equal(reservoir_count(&reservoir), 100 + RESERVOIR_ROWS);
	reservoir_release(&reservoir);
}

/* Each row that came is kept with the same probability: early and late ones alike. */
static void test_old_and_new_rows_are_kept_alike(void **state)
{
	double sum = 0;

	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct reservoir reservoir;

		reservoir_init(&reservoir, 1, seed);
		for (int i = 0; i < 2000; i++) {
			double row = i;

			assert_int_equal(reservoir_add(&reservoir, 1, &row), 0);
		}
		for (size_t i = 0; i < RESERVOIR_ROWS; i++)
			sum += reservoir.rows[reservoir_stratum(1)][i];
		reservoir_release(&reservoir);
	}
	/* A mean of 6,400 draws from 0 … 1999 has a standard error of 7.2. */
	assert_true(fabs(sum / (50.0 * RESERVOIR_ROWS) - 999.5) < 30);
}

static void test_what_was_in_it_can_be_put_back(void **state)
{
	struct reservoir reservoir;
	double row[2] = { 1, 2 };

	reservoir_init(&reservoir, 2, 1);
	for (int i = 0; i < RESERVOIR_ROWS; i++)
		assert_int_equal(reservoir_restore(&reservoir, 3, row), 0);
	assert_int_equal(reservoir_restore(&reservoir, 3, row), -ENOSPC);
	reservoir_release(&reservoir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strata_are_halves_of_powers_of_two),
		cmocka_unit_test(test_rare_loads_stay),
		cmocka_unit_test(test_old_and_new_rows_are_kept_alike),
		cmocka_unit_test(test_what_was_in_it_can_be_put_back),
	};

	return unit_run(tests);
}
