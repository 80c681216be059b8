// SPDX-License-Identifier: Apache-2.0
#include "kube/pod_labels.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"

static void check(const char *wanted, const char *metadata, const char *expected)
{
	json_t *object = json_loads(metadata, 0, NULL);
	struct strbuf out = STRBUF_INIT;
	struct pod_labels labels;

	assert_non_null(object);
	assert_int_equal(pod_labels_parse(wanted, &labels, NULL), 0);
	pod_labels_write(&labels, object, &out);
	assert_string_equal(out.data ? out.data : "", expected);
	strbuf_release(&out);
	pod_labels_release(&labels);
	json_decref(object);
}

static void writes_what_is_there_in_the_users_order(void **state)
{
	(void)state;
	check("team,app", "{\"labels\":{\"app\":\"shop\",\"team\":\"a\",\"other\":\"x\"}}",
	      ",label_team=\"a\",label_app=\"shop\"");
	check(" app , team", "{\"labels\":{\"app\":\"shop\"}}", ",label_app=\"shop\"");
	check("app.kubernetes.io/part-of", "{\"labels\":{\"app.kubernetes.io/part-of\":\"s\"}}",
	      ",label_app_kubernetes_io_part_of=\"s\"");
	check("app", "{\"labels\":{\"app\":\"\"}}", "");
	check("app", "{}", "");
	check("app", "{\"labels\":{\"app\":5}}", "");
	check("", "{\"labels\":{\"app\":\"shop\"}}", "");
	check(NULL, "{\"labels\":{\"app\":\"shop\"}}", "");
}

static void labels_win_over_annotations(void **state)
{
	(void)state;
	check("app", "{\"labels\":{\"app\":\"l\"},\"annotations\":{\"app\":\"a\"}}",
	      ",label_app=\"l\"");
	check("app", "{\"annotations\":{\"app\":\"a\"}}", ",label_app=\"a\"");
}

static void values_are_escaped_and_cut(void **state)
{
	(void)state;
	check("app", "{\"annotations\":{\"app\":\"a\\\"} 1\\nkepler_x{\\\\\"}}",
	      ",label_app=\"a\\\"} 1\\nkepler_x{\\\\\"");
	/* 62 bytes, then a character of two: it does not fit 63 and is left out whole. */
	check("a",
	      "{\"annotations\":{\"a\":"
	      "\"00000000000000000000000000000000000000000000000000000000000000\\u00e9z\"}}",
	      ",label_a=\"00000000000000000000000000000000000000000000000000000000000000\"");
	check("a",
	      "{\"annotations\":{\"a\":"
	      "\"0000000000000000000000000000000000000000000000000000000000000\\u00e9z\"}}",
	      ",label_a=\"0000000000000000000000000000000000000000000000000000000000000"
	      "\303\251\"");
}

/* Never more than 255 bytes, and never a part of a label: the line would not parse. */
static void what_does_not_fit_is_left_out_whole(void **state)
{
	static const char metadata[] =
		"{\"labels\":{\"a\":"
		"\"000000000000000000000000000000000000000000000000000000000000\","
		"\"b\":\"111111111111111111111111111111111111111111111111111111111111\","
		"\"c\":\"222222222222222222222222222222222222222222222222222222222222\","
		"\"d\":\"333333333333333333333333333333333333333333333333333333333333\","
		"\"e\":\"4\"}}";
	json_t *object = json_loads(metadata, 0, NULL);
	struct strbuf out = STRBUF_INIT;
	struct pod_labels labels;

	(void)state;
	assert_int_equal(pod_labels_parse("a,b,c,d,e", &labels, NULL), 0);
	pod_labels_write(&labels, object, &out);
	assert_true(out.len <= POD_LABELS_TEXT_MAX);
	assert_int_equal(out.len, 3 * 71 + 12);
	assert_string_equal(out.data + out.len - 12, ",label_e=\"4\"");
	strbuf_release(&out);
	pod_labels_release(&labels);
	json_decref(object);
}

static void refuses_what_makes_no_labels(void **state)
{
	static const char *const wrong[] = {
		",",   "a,",  ",a",      "a,,b", " ",
		"a, ", "a,a", "a.b,a/b", "a,a ", "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct pod_labels labels = { .count = 77 };
		struct diag diag = { "" };

		if (pod_labels_parse(wrong[i], &labels, &diag) != -EINVAL)
			fail_msg("'%s' is taken", wrong[i]);
		assert_int_equal(labels.count, 77);
		assert_true(diag.text[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_what_is_there_in_the_users_order),
		cmocka_unit_test(labels_win_over_annotations),
		cmocka_unit_test(values_are_escaped_and_cut),
		cmocka_unit_test(what_does_not_fit_is_left_out_whole),
		cmocka_unit_test(refuses_what_makes_no_labels),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
