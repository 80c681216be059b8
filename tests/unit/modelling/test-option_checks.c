// SPDX-License-Identifier: Apache-2.0
#include "modelling/option_checks.h"

#include <errno.h>

#include "tests/unit/unit.h"

typedef int check_fn(const char *text, struct diag *diag);

static void assert_refused(check_fn *check, const char *text, const char *why)
{
	struct diag diag = { "" };

	assert_int_equal(check(text, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, why));
}

static void addresses_times_and_durations(void **state)
{
	(void)state;
	assert_int_equal(check_address("", NULL), 0);
	assert_int_equal(check_address("https://prometheus:9090/p", NULL), 0);
	assert_refused(check_address, "prometheus:9090",
		       "http:// or https://, not \"prometheus:9090\"");
	assert_int_equal(check_time("", NULL), 0);
	assert_int_equal(check_time("2026-11-24T13:00:00Z", NULL), 0);
	assert_refused(check_time, "yesterday", "not \"yesterday\"");
	assert_int_equal(check_seconds("300", NULL), 0);
	assert_refused(check_seconds, "", "must be seconds");
	assert_int_equal(check_step("1ms", NULL), 0);
	assert_refused(check_step, "0", "at least 1ms");
}

static void all_unknown_names_are_in_one_message(void **state)
{
	(void)state;
	assert_int_equal(check_trainers("", NULL), 0);
	assert_int_equal(check_trainers("RatioBlend,,Xgboost", NULL), 0);
	assert_refused(check_trainers, "Forest,Ridge,Oak",
		       "no trainer \"Forest\", \"Oak\"; the trainers are ");
	assert_int_equal(check_feature_group("", NULL), 0);
	assert_int_equal(check_feature_group("BPFOnly", NULL), 0);
	assert_refused(check_feature_group, "Counters", "no group \"Counters\"; the groups are ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_times_and_durations),
		cmocka_unit_test(all_unknown_names_are_in_one_message),
	};

	return unit_run(tests);
}
