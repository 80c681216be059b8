// SPDX-License-Identifier: Apache-2.0
#include "kube/pods/pod_labels.h"

#include "base/strbuf.h"
#include "tests/unit/unit.h"

#define ZEROS_31 "0000000000000000000000000000000"
#define ZEROS_62 ZEROS_31 ZEROS_31
#define ZEROS_63 ZEROS_62 "0"

/* The labels read, one after the other: label_app="shop"label_team="a", nothing escaped. */
static void check_lost(const char *wanted, const char *metadata, const char *expected, size_t lost)
{
	json_t *object = json_loads(metadata, 0, NULL);
	struct strbuf out = STRBUF_INIT;
	struct pod_label_values values;
	struct pod_labels labels;

	assert_non_null(object);
	assert_int_equal(pod_labels_parse(wanted, &labels, NULL), 0);
	pod_labels_read(&labels, object, &values);
	assert_int_equal(values.lost, lost);
	for (size_t i = 0; i < values.count; i++)
		strbuf_addf(&out, "%s=\"%s\"", values.items[i].name, values.items[i].value);
	assert_string_equal(out.data ? out.data : "", expected);
	strbuf_release(&out);
	pod_labels_release(&labels);
	json_decref(object);
}

static void check(const char *wanted, const char *metadata, const char *expected)
{
	check_lost(wanted, metadata, expected, 0);
}

static void writes_what_is_there_in_the_users_order(void **state)
{
	check("team,app", "{\"labels\":{\"app\":\"shop\",\"team\":\"a\",\"other\":\"x\"}}",
	      "label_team=\"a\"label_app=\"shop\"");
	check(" app , team", "{\"labels\":{\"app\":\"shop\"}}", "label_app=\"shop\"");
	check("app.kubernetes.io/part-of", "{\"labels\":{\"app.kubernetes.io/part-of\":\"s\"}}",
	      "label_app_kubernetes_io_part_of=\"s\"");
	check("app", "{\"labels\":{\"app\":\"\"}}", "");
	check("app", "{}", "");
	check("app", "{\"labels\":{\"app\":5}}", "");
	check("", "{\"labels\":{\"app\":\"shop\"}}", "");
	check(NULL, "{\"labels\":{\"app\":\"shop\"}}", "");
}

static void labels_win_over_annotations(void **state)
{
	check("app", "{\"labels\":{\"app\":\"l\"},\"annotations\":{\"app\":\"a\"}}",
	      "label_app=\"l\"");
	check("app", "{\"annotations\":{\"app\":\"a\"}}", "label_app=\"a\"");
}

static void values_are_cut_and_not_escaped(void **state)
{
	check("app", "{\"annotations\":{\"app\":\"a\\\"} 1\\nkepler_x{\\\\\"}}",
	      "label_app=\"a\"} 1\nkepler_x{\\\"");
	check("a,b", "{\"annotations\":{\"a\":\"x\\ty\\u007f\",\"b\":\"z\"}}",
	      "label_a=\"x y \"label_b=\"z\"");
	/* 126 bytes, then a character of two: it does not fit 127 and is left out whole. */
	check_lost("a", "{\"annotations\":{\"a\":\"" ZEROS_63 ZEROS_63 "\\u00e9z\"}}",
		   "label_a=\"" ZEROS_63 ZEROS_63 "\"", 1);
	check_lost("a", "{\"annotations\":{\"a\":\"" ZEROS_63 ZEROS_62 "\\u00e9z\"}}",
		   "label_a=\"" ZEROS_63 ZEROS_62 "\303\251\"", 1);
	check("a", "{\"annotations\":{\"a\":\"" ZEROS_63 ZEROS_62 "\\u00e9\"}}",
	      "label_a=\"" ZEROS_63 ZEROS_62 "\303\251\"");
}

/* Never more than there is room for, and never a part of a label. */
static void what_does_not_fit_is_left_out_whole(void **state)
{
	static const char wanted[] = "a,b,c,d,e,f,g,h,last";
	json_t *object = json_object(), *values = json_object();
	struct pod_label_values found;
	struct pod_labels labels;

	for (size_t i = 0; i < sizeof(wanted); i += 2)
		assert_int_equal(
			json_object_setn_new(values, wanted + i, 1, json_string(ZEROS_63 ZEROS_62)),
			0);
	assert_int_equal(json_object_set_new(values, "last", json_string("4")), 0);
	assert_int_equal(json_object_set_new(object, "labels", values), 0);
	assert_int_equal(pod_labels_parse(wanted, &labels, NULL), 0);
	pod_labels_read(&labels, object, &found);
	assert_int_equal(found.lost, 1);
	/* Seven of 136 bytes fit together with the short one, the eighth does not. */
	assert_int_equal(found.count, 8);
	assert_string_equal(found.items[7].name, "label_last");
	assert_string_equal(found.items[7].value, "4");
	pod_labels_release(&labels);
	json_decref(object);
}

static void refuses_what_makes_no_labels(void **state)
{
	static const char *const wrong[] = {
		",",   "a,",  ",a",      "a,,b", " ",
		"a, ", "a,a", "a.b,a/b", "a,a ", "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q"
	};

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
		cmocka_unit_test(values_are_cut_and_not_escaped),
		cmocka_unit_test(what_does_not_fit_is_left_out_whole),
		cmocka_unit_test(refuses_what_makes_no_labels),
	};

	return unit_run(tests);
}
