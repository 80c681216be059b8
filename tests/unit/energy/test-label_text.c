// SPDX-License-Identifier: Apache-2.0
/* Names as labels: names that print alike become equal, and no character is cut in half. */
#include "energy/label_text.h"

#include "base/text/utf8.h"
#include "tests/rig/property.h"
#include "tests/unit/unit.h"

static void assert_label(const char *text, size_t size, const char *expected)
{
	char *buf = malloc(size);

	assert_non_null(buf);
	label_text(buf, size, text);
	assert_string_equal(buf, expected);
	free(buf);
}

static void test_known_names(void **state)
{
	assert_label("nginx", 16, "nginx");
	assert_label(NULL, 16, "");
	assert_label("", 1, "");
	assert_label("abc", 3, "ab");
	assert_label("a\xc3\xa9", 4, "a\xc3\xa9");
	assert_label("a\xc3\xa9", 3, "a"); /* no half é */
	assert_label("a\xc3", 16, "a\xff");
	assert_label("\x80\xfe\xc0\xaf", 16, "\xff\xff\xff\xff");
	assert_label("\xef\xbf\xbd!", 16, "\xff!");
	assert_label("a\"\\\n", 16, "a\"\\\n");
	assert_label("a\x01\t\x7f", 16, "a\xff\xff\xff");
}

/*
 * The result consists of valid characters and LABEL_INVALID_BYTE, and a second pass does not change
 * it.
 */
static const char *label_is_stable(struct property_source *source, void *userdata)
{
	char text[40], once[24], twice[24];
	size_t len = draw_below(source, sizeof(text));

	(void)userdata;
	for (size_t i = 0; i < len; i++)
		text[i] = "abc\x80\xbf\xbd\xc3\xe2\xef\xf0\xff"[draw_below(source, 11)];
	text[len] = '\0';
	label_text(once, sizeof(once), text);
	label_text(twice, sizeof(twice), once);
	if (strcmp(once, twice) != 0)
		return "a label is changed by being made a label";
	for (size_t i = 0; once[i];) {
		size_t n = utf8_char_len(once + i, strlen(once + i));

		if (n == 0 && once[i] != LABEL_INVALID_BYTE)
			return "an invalid byte was left as it was";
		i += n ? n : 1;
	}
	return NULL;
}

static void test_random_names(void **state)
{
	assert_true(property_check("label text", label_is_stable, NULL, 200000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_names),
		cmocka_unit_test(test_random_names),
	};

	return unit_run(tests);
}
