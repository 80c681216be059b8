// SPDX-License-Identifier: Apache-2.0
#include "verdict-report/report_compare.h"

#include <math.h>

#include "tests/unit/unit.h"

#define ROW(verdict_, ratio_, low, high)                                                           \
	{                                                                                          \
		.name = "node/package", .verdict = (verdict_), .error = fabs((double)(ratio_)-1),  \
		.ratio = (ratio_), .ratio_low = (low), .ratio_high = (high)                        \
	}

static void verdicts_and_intervals_decide(void **state)
{
	static const struct {
		struct summary_row before, after;
		enum change change;
	} cases[] = {
		{ ROW(VERDICT_PASS, 1, 0.99, 1.01), ROW(VERDICT_FAIL, 0.5, 0.49, 0.51),
		  CHANGE_WORSE },
		{ ROW(VERDICT_FAIL, 0.5, 0.49, 0.51), ROW(VERDICT_INCONCLUSIVE, 1, 0.5, 1.5),
		  CHANGE_BETTER },
		/* Noise is not a change; a shift beyond it is, in either direction. */
		{ ROW(VERDICT_PASS, 1, 0.99, 1.01), ROW(VERDICT_PASS, 1.015, 1.005, 1.025),
		  CHANGE_NONE },
		{ ROW(VERDICT_PASS, 1, 0.99, 1.01), ROW(VERDICT_PASS, 1.03, 1.02, 1.04),
		  CHANGE_WORSE },
		{ ROW(VERDICT_FAIL, 0.5, 0.49, 0.51), ROW(VERDICT_FAIL, 0.7, 0.69, 0.71),
		  CHANGE_BETTER },
		/* A double is as wrong as a half. */
		{ ROW(VERDICT_FAIL, 0.6, 0.59, 0.61), ROW(VERDICT_FAIL, 2, 1.9, 2.1),
		  CHANGE_WORSE },
		/* Without intervals only verdicts can change. */
		{ ROW(VERDICT_PASS, 1, NAN, NAN), ROW(VERDICT_PASS, 0.5, NAN, NAN), CHANGE_NONE },
		/* A check that is no longer judged cannot fail. */
		{ ROW(VERDICT_PASS, 1, 0.99, 1.01), ROW(VERDICT_NOT_APPLICABLE, 1, NAN, NAN),
		  CHANGE_WORSE },
		{ ROW(VERDICT_NOT_APPLICABLE, 1, NAN, NAN), ROW(VERDICT_PASS, 1, 0.99, 1.01),
		  CHANGE_INCOMPARABLE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct summary_row rows[2] = { cases[i].before, cases[i].after };
		const struct report_summary before = { .rows = &rows[0], .count = 1 };
		const struct report_summary after = { .rows = &rows[1], .count = 1 };
		struct comparison comparison;

		assert_int_equal(report_compare(&before, &after, &comparison), 0);
		assert_int_equal(comparison.count, 1);
		assert_int_equal(comparison.items[0].change, cases[i].change);
		assert_int_equal(comparison.counts[cases[i].change], 1);
		comparison_release(&comparison);
	}
}

static void results_are_matched_by_name_and_order(void **state)
{
	struct summary_row first[] = { { .name = "a", .verdict = VERDICT_PASS },
				       { .name = "b", .verdict = VERDICT_PASS },
				       { .name = "a", .verdict = VERDICT_FAIL } };
	struct summary_row second[] = { { .name = "a", .verdict = VERDICT_PASS },
					{ .name = "a", .verdict = VERDICT_FAIL },
					{ .name = "c", .verdict = VERDICT_PASS } };
	const struct report_summary before = { .rows = first, .count = 3 };
	const struct report_summary after = { .rows = second, .count = 3 };
	struct comparison comparison;

	assert_int_equal(report_compare(&before, &after, &comparison), 0);
	assert_int_equal(comparison.count, 4);
	assert_ptr_equal(comparison.items[0].after, &second[0]);
	assert_null(comparison.items[1].after);
	assert_int_equal(comparison.items[1].change, CHANGE_WORSE);
	assert_ptr_equal(comparison.items[2].after, &second[1]);
	assert_null(comparison.items[3].before);
	assert_int_equal(comparison.items[3].change, CHANGE_INCOMPARABLE);
	comparison_release(&comparison);
}

/* Two exporters; one has another address later, or they are given in another order. */
static void results_are_matched_by_exporter(void **state)
{
	struct summary_row first[] = {
		{ .name = "a", .exporter = "x", .verdict = VERDICT_PASS },
		{ .name = "a", .exporter = "y", .verdict = VERDICT_FAIL },
	};
	struct summary_row second[] = {
		{ .name = "a", .exporter = "y", .verdict = VERDICT_FAIL },
		{ .name = "a", .exporter = "z", .verdict = VERDICT_PASS },
	};
	const struct report_summary before = { .rows = first, .count = 2 };
	const struct report_summary after = { .rows = second, .count = 2 };
	struct comparison comparison;

	assert_int_equal(report_compare(&before, &after, &comparison), 0);
	assert_int_equal(comparison.count, 2);
	assert_ptr_equal(comparison.items[0].after, &second[1]);
	assert_ptr_equal(comparison.items[1].after, &second[0]);
	assert_int_equal(comparison.counts[CHANGE_NONE], 2);
	comparison_release(&comparison);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts_and_intervals_decide),
		cmocka_unit_test(results_are_matched_by_name_and_order),
		cmocka_unit_test(results_are_matched_by_exporter),
	};

	return unit_run(tests);
}
