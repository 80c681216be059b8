// SPDX-License-Identifier: Apache-2.0
#include "net/server/http_peer.h"

#include <arpa/inet.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static struct sockaddr_storage address_of(const char *text)
{
	struct sockaddr_storage address = { 0 };
	struct sockaddr_in6 *v6 = (void *)&address;
	struct sockaddr_in *v4 = (void *)&address;

	if (strcmp(text, "unix") == 0) {
		address.ss_family = AF_UNIX;
	} else if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		address.ss_family = AF_INET;
	} else {
		assert_int_equal(inet_pton(AF_INET6, text, &v6->sin6_addr), 1);
		address.ss_family = AF_INET6;
	}
	return address;
}

static void this_machine_is_local(void **state)
{
	static const struct {
		const char *peer, *own;
		bool local;
	} cases[] = {
		{ "127.0.0.1", "127.0.0.1", true },
		{ "127.3.2.1", "127.0.0.1", true },
		{ "::1", "::1", true },
		{ "::ffff:127.0.0.1", "::ffff:127.0.0.1", true },
		{ "192.0.2.7", "192.0.2.7", true },
		{ "2001:db8::7", "2001:db8::7", true },
		{ "::ffff:192.0.2.7", "192.0.2.7", true },
		{ "unix", "unix", true },
		{ "192.0.2.8", "192.0.2.7", false },
		{ "128.0.0.1", "192.0.2.7", false },
		{ "2001:db8::8", "2001:db8::7", false },
		{ "::ffff:192.0.2.8", "::ffff:192.0.2.7", false },
		{ "::2", "2001:db8::7", false },
		{ "unix", "192.0.2.7", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sockaddr_storage peer = address_of(cases[i].peer);
		struct sockaddr_storage own = address_of(cases[i].own);

		assert_int_equal(http_peer_is_local((const struct sockaddr *)&peer,
						    (const struct sockaddr *)&own),
				 cases[i].local);
	}
}

static void an_invalid_descriptor_is_not_a_peer(void **state)
{
	int pair[2];

	assert_false(http_peer_is_here(-1));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_true(http_peer_is_here(pair[0]));
	(void)close(pair[0]);
	(void)close(pair[1]);
}

static void the_kernel_names_the_user(void **state)
{
	struct http_peer_user user;
	int pair[2];

	assert_false(http_peer_user_of(-1, &user));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_true(http_peer_user_of(pair[0], &user));
	assert_int_equal(user.uid, geteuid());
	assert_true(http_peer_user_is_in(&user, getegid()));
	(void)close(pair[0]);
	(void)close(pair[1]);
}

static void all_groups_of_a_user_count(void **state)
{
	const struct http_peer_user user = {
		.uid = 7, .gid = 8, .group_count = 2, .groups = { 100, 200, 300 }
	};

	assert_true(http_peer_user_is_in(&user, 8));
	assert_true(http_peer_user_is_in(&user, 100));
	assert_true(http_peer_user_is_in(&user, 200));
	assert_false(http_peer_user_is_in(&user, 300));
	assert_false(http_peer_user_is_in(&user, 7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(this_machine_is_local),
		cmocka_unit_test(an_invalid_descriptor_is_not_a_peer),
		cmocka_unit_test(the_kernel_names_the_user),
		cmocka_unit_test(all_groups_of_a_user_count),
	};

	return unit_run(tests);
}
