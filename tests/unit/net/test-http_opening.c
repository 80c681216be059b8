// SPDX-License-Identifier: Apache-2.0
/* A peer's first bytes, whole and in part. */
#include "net/server/http_opening.h"

#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static void records_of_tls(void **state)
{
	static const char hello[] = { 22, 3, 1, 0, 4, 1, 0, 0, 0 };

	for (size_t len = 0; len < sizeof(hello); len++)
		assert_false(http_opening_is_whole(hello, len, true));
	assert_true(http_opening_is_whole(hello, sizeof(hello), true));
	/* No handshake: it is refused, not waited for. */
	assert_true(http_opening_is_whole("GET", 3, true));
	assert_true(http_opening_is_whole("\x80", 1, true));
}

static void headers_of_requests(void **state)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

	for (size_t len = 0; len < sizeof(request) - 1; len++)
		assert_false(http_opening_is_whole(request, len, false));
	assert_true(http_opening_is_whole(request, sizeof(request) - 1, false));
	assert_true(http_opening_is_whole("GET /\n\n", 7, false));
}

static void much_is_not_waited_for(void **state)
{
	char *much = calloc(1, 8192);

	assert_non_null(much);
	memset(much, 'x', 8192);
	assert_false(http_opening_is_whole(much, 8191, false));
	assert_true(http_opening_is_whole(much, 8192, false));
	memcpy(much, "\x16\x03\x01\xff\xff", 5);
	assert_false(http_opening_is_whole(much, 8191, true));
	assert_true(http_opening_is_whole(much, 8192, true));
	free(much);
}

static void bytes_stay_where_they_are(void **state)
{
	char text[8] = "";
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_false(http_opening_has_come(pair[0], false));
	assert_int_equal(write(pair[1], "A\n", 2), 2);
	assert_false(http_opening_has_come(pair[0], false));
	assert_int_equal(write(pair[1], "\n", 1), 1);
	assert_true(http_opening_has_come(pair[0], false));
	assert_int_equal(read(pair[0], text, sizeof(text)), 3);
	close(pair[1]);
	assert_false(http_opening_has_come(pair[0], false));
	close(pair[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_of_tls),
		cmocka_unit_test(headers_of_requests),
		cmocka_unit_test(much_is_not_waited_for),
		cmocka_unit_test(bytes_stay_where_they_are),
	};

	return unit_run(tests);
}
