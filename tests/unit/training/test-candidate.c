// SPDX-License-Identifier: Apache-2.0
#include "training/forms/candidate.h"

#include "tests/unit/unit.h"
#include "training/random.h"

static void test_a_gain_beyond_its_uncertainty_counts(void **state)
{
	const double current[] = { 5, 6, 4, 7 }, candidate[] = { 3, 3, 2, 4 };
	struct candidate_verdict verdict;

	candidate_judge(current, candidate, 4, &verdict);
	assert_true(verdict.is_better);
	assert_true(fabs(verdict.current_w - 5.5) < 1e-12);
	assert_true(fabs(verdict.gain_w - 2.5) < 1e-12);
	/* 2.353 × 0.57735 / 2 */
	assert_true(fabs(verdict.uncertainty_w - 0.67925) < 1e-4);
}

static void test_one_good_block_is_not_enough(void **state)
{
	const double current[] = { 5, 5, 5, 20 }, candidate[] = { 5.1, 5.1, 5.1, 5 };
	struct candidate_verdict verdict;

	candidate_judge(current, candidate, 4, &verdict);
	assert_true(verdict.gain_w > 3);
	assert_false(verdict.is_better);
}

static void test_few_blocks_decide_nothing(void **state)
{
	const double current[] = { 5, 5 }, candidate[] = { 1, 1 };
	struct candidate_verdict verdict;

	candidate_judge(current, candidate, 2, &verdict);
	assert_false(verdict.is_better);
	assert_true(isinf(verdict.uncertainty_w));
}

/* Two models that are equally good: at most one of twenty is replaced by chance. */
static void test_equals_are_seldom_replaced(void **state)
{
	struct random random = { 1 };
	unsigned replaced = 0;

	for (int turn = 0; turn < 2000; turn++) {
		double current[8], candidate[8];
		struct candidate_verdict verdict;

		for (size_t i = 0; i < ARRAY_SIZE(current); i++) {
			current[i] = 5 + random_part(&random) + random_part(&random);
			candidate[i] = 5 + random_part(&random) + random_part(&random);
		}
		candidate_judge(current, candidate, ARRAY_SIZE(current), &verdict);
		replaced += verdict.is_better;
	}
	assert_in_range(replaced, 60, 130);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_gain_beyond_its_uncertainty_counts),
		cmocka_unit_test(test_one_good_block_is_not_enough),
		cmocka_unit_test(test_few_blocks_decide_nothing),
		cmocka_unit_test(test_equals_are_seldom_replaced),
	};

	return unit_run(tests);
}
