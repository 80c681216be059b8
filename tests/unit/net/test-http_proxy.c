// SPDX-License-Identifier: Apache-2.0
#include "net/http_proxy.h"

#include "tests/unit/unit.h"

static void hosts_that_are_excepted(void **state)
{
	static const char *const cases[][2] = {
		{ "*", "a.example" },
		{ "b, *", "[fd00::1]" },
		{ "a.example", "a.example" },
		{ "A.Example", "a.eXample." },
		{ "example", "a.example" },
		{ ".example.", "a.b.example" },
		{ "b.example a.example", "a.example" },
		{ ",, a.example", "a.example" },
		{ "10.0.0.5", "10.0.0.5" },
		{ "x,10.0.0.0/8", "10.255.0.5" },
		{ "10.0.0.4/31", "10.0.0.5" },
		{ "0.0.0.0/0", "10.0.0.5" },
		{ "10.0.0.5/32", "10.0.0.5" },
		{ "fd00::1", "[fd00::1]" },
		{ "[FD00:0::1]", "[fd00::1]" },
		{ "fd00::/8", "[fd12::1]" },
		{ "fd00::/9", "fd12::1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (!http_proxy_is_excepted(cases[i][0], cases[i][1], strlen(cases[i][1])))
			fail_msg("%s has no %s", cases[i][0], cases[i][1]);
	}
}

static void hosts_that_are_not(void **state)
{
	static const char *const cases[][2] = {
		{ "", "a.example" },
		{ " ,", "a.example" },
		{ ".", "a.example" },
		{ "a.example", "ba.example" },
		{ "a.example", "example" },
		{ "a.example.com", "a.example" },
		{ "*.example", "a.example" },
		{ "10.0.0.50", "10.0.0.5" },
		{ "0.5", "10.0.0.5" },
		{ "10.0.0.6/31", "10.0.0.5" },
		{ "10.0.0.5/33", "10.0.0.5" },
		{ "10.0.0.5/", "10.0.0.5" },
		{ "10.0.0.5/a", "10.0.0.5" },
		{ "::/0", "10.0.0.5" },
		{ "0.0.0.0/0", "[fd00::1]" },
		{ "fd00::/9", "[fd80::1]" },
		{ "fd00::1:fd00::1:fd00::1:fd00::1:fd00::1:fd00::1:fd00::1:fd00::1", "[fd00::1]" },
		{ "a.example", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (http_proxy_is_excepted(cases[i][0], cases[i][1], strlen(cases[i][1])))
			fail_msg("%s has %s", cases[i][0], cases[i][1]);
	}
}

static const char *const names[] = { "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY",
				     "all_proxy",  "ALL_PROXY",  "no_proxy",    "NO_PROXY" };

static int forget(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(unsetenv(names[i]), 0);
	return 0;
}

static void set(const char *name, const char *value)
{
	assert_int_equal(setenv(name, value, 1), 0);
}

static void expect(const char *url, const char *proxy)
{
	const char *found = http_proxy_find(url);

	assert_string_equal(found ? found : "none", proxy);
}

static void each_scheme_has_its_own(void **state)
{
	expect("https://a/", "none");
	set("ALL_PROXY", "all");
	expect("https://a/", "all");
	set("all_proxy", "lower-all");
	set("HTTPS_PROXY", "secure");
	set("HTTP_PROXY", "of a request's header");
	expect("https://a/", "secure");
	expect("http://a/", "lower-all");
	set("https_proxy", "lower-secure");
	set("http_proxy", "plain");
	expect("HTTPS://a/", "lower-secure");
	expect("http://a/", "plain");
	set("https_proxy", "");
	expect("https://a/", "secure");
}

static void no_proxy_for_exceptions(void **state)
{
	set("https_proxy", "http://p");
	set("NO_PROXY", "10.0.0.5");
	expect("https://10.0.0.5:6443/api", "none");
	expect("https://u@10.0.0.5?x", "none");
	expect("https://10.0.0.6:6443/api", "http://p");
	set("no_proxy", "fd00::1");
	expect("https://10.0.0.5:6443/api", "http://p");
	expect("https://[fd00::1]:6443/api", "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_that_are_excepted),
		cmocka_unit_test(hosts_that_are_not),
		cmocka_unit_test_setup_teardown(each_scheme_has_its_own, forget, forget),
		cmocka_unit_test_setup_teardown(no_proxy_for_exceptions, forget, forget),
	};

	return unit_run(tests);
}
