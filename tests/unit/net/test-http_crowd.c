// SPDX-License-Identifier: Apache-2.0
/* The requests that a real server refuses, and the connections that it cuts for others. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/clock.h"
#include "http_rig.h"
#include "net/server/http_connections.h"
#include "net/server/http_server.h"
#include "tests/unit/unit.h"

static void answers_for_its_own_names_alone(void **state)
{
	struct http_server *server = start(0);

	assert_starts(exchange(server, "GET / HTTP/1.0\r\nHost: localhost:1\r\n\r\n"),
		      "HTTP/1.1 200 ");
	assert_starts(exchange(server, "GET / HTTP/1.0\r\nHost: evil.example\r\n\r\n"),
		      "HTTP/1.1 421 ");
	assert_has(exchange(server, "GET /healthz HTTP/1.0\r\nHost: evil.example\r\n\r\n"),
		   "--web.allowed-hosts");
	assert_starts(exchange(server, "GET / HTTP/1.0\r\nHost: h\r\nHost: evil.example\r\n\r\n"),
		      "HTTP/1.1 421 ");
	assert_has(exchange(server, "GET http://h:1/ HTTP/1.0\r\nHost: h\r\n\r\n"),
		   "\r\n\r\nhello\n");
	assert_starts(exchange(server, "GET http://evil.example/ HTTP/1.0\r\nHost: h\r\n\r\n"),
		      "HTTP/1.1 421 ");
	http_server_stop(server);
}

/* Whatever their length: one answer, and from some length on 431. */
static void long_headers_are_answered(void **state)
{
	static const char line[] = "A: b\r\n"; /* the most memory for its length */
	struct http_server *server = start(0);
	static char request[24000];

	for (size_t len = 6000; len < 16000; len += 61) {
		for (int many = 0; many < 2; many++) {
			size_t n = (size_t)snprintf(request, sizeof(request),
						    "GET / HTTP/1.0\r\n%s", many ? "" : "X: ");
			const char *answer;

			while (n < len && !many)
				request[n++] = 'x';
			while (n < len && many) {
				memcpy(request + n, line, sizeof(line) - 1);
				n += sizeof(line) - 1;
			}
			(void)snprintf(request + n, sizeof(request) - n, "%s\r\n",
				       many ? "" : "\r\n");
			answer = exchange(server, request);
			if (!many && len < 8000)
				assert_starts(answer, "HTTP/1.1 200 ");
			else if (len > 8300)
				assert_starts(answer, "HTTP/1.1 431 ");
			else
				assert_starts(answer, "HTTP/1.1 ");
		}
	}
	http_server_stop(server);
}

