// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>

#include "doctor/findings.h"
#include "tests/unit/unit.h"

static void test_status_is_1_only_when_something_can_be_done(void **state)
{
	CLEANUP_FREE struct findings *findings = calloc(1, sizeof(*findings));

	findings_add(findings, FINDING_OK, "a", NULL, "good");
	findings_add(findings, FINDING_NOTE, "a", NULL, "so it is");
	assert_int_equal(findings_exit_status(findings), 0);
	findings_add(findings, FINDING_FIX, "b", "do that", "missing %d", 1);
	assert_int_equal(findings_exit_status(findings), 1);
}

static const struct findings_view plain = { .width = 0 };
static const struct findings_view verbose = { .verbose = true };

static void expect_text(const struct findings *findings, const struct findings_view *view,
			const char *text)
{
	struct strbuf out = STRBUF_INIT;

	findings_print(findings, view, &out);
	assert_string_equal(out.data, text);
	strbuf_release(&out);
}

/* Neither as text nor as JSON; a text that is cut within a character ends with a "?". */
static void test_what_others_wrote_commands_no_terminal(void **state)
{
	CLEANUP_FREE struct findings *findings = calloc(1, sizeof(*findings));

	findings_add(findings, FINDING_FIX, "energy", "a\x1b[2Jb\nc",
		     "line \x1b]0;owned\x07 \x7f \xc2\x9b \xff m\xc3\xbcll \xe2\x82");
	assert_string_equal(findings->list[0].text, "line ?]0;owned? ? ?? ? m\xc3\xbcll ??");
	assert_string_equal(findings->list[0].fix, "a?[2Jb\nc");
}

static void test_what_can_be_acted_on_follows_the_verdict(void **state)
{
	CLEANUP_FREE struct findings *findings = calloc(1, sizeof(*findings));

	findings_add(findings, FINDING_OK, "machine", NULL, "a machine");
	findings_add(findings, FINDING_FIX, "energy", "run as root", "cannot read");
	findings_add(findings, FINDING_NOTE, "energy", NULL, "so it is");
	findings_add(findings, FINDING_NOTE, "names", "ask for it", "not asked");
	findings_add(findings, FINDING_SHOW, "ran", NULL, "a line");
	expect_text(findings, &plain,
		    "Kepler works; 1 thing can be improved: each FIX names one, and → shows how.\n"
		    "\nenergy\n  FIX   cannot read\n        → run as root\n"
		    "\nnames\n  note  not asked\n        → ask for it\n"
		    "\n2 further findings about this machine: kepler doctor --verbose\n");
	expect_text(findings, &verbose,
		    "Kepler works; 1 thing can be improved: each FIX names one, and → shows how.\n"
		    "\nenergy\n  FIX   cannot read\n        → run as root\n"
		    "\nnames\n  note  not asked\n        → ask for it\n"
		    "\nmachine\n  ok    a machine\n"
		    "\nenergy\n  note  so it is\n"
		    "\nran\n  a line\n");
	findings_add(findings, FINDING_FAIL, "start", NULL, "no memory");
	expect_text(findings, &plain,
		    "Kepler cannot work here.\n"
		    "\nenergy\n  FIX   cannot read\n        → run as root\n"
		    "\nnames\n  note  not asked\n        → ask for it\n"
		    "\nstart\n  FAIL  no memory\n"
		    "\n2 further findings about this machine: kepler doctor --verbose\n");
}

static void test_text_is_as_wide_as_asked(void **state)
{
	const struct findings_view narrow = { .width = 20 };
	CLEANUP_FREE struct findings *findings = calloc(1, sizeof(*findings));

	findings_add(findings, FINDING_NOTE, "energy", "ask for it at once", "it is ±4 W off");
	expect_text(findings, &narrow,
		    "Nothing needs to be fixed; each → is a choice.\n"
		    "\nenergy\n"
		    "  note  it is ±4 W\n"
		    "        off\n"
		    "        → ask for it\n"
		    "          at once\n");
}

static void test_nothing_is_missing_only_where_nothing_can_be_had(void **state)
{
	CLEANUP_FREE struct findings *findings = calloc(1, sizeof(*findings));

	findings_add(findings, FINDING_NOTE, "energy", NULL, "no meter");
	expect_text(findings, &plain,
		    "Everything this machine offers is in use.\n"
		    "\n1 further finding about this machine: kepler doctor --verbose\n");
	(void)snprintf(findings->headline, sizeof(findings->headline), "Power of the node: 5 W");
	expect_text(findings, &plain,
		    "Everything this machine offers is in use.\n"
		    "Power of the node: 5 W\n"
		    "\n1 further finding about this machine: kepler doctor --verbose\n");
}

static void test_json_is_json_whatever_the_text(void **state)
{
	CLEANUP_FREE struct findings *findings = calloc(1, sizeof(*findings));
	struct strbuf out = STRBUF_INIT;
	json_t *root, *list;

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

	for (int i = 0; i < 2 * FINDINGS_MAX; i++)
		findings_add(findings, FINDING_OK, "a", NULL, "%d", i);
	assert_int_equal(findings->count, FINDINGS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status_is_1_only_when_something_can_be_done),
		cmocka_unit_test(test_what_others_wrote_commands_no_terminal),
		cmocka_unit_test(test_what_can_be_acted_on_follows_the_verdict),
		cmocka_unit_test(test_text_is_as_wide_as_asked),
		cmocka_unit_test(test_nothing_is_missing_only_where_nothing_can_be_had),
		cmocka_unit_test(test_json_is_json_whatever_the_text),
		cmocka_unit_test(test_what_is_beyond_the_limit_is_left_out),
	};

	return unit_run(tests);
}
