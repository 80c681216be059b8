// SPDX-License-Identifier: Apache-2.0
#include "base/text/json_scan.h"

#include "tests/unit/unit.h"

static bool is_too_deep(const char *text)
{
	return json_is_too_deep(text, strlen(text));
}

static void open_brackets_are_counted(void **state)
{
	char text[2 * JSON_DEPTH_MAX + 4] = "";

	memset(text, '[', JSON_DEPTH_MAX);
	assert_false(is_too_deep(text));
	memset(text + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
	assert_false(is_too_deep(text));
	text[JSON_DEPTH_MAX] = '{';
	assert_true(is_too_deep(text));
}

static void what_closes_makes_room(void **state)
{
	char text[4096];

	for (size_t i = 0; i + 2 < sizeof(text); i += 2)
		memcpy(text + i, "[]", 3);
	assert_false(is_too_deep(text));
	memset(text, ']', sizeof(text) - 1); /* none that was not open */
	text[sizeof(text) - 1] = '\0';
	assert_false(is_too_deep(text));
}

static void strings_have_no_brackets(void **state)
{
	static const char *const before[] = { "\"", "\"\\\"", "\"\\\\\\\"" };
	char text[256];

	for (size_t i = 0; i < ARRAY_SIZE(before); i++) {
		size_t len = strlen(before[i]);

		memset(text, '{', sizeof(text));
		memcpy(text, before[i], len);
		assert_false(json_is_too_deep(text, sizeof(text)));
		text[len] = '"'; /* and after them it has */
		assert_true(json_is_too_deep(text, sizeof(text)));
	}
	assert_false(json_is_too_deep("\"\\", 2));
	assert_false(json_is_too_deep("", 0));
}

/* Each piece as a letter and its length: "s5o1". */
static void pieces_of(const char *text, size_t part, char *ret, size_t size)
{
	struct json_scan scan = { .depth = 0 };
	size_t len = strlen(text), used = 0;

	for (size_t at = 0; at < len;) {
		size_t left = part - at % part;
		enum json_piece piece;
		size_t n =
			json_scan_next(&scan, text + at, left < len - at ? left : len - at, &piece);

		used += (size_t)snprintf(ret + used, size - used, "%c%zu", "socx"[piece], n);
		at += n;
	}
}

static void a_text_is_its_pieces(void **state)
{
	char pieces[128];

	pieces_of("{\"a\\\"]\" : [1, 2]}", 100, pieces, sizeof(pieces));
	assert_string_equal(pieces, "o1s6x3o1x4c1c1");
	pieces_of("{\"a\\\"]\" : [1, 2]}", 4, pieces, sizeof(pieces)); /* cut behind the \ */
	assert_string_equal(pieces, "o1s3s3x1x2o1x1x3c1c1");
	pieces_of("]\"", 100, pieces, sizeof(pieces));
	assert_string_equal(pieces, "c1s1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(open_brackets_are_counted),
		cmocka_unit_test(what_closes_makes_room),
		cmocka_unit_test(strings_have_no_brackets),
		cmocka_unit_test(a_text_is_its_pieces),
	};

	return unit_run(tests);
}
