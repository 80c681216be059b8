// SPDX-License-Identifier: Apache-2.0
#include "samples/counter_points.h"

#include "tests/unit/unit.h"

#define assert_near(a, b, slack) assert_true(fabs((a) - (b)) <= (slack))

#define S                        1000000

/* Takes points one step apart from @from_s on; the amount of the last one, NAN where unknown. */
static double last_amount(enum points_kind kind, const double *values, size_t count,
			  struct points_faults *faults)
{
	struct counter_points points = { 0 };
	struct points_flow flow;
	double amount = (double)NAN;

	*faults = (struct points_faults){ 0 };
	for (size_t i = 0; i < count; i++) {
		bool known = counter_points_take(&points, kind, 3 * S, (int64_t)i * 3 * S,
						 values[i], &flow, faults);

		amount = known ? flow.amount : (double)NAN;
	}
	return amount;
}

static void test_kinds(void **state)
{
	static const double rise[] = { 5, 7 }, fall[] = { 5, 2 };
	struct points_faults faults;

	assert_near(last_amount(POINTS_ENERGY, rise, 2, &faults), 2, 0);
	assert_true(isnan(last_amount(POINTS_ENERGY, fall, 2, &faults)));
	assert_int_equal(faults.resets, 1);
	assert_near(last_amount(POINTS_COUNTER, fall, 2, &faults), 2, 0);
	assert_int_equal(faults.resets, 1);
	assert_near(last_amount(POINTS_LEVEL, fall, 2, &faults), 6, 0);
	assert_near(last_amount(POINTS_SIZE, fall, 2, &faults), 0, 0);
	assert_int_equal(faults.resets, 0);
	assert_true(isnan(last_amount(POINTS_COUNTER, rise, 1, &faults)));
}

/* A point that is not a number is skipped: the next one has the increase of both steps. */
static void test_no_number(void **state)
{
	static const double values[] = { 5, (double)NAN, 9 }, huge[] = { -1e308, 1.7e308 };
	struct points_faults faults;

	assert_near(last_amount(POINTS_COUNTER, values, 3, &faults), 4, 0);
	assert_int_equal(faults.not_numbers, 1);
	assert_true(isnan(last_amount(POINTS_COUNTER, huge, 2, &faults)));
}

static void test_gaps_and_disorder(void **state)
{
	struct counter_points points = { 0 };
	struct points_faults faults = { 0 };
	struct points_flow flow;

	assert_false(counter_points_take(&points, POINTS_COUNTER, 3 * S, 3 * S, 1, &flow, &faults));
	assert_true(counter_points_take(&points, POINTS_COUNTER, 3 * S, 18 * S, 2, &flow, &faults));
	assert_int_equal(flow.from_us, 3 * S);
	assert_int_equal(flow.to_us, 18 * S);
	assert_false(
		counter_points_take(&points, POINTS_COUNTER, 3 * S, 38 * S, 9, &flow, &faults));
	assert_int_equal(faults.gaps, 1);
	assert_false(
		counter_points_take(&points, POINTS_COUNTER, 3 * S, 38 * S, 9, &flow, &faults));
	assert_false(counter_points_take(&points, POINTS_COUNTER, 3 * S, 3 * S, 9, &flow, &faults));
	assert_int_equal(faults.disorder, 2);
	assert_true(
		counter_points_take(&points, POINTS_COUNTER, 3 * S, 41 * S, 10, &flow, &faults));
	assert_near(flow.amount, 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_no_number),
		cmocka_unit_test(test_gaps_and_disorder),
	};

	return unit_run(tests);
}
