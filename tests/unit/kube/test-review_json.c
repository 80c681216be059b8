// SPDX-License-Identifier: Apache-2.0
#include "kube/review/review_json.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/unit/unit.h"

static void only_tokens_are_tokens(void **state)
{
	static char longest[REVIEW_TOKEN_MAX + 2];

	assert_true(review_is_token("eyJhbGciOi.J9-_~+/=="));
	assert_false(review_is_token(""));
	assert_false(review_is_token("two words"));
	assert_false(review_is_token("quote\""));
	assert_false(review_is_token("back\\slash"));
	assert_false(review_is_token("line\n"));
	memset(longest, 'a', REVIEW_TOKEN_MAX);
	assert_true(review_is_token(longest));
	longest[REVIEW_TOKEN_MAX] = 'a';
	assert_false(review_is_token(longest));
}

static void only_names_are_namespaces(void **state)
{
	static const char *const wrong[] = { "",      "-a",    "a-",  "A",    "a.b", "a/b",
					     "a%20b", "kube ", "a,b", "a\"b", "*" };
	char longest[65] = "";

	assert_true(review_is_namespace("kube-system"));
	assert_true(review_is_namespace("4"));
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_false(review_is_namespace(wrong[i]));
	memset(longest, 'n', 63);
	assert_true(review_is_namespace(longest));
	longest[63] = 'n';
	assert_false(review_is_namespace(longest));
}

static void questions_are_as_the_api_has_them(void **state)
{
	struct strbuf out = STRBUF_INIT;

	review_token_body("abc", "", &out);
	assert_string_equal(out.data,
			    "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\","
			    "\"spec\":{\"token\":\"abc\"}}");
	strbuf_reset(&out);
	review_token_body("abc", "a\"b", &out);
	assert_non_null(strstr(out.data, "\"token\":\"abc\",\"audiences\":[\"a\\\"b\"]}}"));
	strbuf_reset(&out);
	review_access_body("\"user\":\"u\"", "/metrics", NULL, &out);
	assert_string_equal(out.data,
			    "{\"apiVersion\":\"authorization.k8s.io/v1\","
			    "\"kind\":\"SubjectAccessReview\",\"spec\":{\"nonResourceAttributes\":"
			    "{\"verb\":\"get\",\"path\":\"/metrics\"},\"user\":\"u\"}}");
	strbuf_reset(&out);
	review_access_body("\"user\":\"u\"", "/metrics", "shop", &out);
	assert_non_null(strstr(out.data, "\"resourceAttributes\":{\"verb\":\"get\",\"version\":"
					 "\"v1\",\"resource\":\"pods\",\"namespace\":\"shop\"}"));
	strbuf_release(&out);
}

#define REVIEW(status) "{\"kind\":\"TokenReview\",\"status\":{" status "}}"
#define USER                                                                                       \
	"\"user\":{\"username\":\"u\\\"1\",\"uid\":\"7\",\"groups\":[\"g\"],\"extra\":{\"k\":["    \
	"\"v\"]}}"

static int read_token(const char *text, const char *audience, char **ret)
{
	return review_token_read(text, strlen(text), audience, ret);
}

static void the_owner_is_handed_on_whole(void **state)
{
	char *user = NULL;

	assert_int_equal(read_token(REVIEW("\"authenticated\":true," USER), "", &user), 0);
	assert_string_equal(user, "\"user\":\"u\\\"1\",\"uid\":\"7\",\"groups\":[\"g\"],"
				  "\"extra\":{\"k\":[\"v\"]}");
	free(user);
	assert_int_equal(read_token(REVIEW("\"authenticated\":false," USER), "", &user), 0);
	assert_null(user);
	assert_int_equal(read_token(REVIEW("\"authenticated\":\"true\"," USER), "", &user), 0);
	assert_null(user);
	assert_int_equal(read_token(REVIEW(USER), "", &user), 0);
	assert_null(user);
	assert_int_equal(read_token(REVIEW("\"authenticated\":true"), "", &user), -EPROTO);
	assert_int_equal(read_token("{\"kind\":\"Status\",\"status\":{}}", "", &user), -EPROTO);
	assert_int_equal(read_token("{\"kind\":\"TokenReview\",\"status\":\"x\"}", "", &user),
			 -EPROTO);
	assert_int_equal(read_token("<html>", "", &user), -EPROTO);
	assert_null(user);
}

/* A server that knows no audiences reports none: its yes was for another audience. */
static void a_token_for_another_audience_is_not_valid(void **state)
{
	char *user = NULL;

	assert_int_equal(read_token(REVIEW("\"authenticated\":true," USER), "kepler", &user), 0);
	assert_null(user);
	assert_int_equal(read_token(REVIEW("\"authenticated\":true,\"audiences\":[\"api\"]," USER),
				    "kepler", &user),
			 0);
	assert_null(user);
	assert_int_equal(
		read_token(
			REVIEW("\"authenticated\":true,\"audiences\":[\"api\",\"kepler\"]," USER),
			"kepler", &user),
		0);
	assert_non_null(user);
	free(user);
}

static int read_access(const char *text, bool *ret)
{
	return review_access_read(text, strlen(text), ret);
}

static void only_a_plain_yes_is_one(void **state)
{
	static const char *const no[] = { "\"allowed\":false", "\"allowed\":1", "\"reason\":\"\"",
					  "\"allowed\":true,\"denied\":true" };
	char text[256];
	bool allowed = false;

	assert_int_equal(read_access("{\"kind\":\"SubjectAccessReview\",\"status\":"
				     "{\"allowed\":true}}",
				     &allowed),
			 0);
	assert_true(allowed);
	for (size_t i = 0; i < ARRAY_SIZE(no); i++) {
		(void)snprintf(text, sizeof(text),
			       "{\"kind\":\"SubjectAccessReview\",\"status\":{%s}}", no[i]);
		allowed = true;
		assert_int_equal(read_access(text, &allowed), 0);
		assert_false(allowed);
	}
	assert_int_equal(
		read_access("{\"kind\":\"TokenReview\",\"status\":{\"allowed\":true}}", &allowed),
		-EPROTO);
	assert_int_equal(read_access("", &allowed), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_tokens_are_tokens),
		cmocka_unit_test(only_names_are_namespaces),
		cmocka_unit_test(questions_are_as_the_api_has_them),
		cmocka_unit_test(the_owner_is_handed_on_whole),
		cmocka_unit_test(a_token_for_another_audience_is_not_valid),
		cmocka_unit_test(only_a_plain_yes_is_one),
	};

	return unit_run(tests);
}
