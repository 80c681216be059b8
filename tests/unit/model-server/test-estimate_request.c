// SPDX-License-Identifier: Apache-2.0
#include "model-server/estimate_request.h"

#include "base/strbuf.h"
#include "tests/unit/unit.h"

static void keplers_request_is_read(void **state)
{
	static const char text[] =
		"{\"metrics\": [\"a\", \"b\"], \"values\": [[1, 2], [3, null]], \"output_type\": "
		"\"DynPower\", \"source\": \"acpi\", \"system_features\": [\"cpu_architecture\", "
		"\"frequency\"], \"system_values\": [\"Sky Lake\", 2400], \"trainer_name\": \"\", "
		"\"filter\": \"mae:5\"}";
	struct estimate_request request;

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

static void errors_are_reported_by_key(void **state)
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
	struct diag diag = { "" };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		diag.text[0] = '\0';
		assert_int_equal(estimate_request_read(cases[i].text, strlen(cases[i].text),
						       &request, &diag),
				 -EINVAL);
		assert_non_null(strstr(diag.text, cases[i].why));
	}
}

static void all_errors_are_reported(void **state)
{
	static const char text[] =
		"{\"metrics\": [\"a\"], \"values\": [[1, 2]], \"output_type\": \"x\", "
		"\"source\": [], \"filter\": 1}";
	CLEANUP(strbuf_release) struct strbuf more = STRBUF_INIT, all = STRBUF_INIT;
	struct diag diag = { .more = &more };
	struct estimate_request request;

	assert_int_equal(estimate_request_read(text, strlen(text), &request, &diag), -EINVAL);
	diag_join(&diag, "; ", &all);
	assert_string_equal(all.data,
			    "values: row 0 must have a finite number for each of the 1 metrics; "
			    "output_type: must be AbsPower or DynPower, not \"x\"; "
			    "source: must be a text; filter: must be a text");
}

/* @names features and so many rows of them. */
static int read_of(size_t names, size_t rows)
{
	CLEANUP(strbuf_release) struct strbuf row = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct estimate_request request;
	int r;

	strbuf_add_str(&text, "{\"metrics\":[");
	for (size_t i = 0; i < names; i++) {
		strbuf_addf(&text, "%s\"f%zu\"", i ? "," : "", i);
		strbuf_add_str(&row, i ? ",1" : "1");
	}
	strbuf_add_str(&text, "],\"values\":[");
	for (size_t i = 0; i < rows; i++)
		strbuf_addf(&text, "%s[%s]", i ? "," : "", row.data);
	strbuf_add_str(&text, "]}");
	r = estimate_request_read(text.data, text.len, &request, NULL);
	if (r == 0)
		estimate_request_release(&request);
	return r;
}

static void names_and_rows_have_a_limit(void **state)
{
	assert_int_equal(read_of(128, 1), 0);
	assert_int_equal(read_of(129, 1), -EINVAL);
	assert_int_equal(read_of(1, 16384), 0);
	assert_int_equal(read_of(1, 16385), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keplers_request_is_read),
		cmocka_unit_test(errors_are_reported_by_key),
		cmocka_unit_test(all_errors_are_reported),
		cmocka_unit_test(names_and_rows_have_a_limit),
	};

	return unit_run(tests);
}
