// SPDX-License-Identifier: Apache-2.0
#include "kepler-model/estimate_request.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"

static void keplers_request_is_read(void **state)
{
	static const char text[] =
		"{\"metrics\": [\"a\", \"b\"], \"values\": [[1, 2], [3, null]], \"output_type\": "
		"\"DynPower\", \"source\": \"acpi\", \"system_features\": [\"cpu_architecture\", "
		"\"frequency\"], \"system_values\": [\"Sky Lake\", 2400], \"trainer_name\": \"\", "
		"\"filter\": \"mae:5\"}";
	struct estimate_request request;

	(void)state;
	assert_int_equal(estimate_request_read(text, strlen(text), &request, NULL), 0);
	assert_int_equal(request.name_count, 3);
	assert_string_equal(request.names[2], "frequency");
	assert_int_equal(request.row_count, 2);
	assert_int_equal((int)request.values[0], 1);
	assert_int_equal((int)request.values[2], 2400);
	assert_int_equal((int)request.values[3], 3);
	assert_true(isnan(request.values[4])); /* not known, which is not 0 */
	assert_int_equal((int)request.values[5], 2400);
	assert_int_equal(request.output, MODEL_DYN_POWER);
	assert_string_equal(request.source, "acpi");
	assert_string_equal(request.filter, "mae:5");
	estimate_request_release(&request);
}

static void what_is_wrong_is_said_by_key(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "{", "not JSON" },
		{ "{}", "metrics:" },
		{ "{\"metrics\": [\"a\"]}", "values:" },
		{ "{\"metrics\": [\"a\"], \"values\": []}", "values:" },
		{ "{\"metrics\": [\"a\"], \"values\": [[1, 2]]}", "row 0" },
		{ "{\"metrics\": [\"a\"], \"values\": [[1], 2]}", "row 1" },
		{ "{\"metrics\": [\"a\"], \"values\": [[\"1\"]]}", "row 0" },
		{ "{\"metrics\": [\"a\", \"a\"], \"values\": [[1, 1]]}", "twice" },
		{ "{\"metrics\": [\"a\"], \"values\": [[1e999]]}", "not JSON" },
		{ "{\"metrics\": [\"a\"], \"values\": [[NaN]]}", "not JSON" },
		{ "{\"metrics\": [\"a\"], \"values\": [[1]], \"system_features\": [\"b\"]}",
		  "system_values:" },
		{ "{\"metrics\": [\"a\"], \"values\": [[1]], \"output_type\": \"x\"}",
		  "output_type:" },
		{ "{\"metrics\": [\"a\"], \"values\": [[1]], \"source\": []}", "source:" },
	};
	struct estimate_request request;
	struct diag diag;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		diag.text[0] = '\0';
		assert_int_equal(estimate_request_read(cases[i].text, strlen(cases[i].text),
						       &request, &diag),
				 -EINVAL);
		assert_non_null(strstr(diag.text, cases[i].why));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keplers_request_is_read),
		cmocka_unit_test(what_is_wrong_is_said_by_key),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
