// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "base/macro.h"
#include "net/http_connections.h"

#define START_NS 1000000000ULL

static bool is_cut(int peer)
{
	char byte;

	return recv(peer, &byte, 1, MSG_DONTWAIT) == 0;
}

static void is_bounded_and_reuses(void **state)
{
	struct http_connections connections;
	struct http_connection *a, *b;

	(void)state;
	assert_int_equal(http_connections_init(&connections, 2), 0);
	a = http_connections_add(&connections, 100, START_NS);
	b = http_connections_add(&connections, 101, START_NS);
	assert_non_null(a);
	assert_non_null(b);
	assert_null(http_connections_add(&connections, 102, START_NS));
	assert_int_equal(http_connections_used(&connections), 2);
	http_connections_remove(&connections, a);
	assert_int_equal(http_connections_used(&connections), 1);
	assert_ptr_equal(http_connections_add(&connections, 103, START_NS), a);
	http_connections_release(&connections);
}

static void cuts_at_the_deadline_of_the_phase(void **state)
{
	struct http_connections connections;
	struct http_connection *waiting, *answering;
	int w[2], a[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, w), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, a), 0);
	assert_int_equal(http_connections_init(&connections, 4), 0);
	waiting = http_connections_add(&connections, w[0], START_NS);
	answering = http_connections_add(&connections, a[0], START_NS);
	http_connections_set_answering(&connections, answering, true, START_NS);

	assert_int_equal(
		http_connections_sweep(&connections, START_NS + HTTP_REQUEST_DEADLINE_NS - 1), 0);
	assert_int_equal(http_connections_sweep(&connections, START_NS - 1), 0);
	assert_int_equal(http_connections_sweep(&connections, START_NS + HTTP_REQUEST_DEADLINE_NS),
			 1);
	assert_true(is_cut(w[1]));
	assert_false(is_cut(a[1]));
	/* What is cut already is not cut (and counted) again. */
	assert_int_equal(
		http_connections_sweep(&connections, START_NS + HTTP_ANSWER_DEADLINE_NS - 1), 0);
	assert_int_equal(http_connections_sweep(&connections, START_NS + HTTP_ANSWER_DEADLINE_NS),
			 1);
	assert_true(is_cut(a[1]));
	http_connections_remove(&connections, waiting);
	http_connections_remove(&connections, answering);
	http_connections_release(&connections);
	for (int i = 0; i < 2; i++) {
		close(w[i]);
		close(a[i]);
	}
}

static void an_answer_starts_the_clock_anew(void **state)
{
	struct http_connections connections;
	struct http_connection *one;
	int s[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
	assert_int_equal(http_connections_init(&connections, 1), 0);
	one = http_connections_add(&connections, s[0], START_NS);
	http_connections_set_answering(&connections, one, true, START_NS + 4 * START_NS);
	http_connections_set_answering(&connections, one, false, START_NS + 5 * START_NS);
	assert_int_equal(http_connections_sweep(&connections, START_NS + 9 * START_NS), 0);
	assert_int_equal(http_connections_sweep(&connections, START_NS + 10 * START_NS), 1);
	http_connections_release(&connections);
	close(s[0]);
	close(s[1]);
}

static void makes_room_among_the_silent_only(void **state)
{
	struct http_connections connections;
	struct http_connection *answering;
	int old[2], fresh[2], busy[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, old), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fresh), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, busy), 0);
	assert_int_equal(http_connections_init(&connections, 3), 0);
	(void)http_connections_add(&connections, old[0], START_NS);
	(void)http_connections_add(&connections, fresh[0], START_NS + HTTP_PATIENCE_NS);
	answering = http_connections_add(&connections, busy[0], START_NS);
	http_connections_set_answering(&connections, answering, true, START_NS);
	assert_int_equal(http_connections_make_room(&connections, START_NS + HTTP_PATIENCE_NS), 1);
	assert_true(is_cut(old[1]));
	assert_false(is_cut(fresh[1]));
	assert_false(is_cut(busy[1]));
	http_connections_release(&connections);
	for (int i = 0; i < 2; i++) {
		close(old[i]);
		close(fresh[i]);
		close(busy[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_bounded_and_reuses),
		cmocka_unit_test(cuts_at_the_deadline_of_the_phase),
		cmocka_unit_test(an_answer_starts_the_clock_anew),
		cmocka_unit_test(makes_room_among_the_silent_only),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
