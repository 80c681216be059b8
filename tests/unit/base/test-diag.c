// SPDX-License-Identifier: Apache-2.0
#include "base/diag.h"

#include "base/strbuf.h"
#include "tests/unit/unit.h"

static void sets_and_returns(void **state)
{
	struct diag diag;

	assert_int_equal(diag_set(&diag, -EINVAL, "%s:%d", "f", 3), -EINVAL);
	assert_string_equal(diag.text, "f:3");
	assert_int_equal(diag_set(NULL, -ENOMEM, "ignored"), -ENOMEM);
}

static void cuts_long_texts(void **state)
{
	char longer[2 * DIAG_TEXT_MAX];
	struct diag diag;

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(diag_set(&diag, 0, "%s", longer), 0);
	assert_int_equal(strlen(diag.text), DIAG_TEXT_MAX - 1);
}

static void lists_what_is_added(void **state)
{
	struct strbuf more = STRBUF_INIT;
	struct diag diag = { .more = &more }, alone = { 0 };
	char *printed;
	size_t len;
	FILE *out = open_memstream(&printed, &len);

	for (int i = 0; i < DIAG_MORE_MAX + 3; i++) {
		assert_int_equal(diag_add(&diag, -EINVAL, "f:%d", i), -EINVAL);
		assert_int_equal(diag_add(&alone, -ENOENT, "f:%d", i), -ENOENT);
	}
	assert_int_equal(diag_add(NULL, -ENOMEM, "ignored"), -ENOMEM);
	assert_string_equal(diag.text, "f:0");
	assert_string_equal(alone.text, "f:0");
	assert_int_equal(diag.others, DIAG_MORE_MAX + 2);
	assert_int_equal(alone.others, DIAG_MORE_MAX + 2);
	diag_print(&diag, "kepler", out);
	(void)fclose(out);
	assert_true(strncmp(printed, "kepler: f:0\nkepler: f:1\nkepler: f:2\n", 36) == 0);
	assert_non_null(strstr(printed, "\nkepler: f:200\nkepler: and 2 more\n"));
	assert_null(strstr(printed, "f:201"));
	free(printed);
	strbuf_release(&more);
}

static void joins_what_is_added(void **state)
{
	CLEANUP(strbuf_release) struct strbuf more = STRBUF_INIT, text = STRBUF_INIT;
	struct diag diag = { .more = &more }, alone = { 0 };

	for (int i = 0; i < 2; i++) {
		(void)diag_add(&diag, -EINVAL, "f:%d", i);
		(void)diag_add(&alone, -EINVAL, "f:%d", i);
	}
	diag_join(&diag, "; ", &text);
	assert_string_equal(text.data, "f:0; f:1");
	strbuf_reset(&text);
	diag_join(&alone, "; ", &text);
	assert_string_equal(text.data, "f:0; and 1 more");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_and_returns),
		cmocka_unit_test(cuts_long_texts),
		cmocka_unit_test(lists_what_is_added),
		cmocka_unit_test(joins_what_is_added),
	};

	return unit_run(tests);
}
