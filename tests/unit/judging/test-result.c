// SPDX-License-Identifier: Apache-2.0
#include "judging/result.h"

#include "tests/unit/unit.h"

static void a_verdict_has_a_threshold(void **state)
{
	struct result *result = result_new("node/package", RESULT_ACCURACY);

	assert_int_equal(result->verdict, VERDICT_NOT_APPLICABLE);
	result_set_verdict(result, VERDICT_PASS, "energies agree");
	assert_int_equal(result->verdict, VERDICT_NOT_APPLICABLE);
	assert_string_equal(result->reason,
			    "energies agree; no threshold was given, so there is no verdict.");
	result_set_verdict(result, VERDICT_INCONCLUSIVE, "%d pairs", 2);
	assert_int_equal(result->verdict, VERDICT_INCONCLUSIVE);
	assert_string_equal(result->reason, "2 pairs");
	result->threshold.max_error = 0.05;
	result_set_verdict(result, VERDICT_FAIL, "off by half");
	assert_int_equal(result->verdict, VERDICT_FAIL);
	assert_string_equal(result->reason, "off by half");
	result_free(result);
}

static void text_from_outside_is_plain(void **state)
{
	struct result *result = result_new("node/\x1b[2J\n\xc2\x9b±", RESULT_ACCURACY);

	result_set_verdict(result, VERDICT_INCONCLUSIVE, "%s", "\x1b]0;x\a\x7f, ±5 %");
	assert_string_equal(result->name, "node/?[2J???±");
	assert_string_equal(result->reason, "?]0;x??, ±5 %");
	result_free(result);
}

static void the_worst_result_decides(void **state)
{
	struct result_list list = { 0 };
	static const enum verdict verdicts[] = { VERDICT_NOT_APPLICABLE, VERDICT_PASS,
						 VERDICT_INCONCLUSIVE, VERDICT_FAIL };
	static const int codes[] = { 3, 0, 3, 1 };

	assert_int_equal(result_list_verdict(&list), VERDICT_NOT_APPLICABLE);
	for (size_t i = 0; i < ARRAY_SIZE(verdicts); i++) {
		struct result *result = result_new("x", RESULT_CORRECTNESS);
		result->threshold.max_error = 0;
		result_set_verdict(result, verdicts[i], "so");
		assert_int_equal(result_list_add(&list, result), 0);
		assert_int_equal(result_list_verdict(&list), verdicts[i]);
		assert_int_equal(verdict_exit_code(verdicts[i]), codes[i]);
		assert_int_equal(result_list_count(&list, verdicts[i]), 1);
	}
	result_list_release(&list);
}

static void the_list_is_bounded(void **state)
{
	struct result_list list = { 0 };

	for (int i = 0; i < RESULTS_MAX; i++)
		assert_int_equal(result_list_add(&list, result_new("x", RESULT_ACCURACY)), 0);
	assert_int_equal(result_list_add(&list, result_new("x", RESULT_ACCURACY)), -ENOSPC);
	result_list_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_verdict_has_a_threshold),
		cmocka_unit_test(text_from_outside_is_plain),
		cmocka_unit_test(the_worst_result_decides),
		cmocka_unit_test(the_list_is_bounded),
	};
	return unit_run(tests);
}
