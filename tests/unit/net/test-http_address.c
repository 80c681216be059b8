// SPDX-License-Identifier: Apache-2.0
#include "net/server/http_address.h"
#include "net/server/http_listen.h"
#include "tests/unit/unit.h"

static void splits_what_people_write(void **state)
{
	static const struct {
		const char *text, *host;
		uint16_t port;
	} cases[] = {
		{ "127.0.0.1:28282", "127.0.0.1", 28282 },
		{ ":28282", "", 28282 },
		{ "[::1]:0", "::1", 0 },
		{ "localhost:65535", "localhost", 65535 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char host[64];
		uint16_t port = 1;

		assert_int_equal(http_parse_address(cases[i].text, host, sizeof(host), &port, NULL),
				 0);
		assert_string_equal(host, cases[i].host);
		assert_int_equal(port, cases[i].port);
	}
}

static void refuses_the_rest_and_names_it(void **state)
{
	static const char *const wrong[] = { "",           "28282",   "127.0.0.1", "127.0.0.1:",
					     "h:65536",    "h:-1",    "h:80x",     "::1:80",
					     "[::1]",      "[::1:80", "[]:80",     "h:80\n",
					     "[::1]80:80", "h: 80",   "[::1]x:80" };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		char host[64] = "unchanged";
		uint16_t port = 7;
		struct diag diag = { "" };

		assert_int_equal(http_parse_address(wrong[i], host, sizeof(host), &port, &diag),
				 -EINVAL);
		assert_int_equal(port, 7);
		assert_string_equal(host, "unchanged");
		assert_non_null(strstr(diag.text, wrong[i]));
	}
}

static void bounds_the_host(void **state)
{
	char host[4];
	uint16_t port;

	assert_int_equal(http_parse_address("abc:1", host, sizeof(host), &port, NULL), 0);
	assert_int_equal(http_parse_address("abcd:1", host, sizeof(host), &port, NULL), -EINVAL);
}

static void listens_and_says_where(void **state)
{
	struct http_listener first, second;
	struct diag diag = { "" };
	char address[64], small[4];

	assert_int_equal(http_listen("127.0.0.1:0", 0, &first, &diag), 0);
	assert_int_equal(http_listen_address(&first, address, sizeof(address)), 0);
	assert_int_equal(strncmp(address, "127.0.0.1:", 10), 0);
	assert_int_equal(http_listen_address(&first, small, sizeof(small)), -ERANGE);
	assert_int_equal(http_listen(address, 0, &second, &diag), -EADDRINUSE);
	assert_non_null(strstr(diag.text, address));
	assert_non_null(strstr(diag.text, "another program listens there"));
	assert_int_equal(http_listen("192.0.2.1:0", 0, &second, &diag), -EADDRNOTAVAIL);
	assert_non_null(strstr(diag.text, "no network interface"));
	http_unlisten(&first);
}

static void looks_no_name_up(void **state)
{
	struct http_listener listener;
	struct diag diag = { "" };

	assert_int_equal(http_listen("example.org:80", 0, &listener, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "numeric"));
}

static void classifies_addresses_by_reach(void **state)
{
	static const char *const local[] = { "127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "localhost:1",
					     "unix:/run/kepler.sock" };
	static const char *const reachable[] = { ":1",           "0.0.0.0:1",   "[::]:1",
						 "10.0.0.1:1",   "[fe80::1]:1", "128.0.0.1:1",
						 "example.org:1" };

	for (size_t i = 0; i < ARRAY_SIZE(local); i++)
		assert_true(http_listen_is_local(local[i]));
	for (size_t i = 0; i < ARRAY_SIZE(reachable); i++)
		assert_false(http_listen_is_local(reachable[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splits_what_people_write),
		cmocka_unit_test(refuses_the_rest_and_names_it),
		cmocka_unit_test(bounds_the_host),
		cmocka_unit_test(listens_and_says_where),
		cmocka_unit_test(looks_no_name_up),
		cmocka_unit_test(classifies_addresses_by_reach),
	};

	return unit_run(tests);
}
