// SPDX-License-Identifier: Apache-2.0
#include "model-server/access_tokens.h"

#include "tests/unit/unit.h"

#define ONE   "0123456789abcdef"
#define OTHER "the-other-token-of-this-test"

static void one_of_them_is_enough(void **state)
{
	struct access_tokens tokens;

	assert_int_equal(access_tokens_parse("f", "# a note\n" ONE "\r\n\n" OTHER, &tokens, NULL),
			 0);
	assert_int_equal(tokens.count, 2);
	assert_true(access_tokens_admit(&tokens, "Bearer " ONE));
	assert_true(access_tokens_admit(&tokens, "bearer  " OTHER));
	assert_false(access_tokens_admit(&tokens, ""));
	assert_false(access_tokens_admit(&tokens, ONE));
	assert_false(access_tokens_admit(&tokens, "Bearer "));
	assert_false(access_tokens_admit(&tokens, "Bearer " ONE "x"));
	assert_false(access_tokens_admit(&tokens, "Bearer 0123456789abcde"));
	assert_false(access_tokens_admit(&tokens, "Basic " ONE));
	access_tokens_release(&tokens);
}

static void without_tokens_all_may_ask(void **state)
{
	const struct access_tokens none = { 0 };

	assert_true(access_tokens_admit(&none, ""));
	assert_true(access_tokens_admit(&none, "Bearer x"));
}

static void weak_files_are_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "", "has no token" },
		{ "# only a note\n", "has no token" },
		{ "\nshort\n", "f:2:" },
		{ "has a blank in it, so it is two\n", "f:1:" },
	};
	struct access_tokens tokens;
	struct diag diag;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		diag.text[0] = '\0';
		assert_int_equal(access_tokens_parse("f", cases[i].text, &tokens, &diag), -EINVAL);
		assert_non_null(strstr(diag.text, cases[i].why));
	}
}

static int parse(const char *text, size_t *ret_count)
{
	struct access_tokens tokens = { 0 };
	int r = access_tokens_parse("f", text, &tokens, NULL);

	*ret_count = tokens.count;
	access_tokens_release(&tokens);
	return r;
}

static void tokens_have_a_length_and_a_number(void **state)
{
	static char many[(ACCESS_TOKENS_MAX + 1) * sizeof(ONE) + 1], one[ACCESS_TOKEN_MAX + 2];
	size_t count;

	memset(one, 'a', ACCESS_TOKEN_MAX + 1);
	assert_int_equal(parse(one, &count), -EINVAL);
	assert_int_equal(parse(one + 1, &count), 0);
	assert_int_equal(parse(one + ACCESS_TOKEN_MAX + 1 - ACCESS_TOKEN_MIN, &count), 0);
	assert_int_equal(parse(one + ACCESS_TOKEN_MAX + 2 - ACCESS_TOKEN_MIN, &count), -EINVAL);
	for (size_t i = 0; i <= ACCESS_TOKENS_MAX; i++)
		memcpy(many + i * sizeof(ONE), ONE "\n", sizeof(ONE));
	assert_int_equal(parse(many, &count), -E2BIG);
	assert_int_equal(parse(many + sizeof(ONE), &count), 0);
	assert_int_equal(count, 256);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_them_is_enough),
		cmocka_unit_test(without_tokens_all_may_ask),
		cmocka_unit_test(weak_files_are_refused),
		cmocka_unit_test(tokens_have_a_length_and_a_number),
	};

	return unit_run(tests);
}
