// SPDX-License-Identifier: Apache-2.0
#include "net/server/http_auth.h"

#include <sys/stat.h>

#include "tests/unit/unit.h"

#define ONE   "0123456789abcdef"
#define OTHER "the-other-token-of-this-test"

static void one_of_the_tokens_is_enough(void **state)
{
	struct http_auth *auth;

	assert_int_equal(http_auth_parse("f", "# a note\n" ONE "\r\n\n" OTHER, &auth, NULL), 0);
	assert_true(http_auth_admits(auth, "Bearer " ONE));
	assert_true(http_auth_admits(auth, "bearer  " OTHER));
	assert_false(http_auth_admits(auth, ""));
	assert_false(http_auth_admits(auth, ONE));
	assert_false(http_auth_admits(auth, "Bearer "));
	assert_false(http_auth_admits(auth, "Bearer " ONE "x"));
	assert_false(http_auth_admits(auth, "Bearer 0123456789abcde"));
	assert_false(http_auth_admits(auth, "Basic " ONE));
	http_auth_free(auth);
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
	struct http_auth *auth = NULL;
	struct diag diag;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		diag.text[0] = '\0';
		assert_int_equal(http_auth_parse("f", cases[i].text, &auth, &diag), -EINVAL);
		assert_non_null(strstr(diag.text, cases[i].why));
		assert_null(auth);
	}
}

static int parse(const char *text)
{
	struct http_auth *auth = NULL;
	int r = http_auth_parse("f", text, &auth, NULL);

	http_auth_free(auth);
	return r;
}

static void tokens_have_a_length_and_a_number(void **state)
{
	static char many[(HTTP_TOKENS_MAX + 1) * sizeof(ONE) + 1], one[HTTP_TOKEN_MAX + 2];

	memset(one, 'a', HTTP_TOKEN_MAX + 1);
	assert_int_equal(parse(one), -EINVAL);
	assert_int_equal(parse(one + 1), 0);
	assert_int_equal(parse(one + HTTP_TOKEN_MAX + 1 - HTTP_TOKEN_MIN), 0);
	assert_int_equal(parse(one + HTTP_TOKEN_MAX + 2 - HTTP_TOKEN_MIN), -EINVAL);
	for (size_t i = 0; i <= HTTP_TOKENS_MAX; i++)
		memcpy(many + i * sizeof(ONE), ONE "\n", sizeof(ONE));
	assert_int_equal(parse(many), -E2BIG);
	assert_int_equal(parse(many + sizeof(ONE)), 0);
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0600), 0);
}

static void only_its_owner_may_read_the_file(void **state)
{
	char path[] = "/tmp/kepler-auth-XXXXXX";
	struct http_auth *auth = NULL;
	struct diag diag = { "" };

	assert_int_equal(close(mkstemp(path)), 0);
	write_text(path, ONE "\n");
	assert_int_equal(http_auth_open(path, &auth, &diag), 0);
	assert_true(http_auth_admits(auth, "Bearer " ONE));
	http_auth_free(auth);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(http_auth_open(path, &auth, &diag), -EPERM);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(http_auth_open(path, &auth, &diag), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_the_tokens_is_enough),
		cmocka_unit_test(weak_files_are_refused),
		cmocka_unit_test(tokens_have_a_length_and_a_number),
		cmocka_unit_test(only_its_owner_may_read_the_file),
	};

	return unit_run(tests);
}
