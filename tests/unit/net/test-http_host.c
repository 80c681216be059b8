// SPDX-License-Identifier: Apache-2.0
#include "net/server/http_host.h"
#include "tests/unit/unit.h"

static const char *const allowed[] = { "node1.example.org", "*.lab.example", "dotted.example." };
static const struct http_hosts hosts = { allowed, ARRAY_SIZE(allowed), NULL };

static bool is_ours(const char *host)
{
	return http_host_is_ours(host, strlen(host), &hosts);
}

static void addresses_and_local_names_are_ours(void **state)
{
	static const char *const ours[] = {
		"",
		"  ",
		"127.0.0.1",
		"10.1.2.3:28282",
		"[::1]:28282",
		"[::1]",
		"[fe80::1%eth0]:80",
		"[fe80::1%25eth0]",
		"::1",
		"2001:db8::1",
		"localhost",
		"LOCALHOST:28282",
		"localhost.",
		"kepler",
		"my_host:80",
		"kepler.monitoring.svc",
		"kepler.monitoring.SVC:28282",
		"kepler.monitoring.svc.cluster.local",
		"10-1-2-3.monitoring.pod.cluster.local.:28282",
		"node1.example.org",
		"Node1.Example.ORG.:28282",
		"a.lab.example",
		"a.b.lab.example",
		"dotted.example",
		" 127.0.0.1 ",
		"localhost:",
	};

	for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
		if (!is_ours(ours[i]))
			fail_msg("\"%s\" is refused", ours[i]);
	}
}

static void names_of_strangers_are_not(void **state)
{
	static const char *const strange[] = {
		"evil.example",
		"[fe80::1%evil.example/0]:80",
		"[fe80::1%]",
		"evil.example:28282",
		"evil.example.",
		"node1.example.org.evil.example",
		"xnode1.example.org",
		"lab.example",
		"xlab.example",
		"evil.notsvc",
		"evil.svc.example",
		"evil.xcluster.local",
		".svc",
		".cluster.local",
		"a..svc",
		"127.0.0.1.evil.example",
		"127.1",
		"1.2.3",
		"[::1].evil.example",
		"[::1",
		"[evil.example]",
		"[::1]x:80",
		"::1::",
		"localhost:80:80",
		"localhost:evil",
		"user@localhost",
		"localhost/",
		"a b",
		":80",
		".",
		"evil.example\\localhost",
		"localhost#evil.example",
		"localhost..",
	};
	char long_name[400];

	for (size_t i = 0; i < ARRAY_SIZE(strange); i++) {
		if (is_ours(strange[i]))
			fail_msg("\"%s\" passes", strange[i]);
	}
	memset(long_name, 'a', sizeof(long_name));
	assert_false(http_host_is_ours(long_name, sizeof(long_name), &hosts));
	assert_false(http_host_is_ours("localhost\0.evil", 15, &hosts));
}

static void own_names_count_where_they_are_given(void **state)
{
	struct http_own_names own = { .label_count = 0 };
	const struct http_hosts open = { NULL, 0, &own }, closed = { NULL, 0, NULL };

	http_own_names_add_host(&own, "node1");
	assert_true(http_host_is_ours("node1.example.org.:28282", 24, &open));
	assert_false(http_host_is_ours("node2.example.org:28282", 23, &open));
	assert_false(http_host_is_ours("node1.example.org", 17, &closed));
}

static void a_star_allows_every_name(void **state)
{
	static const char *const all[] = { "*" };
	const struct http_hosts any = { all, 1, NULL };

	assert_true(http_host_is_ours("evil.example:1", 14, &any));
	assert_false(http_host_is_ours("evil example", 12, &any));
}

static void allowed_names_are_checked(void **state)
{
	static const char *const good[] = { "a", "a.example",  "*.example",
					    "*", "a.example.", "A-1_b.example" };
	static const char *const bad[] = { "",     ".",        "*.",  "*x",    "*.*", "a..b", ".a",
					   "a:80", "http://a", "a b", "[::1]", "a/",  "..." };
	char longest[255] = "";

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		if (http_host_check_name(good[i], NULL) < 0)
			fail_msg("\"%s\" is refused", good[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct diag diag = { "" };

		if (http_host_check_name(bad[i], &diag) == 0 || !diag.text[0])
			fail_msg("\"%s\" passes", bad[i]);
	}
	memset(longest, 'a', sizeof(longest) - 1);
	assert_int_equal(http_host_check_name(longest + 1, NULL), 0);
	assert_true(http_host_check_name(longest, NULL) < 0);
}

static void a_target_may_be_absolute(void **state)
{
	const char *host;
	size_t len;

	assert_string_equal(http_target_path("/metrics", &host, &len), "/metrics");
	assert_null(host);
	assert_string_equal(http_target_path("HTTP://h:1/metrics", &host, &len), "/metrics");
	assert_int_equal(len, 3);
	assert_memory_equal(host, "h:1", 3);
	assert_string_equal(http_target_path("https://[::1]", &host, &len), "/");
	assert_int_equal(len, 5);
	assert_string_equal(http_target_path("ftp://h/metrics", &host, &len), "ftp://h/metrics");
	assert_string_equal(http_target_path("", &host, &len), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_and_local_names_are_ours),
		cmocka_unit_test(names_of_strangers_are_not),
		cmocka_unit_test(own_names_count_where_they_are_given),
		cmocka_unit_test(a_star_allows_every_name),
		cmocka_unit_test(allowed_names_are_checked),
		cmocka_unit_test(a_target_may_be_absolute),
	};

	return unit_run(tests);
}
