// SPDX-License-Identifier: Apache-2.0
#include "base/text/utf8.h"

#include "tests/unit/unit.h"

/* RFC 3629 the other way round: encodes. */
static size_t encode(uint32_t code, char *out)
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		out[0] = (char)(0xe0 | code >> 12);
		out[1] = (char)(0x80 | (code >> 6 & 0x3f));
		out[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | code >> 18);
	out[1] = (char)(0x80 | (code >> 12 & 0x3f));
	out[2] = (char)(0x80 | (code >> 6 & 0x3f));
	out[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

static void every_code_point(void **state)
{
	for (uint32_t code = 0; code < 0x120000; code++) {
		int valid = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
		char text[4];
		size_t len = encode(code, text);

		assert_int_equal(utf8_char_len(text, len), valid ? len : 0);
		for (size_t cut = 0; cut < len; cut++)
			assert_int_equal(utf8_char_len(text, cut), 0);
	}
}

/* All sequences of two and three bytes: what is taken is what encode() makes of some code point. */
static void nothing_else(void **state)
{
	size_t taken[5] = { 0 };

	for (uint32_t bytes = 0; bytes < 1U << 24; bytes++) {
		const char text[3] = { (char)(bytes >> 16), (char)(bytes >> 8), (char)bytes };

		taken[utf8_char_len(text, 3)]++;
	}
	assert_int_equal(taken[1], 0x80 * 65536);
	assert_int_equal(taken[2], (0x800 - 0x80) * 256);
	assert_int_equal(taken[3], 0x10000 - 0x800 - 0x800); /* less the surrogates */
	assert_int_equal(taken[4], 0);
}

static void overlong_and_too_large(void **state)
{
	static const char *const wrong[] = { "\xc0\x80",
					     "\xc1\xbf",
					     "\xe0\x80\x80",
					     "\xe0\x9f\xbf",
					     "\xf0\x80\x80\x80",
					     "\xf0\x8f\xbf\xbf",
					     "\xf4\x90\x80\x80",
					     "\xf8\x88\x80\x80\x80",
					     "\xfe",
					     "\xff",
					     "\x80" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(utf8_char_len(wrong[i], strlen(wrong[i])), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_code_point),
		cmocka_unit_test(nothing_else),
		cmocka_unit_test(overlong_and_too_large),
	};

	return unit_run(tests);
}
