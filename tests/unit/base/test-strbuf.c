// SPDX-License-Identifier: Apache-2.0
#include "base/strbuf.h"

#include "tests/unit/unit.h"

static void builds(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	assert_null(sb.data);
	strbuf_add(&sb, NULL, 0);
	assert_string_equal(sb.data, "");
	strbuf_add_str(&sb, "a=");
	strbuf_add_u64(&sb, UINT64_MAX);
	strbuf_add_char(&sb, ';');
	strbuf_addf(&sb, "%s%d", "b", -3);
	strbuf_add(&sb, "\0x", 2); /* bytes, not text */
	assert_int_equal(sb.len, strlen("a=18446744073709551615;b-3") + 2);
	assert_string_equal(sb.data, "a=18446744073709551615;b-3");
	assert_int_equal(sb.data[sb.len], '\0');
	assert_int_equal(strbuf_error(&sb), 0);
	strbuf_reset(&sb);
	assert_int_equal(sb.len, 0);
	assert_string_equal(sb.data, "");
	strbuf_release(&sb);
	assert_null(sb.data);
	strbuf_release(&sb);
	strbuf_reset(&sb); /* without memory */
	assert_null(sb.data);
}

static void grows(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < 100000; i++) {
		strbuf_add_char(&sb, (char)('a' + i % 26));
		assert_true(sb.size > sb.len);
	}
	for (size_t i = 0; i < sb.len; i++)
		assert_int_equal(sb.data[i], 'a' + (int)(i % 26));
	strbuf_addf(&sb, "%*s", 300000, "");
	assert_int_equal(sb.len, 400000);
	strbuf_release(&sb);
}

static void failure_sticks_and_harms_nothing(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_add_str(&sb, "kept");
	assert_false(strbuf_reserve(&sb, SIZE_MAX)); /* overflows */
	assert_int_equal(strbuf_error(&sb), -ENOMEM);
	strbuf_add_str(&sb, "x");
	strbuf_addf(&sb, "%d", 1);
	strbuf_add_json(&sb, "\"");
	assert_string_equal(sb.data, "kept");
	strbuf_reset(&sb);
	assert_int_equal(strbuf_error(&sb), 0);
	strbuf_add_str(&sb, "again");
	assert_string_equal(sb.data, "again");
	strbuf_release(&sb);
}

static void json(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "", "" },
		{ "plain é €", "plain é €" },
		{ "a\"b\\c", "a\\\"b\\\\c" },
		{ "\n\t\x01\x1f\x7f", "\\u000a\\u0009\\u0001\\u001f\\u007f" },
		{ "\xff\xc3", "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xc2\x9b"
		  "31m\xc2\xa0",
		  "\\u009b31m\xc2\xa0" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct strbuf sb = STRBUF_INIT;

		strbuf_add_str(&sb, ">");
		strbuf_add_json(&sb, cases[i].in);
		assert_string_equal(sb.data + 1, cases[i].out);
		strbuf_release(&sb);
	}
}

static void cells_of_csv_have_quotes_if_they_need_them(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	(void)state;
	strbuf_add_csv(&out, "ns/pod_1:a-b.c");
	strbuf_add_char(&out, ',');
	strbuf_add_csv(&out, "");
	strbuf_add_char(&out, ',');
	strbuf_add_csv(&out, "say \"a,b\"");
	assert_string_equal(out.data, "ns/pod_1:a-b.c,,\"say \"\"a,b\"\"\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(builds),
		cmocka_unit_test(grows),
		cmocka_unit_test(failure_sticks_and_harms_nothing),
		cmocka_unit_test(json),
		cmocka_unit_test(cells_of_csv_have_quotes_if_they_need_them),
	};

	return unit_run(tests);
}
