// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"
#include "kepler/findings.h"

static void test_status_is_1_only_when_something_can_be_done(void **state)
{
	CLEANUP_FREE struct findings *findings = calloc(1, sizeof(*findings));

	(void)state;
	findings_add(findings, FINDING_OK, "a", NULL, "good");
	findings_add(findings, FINDING_NOTE, "a", NULL, "so it is");
	assert_int_equal(findings_exit_status(findings), 0);
	findings_add(findings, FINDING_FIX, "b", "do that", "missing %d", 1);
	assert_int_equal(findings_exit_status(findings), 1);
}

static void test_text_names_the_fix(void **state)
{
	CLEANUP_FREE struct findings *findings = calloc(1, sizeof(*findings));
	struct strbuf out = STRBUF_INIT;

	(void)state;
	findings_add(findings, FINDING_FIX, "energy", "run as root", "cannot read");
	findings_print(findings, false, 0, &out);
	assert_non_null(strstr(out.data, "energy\n  FIX   cannot read\n        → run as root\n"));
	assert_null(strchr(out.data, '\033'));
	strbuf_release(&out);
}

static void test_text_is_as_wide_as_asked(void **state)
{
	CLEANUP_FREE struct findings *findings = calloc(1, sizeof(*findings));
	struct strbuf out = STRBUF_INIT;

	(void)state;
	findings_add(findings, FINDING_NOTE, "energy", "ask for it at once", "it is ±4 W off");
	findings_print(findings, false, 20, &out);
	assert_string_equal(out.data, "energy\n"
				      "  note  it is ±4 W\n"
				      "        off\n"
				      "        → ask for it\n"
				      "          at once\n"
				      "\nNothing has to be fixed; each → is a choice.\n");
	strbuf_release(&out);
}

static void test_nothing_is_missing_only_where_nothing_can_be_had(void **state)
{
	CLEANUP_FREE struct findings *findings = calloc(1, sizeof(*findings));
	struct strbuf out = STRBUF_INIT;

	(void)state;
	findings_add(findings, FINDING_NOTE, "energy", NULL, "no meter");
	findings_print(findings, false, 0, &out);
	assert_non_null(strstr(out.data, "\nEverything this machine offers is in use.\n"));
	strbuf_reset(&out);
	findings_add(findings, FINDING_NOTE, "energy", "ask for it", "not asked");
	findings_print(findings, false, 0, &out);
	assert_null(strstr(out.data, "Everything"));
	strbuf_release(&out);
}

static void test_json_is_json_whatever_the_text(void **state)
{
	CLEANUP_FREE struct findings *findings = calloc(1, sizeof(*findings));
	struct strbuf out = STRBUF_INIT;
	json_t *root, *list;

	(void)state;
	findings_add(findings, FINDING_OK, "users", NULL, "%s", "a \"name\"\nwith \\ and \xff");
	findings_add(findings, FINDING_FAIL, "start", "fix\tit", "broken");
	findings_print_json(findings, &out);
	root = json_loads(out.data, 0, NULL);
	assert_non_null(root);
	assert_true(json_is_false(json_object_get(root, "healthy")));
	list = json_object_get(root, "findings");
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(list, 1), "level")),
			    "fail");
	json_decref(root);
	strbuf_release(&out);
}

static void test_what_is_beyond_the_limit_is_left_out(void **state)
{
	CLEANUP_FREE struct findings *findings = calloc(1, sizeof(*findings));

	(void)state;
	for (int i = 0; i < 2 * FINDINGS_MAX; i++)
		findings_add(findings, FINDING_OK, "a", NULL, "%d", i);
	assert_int_equal(findings->count, FINDINGS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status_is_1_only_when_something_can_be_done),
		cmocka_unit_test(test_text_names_the_fix),
		cmocka_unit_test(test_text_is_as_wide_as_asked),
		cmocka_unit_test(test_nothing_is_missing_only_where_nothing_can_be_had),
		cmocka_unit_test(test_json_is_json_whatever_the_text),
		cmocka_unit_test(test_what_is_beyond_the_limit_is_left_out),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