static int dial_unix(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

/*
 * Asks for the large page at @path (NULL: over TCP) until no client has just begun to read, which
 * alone may be answered with 503.
 */
static void get_big(const struct http_server *server, const char *path)
{
	static char answer[sizeof(big_body) + 4096];
	uint64_t give_up_ns = clock_ns(CLOCK_MONOTONIC) + CLIENT_PATIENCE_MS * NSEC_PER_MSEC;
	size_t len;

	do {
		int fd = path ? dial_unix(path) : dial(server);

		say(fd, "GET /big HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
		len = drain(fd, answer, sizeof(answer));
		close(fd);
	} while (strncmp(answer, "HTTP/1.1 503 ", 13) == 0 &&
		 clock_ns(CLOCK_MONOTONIC) < give_up_ns);
	assert_starts(answer, "HTTP/1.1 200 ");
	assert_true(len > sizeof(big_body));
}

static void slow_readers_leave_room(void **state)
{
	struct http_server *server = start(8);
	struct http_stats stats;
	int slow[24], small = 4096;
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < ARRAY_SIZE(slow); i++) {
		slow[i] = dial(server);
		(void)setsockopt(slow[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
		say(slow[i], "GET /big HTTP/1.1\r\nHost: h\r\n\r\n");
	}
	for (int i = 0; i < 5; i++) {
		assert_starts(exchange(server, "GET /healthz HTTP/1.0\r\n\r\n"), "HTTP/1.1 200 ");
		get_big(server, NULL);
	}
	http_server_get_stats(server, &stats);
	assert_true(stats.cuts[HTTP_CUT_SLOW] >= 5);
	/* Not by their deadlines. */
	assert_true(clock_ns(CLOCK_MONOTONIC) - begin_ns < CLIENT_PATIENCE_MS * NSEC_PER_MSEC);
	for (size_t i = 0; i < ARRAY_SIZE(slow); i++)
		close(slow[i]);
	http_server_stop(server);
}

static void peers_of_the_backlog_get_no_connection(const char *words)
{
	struct http_server *server = start(8);
	struct http_stats stats;
	int silent[64];

	for (size_t i = 0; i < ARRAY_SIZE(silent); i++) {
		silent[i] = dial(server);
		say(silent[i], words);
	}
	assert_starts(exchange(server, "GET /healthz HTTP/1.0\r\n\r\n"), "HTTP/1.1 200 ");
	http_server_get_stats(server, &stats);
	assert_true(stats.cuts[HTTP_CUT_SILENT] >= ARRAY_SIZE(silent) - 8);
	assert_true(stats.connections_total < ARRAY_SIZE(silent) / 2);
	for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
		close(silent[i]);
	http_server_stop(server);
}

/* A peer that was silent while it waited in the backlog is not waited for once more. */
static void silent_peers_of_the_backlog_get_no_connection(void **state)
{
	peers_of_the_backlog_get_no_connection("");
}

static void nor_do_those_with_a_part_of_a_request(void **state)
{
	peers_of_the_backlog_get_no_connection("GET / HTTP/1.1\r\nHost: h\r\n");
}

static void bodies_have_a_limit_of_their_own(void **state)
{
	static const char *const listen[] = { "127.0.0.1:0" };
	static const char request[] =
		"POST /echo HTTP/1.0\r\nHost: h\r\nContent-Length: 2\r\n\r\nok";
	const struct http_options options = { .listen = listen,
					      .listen_count = 1,
					      .max_bodies = 1,
					      .routes = routes,
					      .route_count = ARRAY_SIZE(routes) };
	struct http_server *server = NULL;
	char answer[4096];
	int first;

	assert_int_equal(http_server_start(&options, &server, NULL), 0);
	first = dial(server);
	say(first,
	    "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\nExpect: 100-continue\r\n"
	    "Connection: close\r\n\r\n");
	assert_true(receive(first, answer, sizeof(answer) - 1) > 0);
	assert_starts(answer, "HTTP/1.1 100 "); /* its body is awaited */
	assert_starts(exchange(server, request), "HTTP/1.1 503 ");
	assert_has(exchange(server, request), "Retry-After: 1\r\n");
	assert_starts(exchange(server, "GET / HTTP/1.0\r\nHost: h\r\n\r\n"), "HTTP/1.1 200 ");
	say(first, "0123456789");
	(void)drain(first, answer, sizeof(answer));
	assert_has(answer, "\r\n\r\n0123456789");
	close(first);
	assert_starts(exchange(server, request), "HTTP/1.1 200 ");
	http_server_stop(server);
}

static int dial_narrow(const struct http_server *server)
{
	int fd = dial(server), small = 2304;

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	return fd;
}

/* Small answers, more than the socket takes, that nothing reads: they hold no connection up. */
static void unread_health_leaves_room(void **state)
{
	static const char request[] = "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n";
	struct http_server *server = start(8);
	struct http_stats stats = { 0 };
	int unread[5], slow[24];
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), lasted_ns, cut;

	for (size_t i = 0; i < ARRAY_SIZE(unread); i++) {
		unread[i] = dial_narrow(server);
		(void)fcntl(unread[i], F_SETFL, O_NONBLOCK);
	}
	for (int still = 0; still < 20; still++) {
		for (size_t i = 0; i < ARRAY_SIZE(unread); i++) {
			while (send(unread[i], request, sizeof(request) - 1, MSG_NOSIGNAL) > 0)
				still = 0;
		}
		(void)poll(NULL, 0, 1);
	}
	for (size_t i = 0; i < ARRAY_SIZE(slow); i++) {
		slow[i] = dial_narrow(server);
		say(slow[i], "GET /big HTTP/1.1\r\nHost: h\r\n\r\n");
	}
	for (int i = 0; i < 5; i++)
		assert_starts(exchange(server, "GET /healthz HTTP/1.0\r\n\r\n"), "HTTP/1.1 200 ");
	http_server_get_stats(server, &stats);
	lasted_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
	assert_true(lasted_ns < HTTP_ANSWER_DEADLINE_NS);
	cut = stats.cuts[HTTP_CUT_SILENT];
	if (lasted_ns >= HTTP_STALL_NS) /* a busy machine: some were cut before others waited */
		cut += stats.cuts[HTTP_CUT_STALLED];
	assert_true(cut >= ARRAY_SIZE(unread));
	for (size_t i = 0; i < ARRAY_SIZE(unread); i++)
		close(unread[i]);
	for (size_t i = 0; i < ARRAY_SIZE(slow); i++)
		close(slow[i]);
	http_server_stop(server);
}

static void serves_over_a_unix_socket(void **state)
{
	char directory[] = "/tmp/kepler-http-XXXXXX", listen_text[64], address[64], answer[4096];
	const char *listen[] = { listen_text }, *path = listen_text + strlen("unix:");
	struct http_options options = { .listen = listen,
					.listen_count = 1,
					.socket_mode = 0600,
					.max_connections = 8,
					.routes = routes,
					.route_count = ARRAY_SIZE(routes) };
	struct http_server *server = NULL;
	int slow[16], fd;

	assert_non_null(mkdtemp(directory));
	(void)snprintf(listen_text, sizeof(listen_text), "unix:%s/socket", directory);
	assert_int_equal(http_server_start(&options, &server, NULL), 0);
	assert_int_equal(http_server_address(server, 0, address, sizeof(address)), 0);
	assert_string_equal(address, listen_text);
	for (size_t i = 0; i < ARRAY_SIZE(slow); i++) {
		slow[i] = dial_unix(path);
		say(slow[i], "GET /big HTTP/1.1\r\nHost: h\r\n\r\n");
	}
	for (int i = 0; i < 3; i++) {
		get_big(server, path);
	}
	fd = dial_unix(path);
	say(fd, "GET / HTTP/1.0\r\nHost: any.example\r\n\r\n");
	(void)drain(fd, answer, sizeof(answer));
	assert_starts(answer, "HTTP/1.1 200 ");
	close(fd);
	for (size_t i = 0; i < ARRAY_SIZE(slow); i++)
		close(slow[i]);
	http_server_stop(server);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(rmdir(directory), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_for_its_own_names_alone),
		cmocka_unit_test(long_headers_are_answered),
		cmocka_unit_test(slow_readers_leave_room),
		cmocka_unit_test(silent_peers_of_the_backlog_get_no_connection),
		cmocka_unit_test(nor_do_those_with_a_part_of_a_request),
		cmocka_unit_test(bodies_have_a_limit_of_their_own),
		cmocka_unit_test(unread_health_leaves_room),
		cmocka_unit_test(serves_over_a_unix_socket),
	};

	return unit_run(tests);
}
