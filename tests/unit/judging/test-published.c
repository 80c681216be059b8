// SPDX-License-Identifier: Apache-2.0
#include "judging/published.h"

#include "tests/unit/unit.h"

#define SAMPLES 40

/* Two series 1 s apart in a step of 3 s; the actual values include zeros where @zeros. */
static void make_series(struct series **actual, struct series **predicted, bool zeros)
{
	*actual = series_new("a", "W");
	*predicted = series_new("p", "W");
	for (int i = 0; i < SAMPLES; i++) {
		double a = zeros && i % 4 == 0 ? 0 : 10 + i;
		assert_int_equal(series_add_gauge(*actual, 3 * i, a), 0);
		if (i > 0)
			assert_int_equal(series_add_gauge(*predicted, 3 * i + 1, 8 + i), 0);
	}
	series_finish(*actual);
	series_finish(*predicted);
}

static void expect(const struct published *published, bool zeros, enum verdict verdict,
		   const char *words, double error)
{
	struct result *result = result_new("published", RESULT_PUBLISHED);
	struct series *actual, *predicted;

	make_series(&actual, &predicted, zeros);
	published_judge(result, published, actual, predicted);
	if (result->verdict != verdict || !strstr(result->reason, words))
		fail_msg("%s: %s", verdict_name(result->verdict), result->reason);
	assert_true(isinf(error) ? isinf(result->error) : fabs(result->error - error) < 1e-9);
	series_free(actual);
	series_free(predicted);
	result_free(result);
}

static void errors_are_recomputed(void **state)
{
	struct series *actual, *predicted;
	struct recomputed found;
	double mape = 0, swapped = 0;

	for (int i = 1; i < SAMPLES; i++) {
		mape += 100 * 2.0 / (10 + i) / (SAMPLES - 1);
		swapped += 100 * 2.0 / (8 + i) / (SAMPLES - 1);
	}
	make_series(&actual, &predicted, false);
	published_recompute(actual, predicted, &found);
	assert_int_equal(found.pairs, SAMPLES - 1);
	assert_int_equal(found.left_out, 1);
	assert_true(fabs(found.mse - 4) < 1e-9 && fabs(found.mae - 2) < 1e-9);
	assert_true(fabs(found.mape - mape) < 1e-9 && fabs(found.swapped_mape - swapped) < 1e-9);
	series_free(actual);
	series_free(predicted);
	const struct published right = { .mse = 4.0, .mae = NAN, .mape = mape };
	const struct published exchanged = { .mse = 4.0, .mae = 2.0, .mape = swapped };
	expect(&right, false, VERDICT_PASS, "1 samples left out", 0);
	expect(&exchanged, false, VERDICT_FAIL, "arguments are swapped",
	       (swapped - mape - 0.006) / swapped);
}

static void differences_are_named(void **state)
{
	double right = 0;

	for (int i = 1; i < SAMPLES; i++)
		right += 100 * 2.0 / (10 + i) / (SAMPLES - 1);
	const struct published mape = { .mse = 4.0, .mae = 2.0, .mape = 120 };
	const struct published mse = { .mse = 40, .mae = NAN, .mape = NAN };
	const struct published mae = { .mse = NAN, .mae = 3, .mape = NAN };
	const struct published endless = { .mse = NAN, .mae = NAN, .mape = INFINITY };

	expect(&mape, false, VERDICT_FAIL, "Published MAPE 120 %", (120 - right - 0.006) / 120);
	expect(&mse, false, VERDICT_FAIL, "these are other series", (36 - 0.006) / 40);
	expect(&mae, false, VERDICT_FAIL, "Published MAE 3", (1 - 0.006) / 3);
	expect(&endless, false, VERDICT_FAIL, "MAPE inf", INFINITY);
	expect(&endless, true, VERDICT_PASS, "0 in 9 of 39 pairs, so MAPE means nothing", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_are_recomputed),
		cmocka_unit_test(differences_are_named),
	};
	return unit_run(tests);
}
