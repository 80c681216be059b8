// SPDX-License-Identifier: Apache-2.0
#include "base/wrap.h"

#include "tests/unit/unit.h"

static void assert_wrapped(const char *text, size_t column, size_t indent, size_t width,
			   const char *want)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	wrap_text(&out, text, column, indent, width);
	assert_int_equal(strbuf_error(&out), 0);
	assert_string_equal(out.data ? out.data : "", want);
}

static void breaks_between_words(void **state)
{
	assert_wrapped("one two three", 0, 0, 7, "one two\nthree");
	assert_wrapped("one two three", 0, 0, 6, "one\ntwo\nthree");
	assert_wrapped("one\ntwo three", 0, 0, 7, "one two\nthree");
	assert_wrapped("", 0, 0, 6, "");
}

static void begins_further_lines_at_the_indent(void **state)
{
	assert_wrapped("one two", 4, 2, 9, "one\n  two");
	/* the line that is there already is full */
	assert_wrapped("seven", 4, 2, 8, "\n  seven");
}

static void keeps_a_word_whole(void **state)
{
	assert_wrapped("unbreakable x", 2, 2, 6, "unbreakable\n  x");
}

static void counts_characters(void **state)
{
	assert_wrapped("±4 µJ", 0, 0, 5, "±4 µJ");
}

static void wraps_nothing_without_a_width(void **state)
{
	assert_wrapped("one two three", 70, 8, 0, "one two three");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(breaks_between_words),
		cmocka_unit_test(begins_further_lines_at_the_indent),
		cmocka_unit_test(keeps_a_word_whole),
		cmocka_unit_test(counts_characters),
		cmocka_unit_test(wraps_nothing_without_a_width),
	};

	return unit_run(tests);
}
