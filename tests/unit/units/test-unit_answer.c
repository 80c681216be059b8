// SPDX-License-Identifier: Apache-2.0
#include "units/unit_answer.h"

#include "tests/unit/unit.h"

#define HEAD                  "{\"status\":\"success\",\"data\":{\"result\":["
#define TAIL                  "]}}"
#define SERIES(labels, value) "{\"metric\":{" labels "},\"values\":[[1796040000,\"" value "\"]]}"
#define WEB                   "\"namespace\":\"shop\",\"pod\":\"web-1\""

static int read_answer(struct unit_targets *targets, const char *text, struct diag *diag)
{
	uint64_t hashes[] = { unit_pod_hash("shop", "web-1") };
	const struct unit_pods pods = { hashes, 1, 1 };

	unit_targets_begin(targets);
	return unit_answer_read(text, strlen(text), 3, &pods, targets, diag);
}

static void test_series_of_a_pod_are_added(void **state)
{
	CLEANUP(unit_targets_release) struct unit_targets targets = { .count = 0 };
	struct diag diag = { "" };

	assert_int_equal(read_answer(&targets,
				     HEAD SERIES(WEB ",\"code\":\"200\"", "5") "," SERIES(
					     "\"namespace\":\"shop\",\"pod\":\"elsewhere\"",
					     "9") "," SERIES(WEB ",\"code\":\"404\"", "1") TAIL,
				     &diag),
			 0);
	assert_int_equal(targets.count, 1);
	assert_true(targets.targets[0].is_read);
	assert_true(targets.targets[0].is_first);
	assert_int_equal(targets.targets[0].unit, 3);
	assert_string_equal(targets.targets[0].name, "web-1");
	assert_string_equal(targets.targets[0].namespace_, "shop");
	assert_int_equal(read_answer(&targets,
				     HEAD SERIES(WEB ",\"code\":\"200\"",
						 "7") "," SERIES(WEB ",\"code\":\"404\"", "4") TAIL,
				     &diag),
			 0);
	assert_int_equal(targets.targets[0].increase_micro, 5000000);
	assert_false(targets.targets[0].is_first);
	/* An answer about other pods: this one has not been read. */
	assert_int_equal(read_answer(&targets,
				     HEAD SERIES("\"namespace\":\"a\",\"pod\":\"b\"", "9") TAIL,
				     &diag),
			 0);
	assert_false(targets.targets[0].is_read);
}

static void assert_fault(const char *text, const char *says)
{
	CLEANUP(unit_targets_release) struct unit_targets targets = { .count = 0 };
	struct diag diag = { "" };

	assert_true(read_answer(&targets, text, &diag) < 0);
	if (!strstr(diag.text, says))
		print_error("%s: %s\n", text, diag.text);
	assert_non_null(strstr(diag.text, says));
	for (size_t i = 0; i < targets.count; i++)
		assert_false(targets.targets[i].is_read);
}

static void test_faults(void **state)
{
	assert_fault(HEAD TAIL, "labels namespace and pod");
	assert_fault(HEAD SERIES("\"job\":\"x\"", "1") TAIL, "labels namespace and pod");
	assert_fault(HEAD SERIES(WEB, "-1") TAIL, "is no counter's");
	assert_fault(HEAD SERIES(WEB, "1") "," SERIES(WEB, "1") TAIL, "two values");
	assert_fault("{\"status\":\"error\",\"error\":\"bad query\"}", "bad query");
	assert_fault("{}", "it is not a Prometheus");
	assert_fault(HEAD SERIES(WEB, "1"), "");
}

static void test_url(void **state)
{
	struct unit_rule rule = { .url = "http://p:9090/x//",
				  .query = "sum by (namespace, pod) (a{b=\"c\"})" };
	char url[512];

	assert_int_equal(unit_answer_url(&rule, 1796040000, url, sizeof(url)), 0);
	assert_string_equal(url, "http://p:9090/x/api/v1/query_range?query="
				 "sum%20by%20%28namespace%2C%20pod%29%20%28a%7Bb%3D%22c%22%7D%29"
				 "&start=1796040000&end=1796040000&step=1");
	assert_int_equal(unit_answer_url(&rule, 1796040000, url, 60), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_series_of_a_pod_are_added),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_url),
	};

	return unit_run(tests);
}
