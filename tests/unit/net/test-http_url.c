// SPDX-License-Identifier: Apache-2.0
#include "net/http_url.h"

#include "tests/unit/unit.h"

static void says_whom_to_ask(void **state)
{
	static const struct {
		const char *url, *authority, *host;
		bool has_user;
	} cases[] = {
		{ "https://a.example:6443/api?x=@y", "a.example:6443", "a.example", false },
		{ "https://a.example", "a.example", "a.example", false },
		{ "http://a?b:c@d", "a", "a", false },
		{ "http://a#b", "a", "a", false },
		{ "https://[fd00::1]:6443/", "[fd00::1]:6443", "[fd00::1]", false },
		{ "https://[fd00::1]/", "[fd00::1]", "[fd00::1]", false },
		{ "http://user:pass@p:3128", "user:pass@p:3128", "p", true },
		{ "http://a@b@c/", "a@b@c", "c", true },
		{ "proxy:3128", "proxy:3128", "proxy", false },
		{ "https://:443/", ":443", "", false },
		{ "https://", "", "", false },
		{ "", "", "", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct http_url parts;

		http_url_split(cases[i].url, &parts);
		assert_int_equal(parts.authority_len, strlen(cases[i].authority));
		assert_memory_equal(parts.authority, cases[i].authority, parts.authority_len);
		assert_int_equal(parts.host_len, strlen(cases[i].host));
		assert_memory_equal(parts.host, cases[i].host, parts.host_len);
		assert_int_equal(http_url_has_user(cases[i].url), cases[i].has_user);
	}
}

static void says_how(void **state)
{
	assert_true(http_url_is_https("https://a"));
	assert_true(http_url_is_https("HTTPS://a"));
	assert_false(http_url_is_https("http://https://"));
	assert_false(http_url_is_https("https:/"));
}

static void any_text_is_a_segment(void **state)
{
	static const struct {
		const char *text, *escaped;
	} cases[] = {
		{ "4711", "4711" },
		{ "Az09-._~", "Az09-._~" },
		{ "shop/checkout", "shop%2Fcheckout" },
		{ "a b?c#d%", "a%20b%3Fc%23d%25" },
		{ "user@1000.service", "user%401000.service" },
		{ "\xc3\xa9", "%C3%A9" },
		{ "", "" },
	};
	char buf[64];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(http_url_escape(cases[i].text, buf, sizeof(buf)), 0);
		assert_string_equal(buf, cases[i].escaped);
		assert_int_equal(http_url_unescape(cases[i].escaped, buf, sizeof(buf)), 0);
		assert_string_equal(buf, cases[i].text);
	}
	assert_int_equal(http_url_unescape("%2f", buf, 2), 0);
	assert_string_equal(buf, "/");
	assert_int_equal(http_url_unescape("ab", buf, 2), -ENOSPC);
	assert_int_equal(http_url_escape("a/", buf, 4), -ENOSPC);
	assert_string_equal(buf, "a");
}

static void no_name_has_these(void **state)
{
	static const char *const broken[] = { "%",   "%4",  "%zz",  "%4g", "a%00b",
					      "%0a", "%7f", "a\nb", "\t",  "%1B" };
	char buf[64];

	for (size_t i = 0; i < ARRAY_SIZE(broken); i++)
		assert_int_equal(http_url_unescape(broken[i], buf, sizeof(buf)), -EINVAL);
}

static void names_of_this_machine(void **state)
{
	static const char *const local[] = { "http://localhost:9/x", "http://LOCALHOST",
					     "http://127.0.0.1", "http://127.9.0.1:1",
					     "https://[::1]:1/" };
	static const char *const other[] = { "http://a",
					     "http://10.0.0.1",
					     "http://[::2]",
					     "http://localhost.a",
					     "http://127.0.0.1.a",
					     "http://a/127.0.0.1",
					     "http://a?@localhost",
					     "http://",
					     "http://[::1" };

	for (size_t i = 0; i < ARRAY_SIZE(local); i++)
		assert_true(http_url_is_loopback(local[i]));
	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		assert_false(http_url_is_loopback(other[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_whom_to_ask),      cmocka_unit_test(says_how),
		cmocka_unit_test(any_text_is_a_segment), cmocka_unit_test(no_name_has_these),
		cmocka_unit_test(names_of_this_machine),
	};

	return unit_run(tests);
}
