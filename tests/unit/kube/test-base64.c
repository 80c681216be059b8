// SPDX-License-Identifier: Apache-2.0
#include "kube/base64.h"

#include "tests/unit/unit.h"

static void decodes(void **state)
{
	static const struct {
		const char *text, *bytes;
		size_t len;
	} cases[] = {
		{ "", "", 0 },
		{ "ag==", "j", 1 },
		{ "anU=", "ju", 2 },
		{ "anVs", "jul", 3 },
		{ "am91bGUgbWV0ZXI=", "joule meter", 11 },
		{ "am91\nbGUg\r\n bWV0ZXI=\n", "joule meter", 11 },
		{ "AP/+", "\0\377\376", 3 },
		{ "+/+/", "\373\377\277", 3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *bytes = NULL;
		size_t len = 99;

		assert_int_equal(base64_decode(cases[i].text, &bytes, &len), 0);
		assert_int_equal(len, cases[i].len);
		assert_memory_equal(bytes, cases[i].bytes, len + 1);
		free(bytes);
	}
}

static void refuses(void **state)
{
	static const char *const wrong[] = { "a",    "aa",   "aaa",  "a===",  "====",
					     "=",    "ab=c", "ag=",  "ag==a", "ag==ag==",
					     "a-b_", "ah==", "anV=", "aaaa=", "\x80\x80\x80\x80" };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		char *bytes = NULL;
		size_t len = 99;

		if (base64_decode(wrong[i], &bytes, &len) != -EINVAL)
			fail_msg("'%s' is taken", wrong[i]);
		assert_null(bytes);
		assert_int_equal(len, 99);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(decodes), cmocka_unit_test(refuses) };

	return unit_run(tests);
}
