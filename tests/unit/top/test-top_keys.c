// SPDX-License-Identifier: Apache-2.0
#include "top/top_keys.h"

#include "tests/unit/unit.h"

/* The one key that the bytes make, which the last of them ends. */
static struct top_event key_of(const char *bytes)
{
	struct top_keys keys = { .len = 0 };
	struct top_event event = { .key = KEY_NONE };

	for (size_t i = 0; bytes[i]; i++) {
		bool is_key = top_keys_add(&keys, bytes[i], &event);

		assert_true(is_key == (event.key != KEY_NONE));
		assert_true(!is_key || !bytes[i + 1]);
	}
	return event;
}

static void bytes_become_keys(void **state)
{
	static const struct {
		const char *bytes;
		enum top_key key;
	} cases[] = {
		{ "\033[A", KEY_UP },
		{ "\033OA", KEY_UP },
		{ "\033[6~", KEY_PAGE_DOWN },
		{ "\033[H", KEY_HOME },
		{ "\033[1~", KEY_HOME },
		{ "\033OP", KEY_HELP },
		{ "\033[11~", KEY_HELP },
		{ "\t", KEY_TAB },
		{ "\r", KEY_ENTER },
		{ "\x7f", KEY_BACKSPACE },
		{ "\x03", KEY_INTERRUPT },
		{ "\033[<64;1;1M", KEY_WHEEL_UP },
		{ "\033[<65;9;9M", KEY_WHEEL_DOWN },
		{ "\033[<0;1;1m", KEY_NONE },
		{ "\033[<2;1;1M", KEY_NONE },
		{ "\033[99~", KEY_NONE },
		{ "\x01", KEY_NONE },
		{ "\xc3", KEY_NONE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(key_of(cases[i].bytes).key, cases[i].key);
	assert_int_equal(key_of("x").character, 'x');
	assert_int_equal(key_of("\033x").character, 'x');
	assert_int_equal(key_of("\033[<0;12;345M").row, 345);
	assert_int_equal(key_of("\033[<0;12;345M").column, 12);
}

static void an_escape_on_its_own_is_a_key(void **state)
{
	struct top_keys keys = { .len = 0 };
	struct top_event event;

	assert_false(top_keys_flush(&keys, &event));
	assert_false(top_keys_add(&keys, '\033', &event));
	assert_true(top_keys_flush(&keys, &event));
	assert_int_equal(event.key, KEY_ESCAPE);
	assert_false(top_keys_add(&keys, '\033', &event));
	assert_false(top_keys_add(&keys, '[', &event));
	assert_false(top_keys_flush(&keys, &event)); /* cut short: dropped */
	assert_true(top_keys_add(&keys, 'q', &event));
}

/* Longer than any sequence: its end is found again. */
static void an_endless_sequence_is_dropped(void **state)
{
	struct top_keys keys = { .len = 0 };
	struct top_event event;

	(void)top_keys_add(&keys, '\033', &event);
	(void)top_keys_add(&keys, '[', &event);
	for (int i = 0; i < 29; i++)
		assert_false(top_keys_add(&keys, '1', &event));
	assert_true(top_keys_add(&keys, 'q', &event));
	assert_int_equal(event.character, 'q');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_become_keys),
		cmocka_unit_test(an_escape_on_its_own_is_a_key),
		cmocka_unit_test(an_endless_sequence_is_dropped),
	};

	return unit_run(tests);
}
