// SPDX-License-Identifier: Apache-2.0
#include "net/http_tls_name.h"

#include "tests/unit/unit.h"

static void the_name_is_for_tls_alone(void **state)
{
	static const struct {
		const char *url, *tls_url, *connect_to, *host;
	} cases[] = {
		{ "https://10.0.0.1:6443/api?a=b", "https://kube.local:6443/api?a=b",
		  "kube.local:6443:10.0.0.1:6443", "Host: 10.0.0.1:6443" },
		{ "https://lb.example/api", "https://kube.local/api",
		  "kube.local:443:lb.example:443", "Host: lb.example" },
		{ "https://lb.example?a:b", "https://kube.local?a:b",
		  "kube.local:443:lb.example:443", "Host: lb.example" },
		{ "https://[fd00::1]:6443/", "https://kube.local:6443/",
		  "kube.local:6443:[fd00::1]:6443", "Host: [fd00::1]:6443" },
		{ "https://[fd00::1]", "https://kube.local", "kube.local:443:[fd00::1]:443",
		  "Host: [fd00::1]" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct http_tls_name route;

		assert_int_equal(http_tls_name_apply(cases[i].url, "kube.local", &route), 0);
		assert_string_equal(route.url.data, cases[i].tls_url);
		assert_string_equal(route.connect_to.data, cases[i].connect_to);
		assert_string_equal(route.host.data, cases[i].host);
		http_tls_name_release(&route);
	}
}

static void an_invalid_name_or_url_is_refused(void **state)
{
	static const char *const cases[][2] = {
		{ "http://a/", "b" },          { "https:///", "b" },      { "https://:443/", "b" },
		{ "https://user@a/", "b" },    { "https://a/", "" },      { "https://a/", "b:1" },
		{ "https://a/", "b/c" },       { "https://a/", "b c" },   { "https://a/", "b@c" },
		{ "https://a/", "b\r\nX: y" }, { "https://a/", "[::1]" },
	};
	struct http_tls_name route;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(http_tls_name_apply(cases[i][0], cases[i][1], &route), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_name_is_for_tls_alone),
		cmocka_unit_test(an_invalid_name_or_url_is_refused),
	};

	return unit_run(tests);
}
