// SPDX-License-Identifier: Apache-2.0
#include "samples/json_stream.h"

#include "tests/unit/unit.h"

/* Tokens as text: "{", "k:key", "s:text", "n:1", "w:true". */
static int note(void *userdata, enum json_token token, const char *text, size_t len)
{
	static const char *const marks[] = { "{", "}", "[", "]", "k:", "s:", "n:", "w:" };
	struct strbuf *said = userdata;

	assert_int_equal(strlen(text), len);
	strbuf_add_str(said, marks[token]);
	strbuf_add_str(said, text);
	strbuf_add_char(said, ' ');
	return 0;
}

static int read_in_parts(const char *text, size_t step, struct strbuf *said, struct diag *diag)
{
	struct json_stream stream;
	size_t len = strlen(text);
	int r = 0;

	strbuf_reset(said);
	json_stream_init(&stream, note, said);
	for (size_t at = 0; r == 0 && at < len; at += step)
		r = json_stream_feed(&stream, text + at, len - at < step ? len - at : step, diag);
	if (r == 0)
		r = json_stream_end(&stream, diag);
	json_stream_release(&stream);
	return r;
}

static void check(const char *text, const char *expected)
{
	struct strbuf said = STRBUF_INIT;
	struct diag diag = { "" };

	for (size_t step = 1; step < strlen(text) + 2; step++) {
		assert_int_equal(read_in_parts(text, step, &said, &diag), 0);
		assert_string_equal(said.data, expected);
	}
	strbuf_release(&said);
}

static void refuse(const char *text, int err, const char *why)
{
	struct strbuf said = STRBUF_INIT;

	for (size_t step = 1; step < 4; step++) {
		struct diag diag = { "" };

		assert_int_equal(read_in_parts(text, step, &said, &diag), err);
		assert_non_null(strstr(diag.text, why));
	}
	strbuf_release(&said);
}

static void test_tokens(void **state)
{
	check("{\"a\":[1, -2.5e3,true],\"b\":{}}", "{ k:a [ n:1 n:-2.5e3 w:true ] k:b { } } ");
	check(" [ ] ", "[ ] ");
	check("0", "n:0 ");
	check("\"\"", "s: ");
}

static void test_escapes(void **state)
{
	check("\"a\\n\\\"\\u00e9\\u20ac\"", "s:a\n\"\xc3\xa9\xe2\x82\xac ");
	check("\"\\ud83d\\ude00\"", "s:\xf0\x9f\x98\x80 ");
	/* Half a pair, and what would end the text early. */
	check("\"\\ud83dx\\udc00\\u0000\"", "s:\xef\xbf\xbdx\xef\xbf\xbd\xef\xbf\xbd ");
}

static void test_malformed(void **state)
{
	char deep[JSON_STREAM_DEPTH_MAX + 2];

	refuse("", -EPROTO, "ends before");
	refuse("{\"a\":1", -EPROTO, "ends before");
	refuse("{\"a\" 1}", -EPROTO, "unexpected");
	refuse("[1,]", -EPROTO, "begins so");
	refuse("[1}", -EPROTO, "another kind");
	refuse("[1] 2", -EPROTO, "more after the end");
	refuse("[01]", -EPROTO, "not a number");
	refuse("[1.]", -EPROTO, "not a number");
	refuse("[nul]", -EPROTO, "no word");
	refuse("[\"\\x\"]", -EPROTO, "escape");
	refuse("[\"\n\"]", -EPROTO, "control");
	refuse("{1:2}", -EPROTO, "unexpected");
	memset(deep, '[', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	refuse(deep, -EMSGSIZE, "deeper");
}

static void test_long_string(void **state)
{
	CLEANUP_FREE char *text = calloc(1, JSON_STREAM_TEXT_MAX + 8);
	struct strbuf said = STRBUF_INIT;
	struct diag diag = { "" };

	assert_non_null(text);
	memset(text, 'x', JSON_STREAM_TEXT_MAX + 4);
	text[0] = '"';
	assert_int_equal(read_in_parts(text, 1000, &said, &diag), -EMSGSIZE);
	strbuf_release(&said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_long_string),
	};

	return unit_run(tests);
}
