// SPDX-License-Identifier: Apache-2.0
#include "kube/json_bounded.h"

#include "base/text/json_scan.h"
#include "tests/unit/unit.h"

static bool parses(const char *text)
{
	json_t *root = json_parse_bounded(text, strlen(text));

	json_decref(root);
	return root != NULL;
}

static void nest(char *text, size_t depth)
{
	memset(text, '[', depth);
	memset(text + depth, ']', depth);
	text[2 * depth] = '\0';
}

static void depth_is_bounded(void **state)
{
	char text[8192];

	nest(text, JSON_DEPTH_MAX);
	assert_true(parses(text));
	nest(text, JSON_DEPTH_MAX + 1);
	assert_false(parses(text));
	nest(text, 4000);
	assert_false(parses(text));
	assert_true(parses("[[],[],{\"a\":[{}]},[[]]]"));
}

static void brackets_in_strings_do_not_count(void **state)
{
	char text[512] = "[\"\\\"";

	memset(text + 4, '[', 300);
	memcpy(text + 304, "\\\\\"]", 5);
	assert_true(parses(text));
}

static void invalid_json_is_refused(void **state)
{
	static const char *const wrong[] = { "", "{", "]", "]]]]{}", "\"", "[\"\\", "{\"a\":1}x" };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_false(parses(wrong[i]));
	assert_null(json_parse_bounded(NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(brackets_in_strings_do_not_count),
		cmocka_unit_test(invalid_json_is_refused),
	};

	return unit_run(tests);
}
