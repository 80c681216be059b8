// SPDX-License-Identifier: Apache-2.0
#include "base/text/html.h"

#include "tests/unit/unit.h"

static void assert_text(const char *text, size_t max, const char *want)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	html_add_text(&out, text, max);
	strbuf_add_char(&out, '\0');
	assert_int_equal(strbuf_error(&out), 0);
	assert_string_equal(out.data, want);
}

static void escapes_what_has_a_meaning(void **state)
{
	assert_text("<b a=\"x\">'&'", 64, "&lt;b a=&quot;x&quot;&gt;&#39;&amp;&#39;");
	assert_text("plain, ä €", 64, "plain, ä €");
}

static void replaces_bytes_that_are_not_text(void **state)
{
	assert_text("a\x01\x7f\xff z", 64, "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd z");
}

static void ends_at_the_limit(void **state)
{
	assert_text("abcdef", 3, "abc");
	assert_text("ab", 3, "ab");
	/* a character that the limit cuts in two */
	assert_text("a\xc3\xa4", 2, "a\xef\xbf\xbd");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes_what_has_a_meaning),
		cmocka_unit_test(replaces_bytes_that_are_not_text),
		cmocka_unit_test(ends_at_the_limit),
	};

	return unit_run(tests);
}
