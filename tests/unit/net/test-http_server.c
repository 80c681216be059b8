// SPDX-License-Identifier: Apache-2.0
/*
 * A real server on port 0 and a raw client, because what matters here is what a peer can do that no
 * library would.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "http_rig.h"
#include "net/server/http_connections.h"
#include "net/server/http_server.h"
#include "tests/unit/unit.h"

static void answers_with_its_headers(void **state)
{
	struct http_server *server = start(0);
	const char *answer =
		exchange(server, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");

	assert_starts(answer, "HTTP/1.1 200 ");
	assert_has(answer, "\r\nContent-Type: text/plain\r\n");
	assert_has(answer, "\r\nCache-Control: no-store\r\n");
	assert_has(answer, "\r\nX-Content-Type-Options: nosniff\r\n");
	assert_has(answer, "\r\nContent-Length: 6\r\n");
	assert_has(answer, "\r\n\r\nhello\n");
	http_server_stop(server);
	assert_int_equal(releases, 1);
}

static void knows_methods_paths_and_versions(void **state)
{
	struct http_server *server = start(0);
	const char *answer;

	assert_has(exchange(server, "GET /?a=b&c HTTP/1.0\r\n\r\n"), "\r\n\r\nhello\n");
	assert_starts(exchange(server, "GET /none HTTP/1.0\r\n\r\n"), "HTTP/1.1 404 ");
	assert_starts(exchange(server, "GET /%2f HTTP/1.0\r\n\r\n"), "HTTP/1.1 404 ");
	assert_starts(exchange(server, "GET /%00 HTTP/1.0\r\n\r\n"), "HTTP/1.1 404 ");
	answer = exchange(server, "HEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
	assert_starts(answer, "HTTP/1.1 200 ");
	assert_has(answer, "\r\nContent-Length: 6\r\n");
	assert_null(strstr(answer, "hello"));
	answer = exchange(server, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nabcde");
	assert_starts(answer, "HTTP/1.1 405 ");
	assert_has(answer, "\r\nAllow: GET, HEAD\r\n");
	assert_has(answer, "\r\nConnection: close\r\n");
	assert_starts(exchange(server, "DELETE / HTTP/1.1\r\nHost: h\r\n\r\n"), "HTTP/1.1 405 ");
	answer = exchange(server, "GET /later HTTP/1.0\r\n\r\n");
	assert_starts(answer, "HTTP/1.1 503 ");
	assert_has(answer, "\r\nRetry-After: 1\r\n");
	assert_has(exchange(server, "GET / HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n"),
		   "\r\n\r\ngz");
	http_server_stop(server);
}

#define POST "POST /echo HTTP/1.1\r\nHost: h\r\n"

static void takes_posts_where_a_route_does(void **state)
{
	struct http_server *server = start(0);
	const char *answer =
		exchange(server, POST "Connection: close\r\nContent-Length: 5\r\n\r\nabcde");

	assert_starts(answer, "HTTP/1.1 200 ");
	assert_has(answer, "\r\n\r\nabcde");
	assert_has(answer, "\r\nETag: \"tag\"\r\n");
	assert_has(answer, "\r\nCache-Control: no-cache\r\n");
	assert_has(answer, "\r\nContent-Disposition: attachment; filename=\"echo.txt\"\r\n");
	answer = exchange(server, POST "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
				       "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
	assert_has(answer, "\r\n\r\nabcde");
	assert_has(exchange(server, POST "Connection: close\r\n\r\n"), "\r\nContent-Length: 0");
	answer = exchange(server, "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
	assert_starts(answer, "HTTP/1.1 405 ");
	assert_has(answer, "\r\nAllow: POST\r\n");
	answer = exchange(server, "POST /echo?say=no HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
				  "Content-Length: 0\r\n\r\n");
	assert_starts(answer, "HTTP/1.1 401 ");
	assert_has(answer, "\r\nWWW-Authenticate: Bearer\r\n");
	http_server_stop(server);
}

/* The length may be stated or not; the next request on the connection is one of its own. */
static void bodies_have_a_limit(void **state)
{
	struct http_server *server = start(0);
	char chunked[2 * ECHO_MAX + 300], body[ECHO_MAX + 2];

	assert_starts(exchange(server, POST "Content-Length: 1001\r\n\r\n"), "HTTP/1.1 413 ");
	assert_starts(exchange(server, POST "Content-Length: 99999999999999999999\r\n\r\n"),
		      "HTTP/1.1 4");
	memset(body, 'x', sizeof(body));
	body[ECHO_MAX + 1] = '\0';
	(void)snprintf(chunked, sizeof(chunked),
		       POST "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n",
		       (unsigned)strlen(body), body);
	assert_starts(exchange(server, chunked), "HTTP/1.1 413 ");
	body[ECHO_MAX] = '\0';
	(void)snprintf(chunked, sizeof(chunked),
		       POST "Content-Length: %zu\r\n\r\n%s" POST
			    "Connection: close\r\nContent-Length: 2\r\n\r\nyz",
		       strlen(body), body);
	assert_has(exchange(server, chunked), "\r\n\r\nyz");
	http_server_stop(server);
}

static void serves_pipelined_requests_in_order(void **state)
{
	struct http_server *server = start(0);
	const char *answer =
		exchange(server, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
				 "GET /none HTTP/1.1\r\nHost: h\r\n\r\n"
				 "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
	const char *second, *third;

	assert_starts(answer, "HTTP/1.1 200 ");
	second = strstr(answer + 1, "HTTP/1.1 404 ");
	assert_non_null(second);
	third = strstr(second + 1, "HTTP/1.1 200 ");
	assert_non_null(third);
	http_server_stop(server);
	assert_int_equal(releases, 2);
}

/*
 * A peer that sends what is far too long may be reset while it still writes; it must not be served.
 */
static void refuses_headers_of(size_t header_len)
{
	struct http_server *server = start(0);
	char *filler = malloc(header_len + 1), answer[4096];
	struct http_stats stats;
	int fd = dial(server);

	assert_non_null(filler);
	memset(filler, 'x', header_len);
	filler[header_len] = '\0';
	say(fd, "GET / HTTP/1.1\r\nHost: h\r\nX-Long: ");
	for (size_t sent = 0; sent < header_len;) {
		ssize_t n = send(fd, filler + sent, header_len - sent, MSG_NOSIGNAL);

		if (n < 0)
			break;
		sent += (size_t)n;
	}
	(void)send(fd, "\r\n\r\n", 4, MSG_NOSIGNAL);
	(void)drain(fd, answer, sizeof(answer));
	if (*answer)
		assert_starts(answer, "HTTP/1.1 4");
	http_server_get_stats(server, &stats);
	assert_int_equal(stats.requests[2], 0);
	close(fd);
	free(filler);
	/* Others are served as before. */
	assert_starts(exchange(server, "GET / HTTP/1.0\r\n\r\n"), "HTTP/1.1 200 ");
	http_server_stop(server);
}

static void refuses_too_long_headers(void **state)
{
	refuses_headers_of(10 << 10);
	refuses_headers_of(1 << 20);
}

static void survives_bad_requests(void **state)
{
	static const char *const bad[] = {
		"GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc",
		("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
		 "ffffffffffffffffff\r\nabc"),
		"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
		"GET\r\n\r\n",
		"\r\n\r\n\r\nGET",
		"GET / HTTP/9.9\r\n\r\n",
	};
	struct http_server *server = start(0);
	int fds[ARRAY_SIZE(bad)];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		fds[i] = dial(server);
		say(fds[i], bad[i]);
		(void)shutdown(fds[i], SHUT_WR);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char answer[4096];

		(void)drain(fds[i], answer, sizeof(answer)); /* an end, not a hang */
		close(fds[i]);
	}
	assert_starts(exchange(server, "GET / HTTP/1.0\r\n\r\n"), "HTTP/1.1 200 ");
	http_server_stop(server);
}

static void drops_the_body_of_a_get(void **state)
{
	struct http_server *server = start(0);

	assert_has(exchange(server, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
				    "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
		   "\r\n\r\nhello\n");
	http_server_stop(server);
}

static void cuts_a_request_that_drips(void **state)
{
	struct http_server *server = start(0);
	struct http_stats stats;
	char answer[256];
	int fd = dial(server);

	say(fd, "GET / HT");
	wait_for_connections(server, 1);
	say(fd, "TP/1.1\r\nX: y");
	http_server_sweep(server,
			  clock_ns(CLOCK_MONOTONIC) + HTTP_REQUEST_DEADLINE_NS - NSEC_PER_SEC);
	assert_starts(exchange(server, "GET / HTTP/1.0\r\n\r\n"), "HTTP/1.1 200 ");
	wait_for_connections(server, 1);
	http_server_get_stats(server, &stats);
	assert_int_equal(stats.cuts[HTTP_CUT_REQUEST], 0);
	http_server_sweep(server, clock_ns(CLOCK_MONOTONIC) + HTTP_REQUEST_DEADLINE_NS);
	assert_int_equal(drain(fd, answer, sizeof(answer)), 0);
	http_server_get_stats(server, &stats);
	assert_int_equal(stats.cuts[HTTP_CUT_REQUEST], 1);
	wait_for_connections(server, 0);
	close(fd);
	http_server_stop(server);
}

static void cuts_a_reader_that_drips(void **state)
{
	struct http_server *server = start(0);
	struct http_stats stats;
	static char sink[sizeof(big_body) + 4096];
	int small = 4096, fd = dial(server);

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	say(fd, "GET /big HTTP/1.1\r\nHost: h\r\n\r\n");
	assert_true(receive(fd, sink, 100) > 0); /* the answer is under way */
	http_server_sweep(server, clock_ns(CLOCK_MONOTONIC) + HTTP_STALL_NS / 2);
	http_server_get_stats(server, &stats);
	assert_int_equal(stats.cuts[HTTP_CUT_STALLED], 0);
	http_server_sweep(server, clock_ns(CLOCK_MONOTONIC) + HTTP_STALL_NS + NSEC_PER_SEC);
	http_server_sweep(server, clock_ns(CLOCK_MONOTONIC) + 2 * HTTP_STALL_NS + NSEC_PER_SEC);
	http_server_get_stats(server, &stats);
	assert_int_equal(stats.cuts[HTTP_CUT_STALLED], 1);
	assert_true(drain(fd, sink, sizeof(sink)) < sizeof(big_body));
	wait_for_connections(server, 0);
	close(fd);
	http_server_stop(server);
}

static void silent_peers_keep_no_other_out(void **state)
{
	struct http_server *server = start(4);
	struct http_stats stats;
	int silent[16];

	for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
		silent[i] = dial(server);
	for (int i = 0; i < 3; i++)
		assert_starts(exchange(server, "GET / HTTP/1.0\r\n\r\n"), "HTTP/1.1 200 ");
	http_server_get_stats(server, &stats);
	assert_true(stats.connections <= 4);
	assert_true(stats.cuts[HTTP_CUT_SILENT] > 0);
	for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
		close(silent[i]);
	http_server_stop(server);
}

static void closes_when_connections_run_short(void **state)
{
	struct http_server *server = start(4);
	char answer[4096];
	int fds[3];
	ssize_t n;

	for (int i = 0; i < 3; i++) {
		fds[i] = dial(server);
		wait_for_connections(server, (uint64_t)i + 1);
		say(fds[i], "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
		n = receive(fds[i], answer, sizeof(answer) - 1);
		assert_true(n > 0);
		answer[n] = '\0';
		assert_int_equal(strstr(answer, "Connection: close") != NULL, i == 2);
	}
	for (int i = 0; i < 3; i++)
		close(fds[i]);
	http_server_stop(server);
}

static void stop_closes_everything(void **state)
{
	struct http_server *server = start(0);
	static char sink[8192];
	int idle = dial(server), busy = dial(server), small = 4096;

	(void)setsockopt(busy, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	say(busy, "GET /big HTTP/1.1\r\nHost: h\r\n\r\n");
	assert_true(receive(busy, sink, 100) > 0);
	wait_for_connections(server, 2);
	http_server_stop(server);
	assert_true(receive(idle, sink, 1) <= 0);
	close(idle);
	close(busy);
	http_server_stop(NULL);
}

static void listens_in_several_places(void **state)
{
	static const char *const listen[] = { "127.0.0.1:0", "127.0.0.2:0", ":0" };
	struct http_options options = { .listen = listen,
					.listen_count = ARRAY_SIZE(listen),
					.routes = routes,
					.route_count = ARRAY_SIZE(routes) };
	struct http_server *server;
	char address[64];

	assert_int_equal(http_server_start(&options, &server, NULL), 0);
	assert_int_equal(http_server_address(server, 1, address, sizeof(address)), 0);
	assert_starts(address, "127.0.0.2:");
	assert_int_equal(http_server_address(server, 2, address, sizeof(address)), 0);
	assert_int_equal(http_server_address(server, 3, address, sizeof(address)), -ERANGE);
	http_server_stop(server);
}

static void a_taken_address_is_named(void **state)
{
	struct http_server *server = start(0), *second = NULL;
	char address[64];
	const char *listen[] = { address };
	struct http_options options = { .listen = listen, .listen_count = 1 };
	struct diag diag = { "" };

	assert_int_equal(http_server_address(server, 0, address, sizeof(address)), 0);
	assert_int_equal(http_server_start(&options, &second, &diag), -EADDRINUSE);
	assert_null(second);
	assert_has(diag.text, address);
	options.listen_count = 0;
	assert_int_equal(http_server_start(&options, &second, &diag), -EINVAL);
	http_server_stop(server);
}

/* Whatever the method, and whether there is such a route: only an open one needs no token. */
static void assert_unauthorized(const struct http_server *server, const char *path,
				const char *headers)
{
	static const char *const methods[] = { "GET", "HEAD", "POST", "DELETE" };

	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		char request[300];
		const char *answer;

		(void)snprintf(request, sizeof(request), "%s %s HTTP/1.1\r\nHost: h\r\n%s\r\n",
			       methods[i], path, headers);
		answer = exchange(server, request); /* which ends: the connection is closed */
		assert_starts(answer, "HTTP/1.1 401 ");
		assert_has(answer, "\r\nWWW-Authenticate: Bearer\r\n");
	}
}

static void each_route_needs_a_token_unless_it_is_open(void **state)
{
	static const char right[] = "Authorization: Bearer 0123456789abcdef\r\n";
	struct http_auth *auth = NULL;
	struct http_server *server;
	struct http_stats stats;
	uint64_t refused = 0;

	assert_int_equal(http_auth_parse("f", "0123456789abcdef\n", &auth, NULL), 0);
	server = start_with(0, auth);
	for (size_t i = 0; i <= ROUTES; i++) {
		const char *path = i < ROUTES ? routes[i].path : "/there/is/none";
		char request[300];

		if (i < ROUTES && routes[i].is_open)
			continue;
		assert_unauthorized(server, path, "");
		assert_unauthorized(server, path,
				    "Authorization: Bearer 0123456789abcdeX\r\n"
				    "Content-Length: 5\r\n");
		refused += 8;
		(void)snprintf(request, sizeof(request), "HEAD %s HTTP/1.0\r\n%s\r\n", path, right);
		assert_null(strstr(exchange(server, request), " 401 "));
	}
	assert_starts(exchange(server, "GET /healthz HTTP/1.0\r\n\r\n"), "HTTP/1.1 200 ");
	assert_int_equal(http_auth_parse("f", "the-token-after-it\n", &auth, NULL), 0);
	http_server_set_auth(server, auth);
	assert_unauthorized(server, "/", right);
	refused += 4;
	http_server_get_stats(server, &stats);
	assert_int_equal(stats.unauthorized, refused);
	assert_int_equal(stats.requests[4], refused + 2); /* no POST to /echo, and no such page */
	http_server_stop(server);
}

static void say_path(void *userdata, const struct http_request *request,
		     struct http_response *response)
{
	static char path[64];

	(void)userdata;
	(void)snprintf(path, sizeof(path), "%s", request->path);
	*response = (struct http_response){ .status = 200, .body = path, .len = strlen(path) };
}

static void knows_what_begins_so(void **state)
{
	static const struct http_route by_prefix[] = {
		{ .path = "/of/",
		  .handler = say_path,
		  .spare = true,
		  .prefix = true,
		  .local_only = true },
	};
	const char *const address[] = { "127.0.0.1:0" };
	const struct http_options options = {
		.listen = address,
		.listen_count = 1,
		.routes = by_prefix,
		.route_count = ARRAY_SIZE(by_prefix),
	};
	struct http_server *server = NULL;
	struct diag diag = { "" };

	assert_int_equal(http_server_start(&options, &server, &diag), 0);
	assert_has(exchange(server, "GET /of/a%2fb HTTP/1.0\r\n\r\n"), "\r\n\r\n/of/a%2fb");
	assert_has(exchange(server, "GET /of/?a=b HTTP/1.0\r\n\r\n"), "\r\n\r\n/of/");
	assert_starts(exchange(server, "GET /of HTTP/1.0\r\n\r\n"), "HTTP/1.1 404 ");
	assert_starts(exchange(server, "GET / HTTP/1.0\r\n\r\n"), "HTTP/1.1 404 ");
	/* A proxy here asks for something elsewhere, or a browser for a page of another site. */
	assert_starts(exchange(server, "GET /of/a HTTP/1.0\r\nX-Forwarded-For: ::1\r\n\r\n"),
		      "HTTP/1.1 403 ");
	assert_starts(exchange(server, "GET /of/a HTTP/1.0\r\nvia: 1.1 a\r\n\r\n"),
		      "HTTP/1.1 403 ");
	assert_starts(exchange(server, "GET /of/a HTTP/1.0\r\nSec-Fetch-Site: cross-site\r\n\r\n"),
		      "HTTP/1.1 403 ");
	assert_starts(exchange(server, "GET /of/a HTTP/1.0\r\nSec-Fetch-Site: none\r\n\r\n"),
		      "HTTP/1.1 200 ");
	http_server_stop(server);
}

/* The turn in which a request was first asked is kept in @userdata. */
static void answer_in_a_later_turn(void *userdata, const struct http_request *request,
				   struct http_response *response)
{
	uint64_t *first = userdata;

	if (!*first)
		*first = request->turn;
	if (*first == request->turn)
		return; /* HTTP_ASK_AGAIN */
	*response = (struct http_response){ .status = 200, .body = "later", .len = 5 };
}

static void a_request_can_wait_for_a_later_turn(void **state)
{
	static uint64_t first;
	static const struct http_route waits[] = {
		{ .path = "/",
		  .handler = answer_in_a_later_turn,
		  .userdata = &first,
		  .spare = true },
	};
	const char *const address[] = { "127.0.0.1:0" };
	const struct http_options options = {
		.listen = address, .listen_count = 1, .routes = waits, .route_count = 1
	};
	struct http_server *server = NULL;
	struct diag diag = { "" };

	assert_int_equal(http_server_start(&options, &server, &diag), 0);
	assert_has(exchange(server, "GET / HTTP/1.0\r\n\r\n"), "\r\n\r\nlater");
	http_server_stop(server);
}

static void counts(void **state)
{
	struct http_server *server = start(0);
	struct http_stats stats;

	(void)exchange(server, "GET / HTTP/1.0\r\n\r\n");
	(void)exchange(server, "HEAD / HTTP/1.0\r\n\r\n");
	(void)exchange(server, "GET /none HTTP/1.0\r\n\r\n");
	(void)exchange(server, "GET /later HTTP/1.0\r\n\r\n");
	wait_for_connections(server, 0);
	http_server_get_stats(server, &stats);
	assert_int_equal(stats.requests[2], 2);
	assert_int_equal(stats.requests[4], 1);
	assert_int_equal(stats.requests[5], 1);
	assert_int_equal(stats.connections_total, 4);
	assert_true(stats.bytes_sent > strlen(hello));
	http_server_stop(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_with_its_headers),
		cmocka_unit_test(knows_methods_paths_and_versions),
		cmocka_unit_test(takes_posts_where_a_route_does),
		cmocka_unit_test(bodies_have_a_limit),
		cmocka_unit_test(serves_pipelined_requests_in_order),
		cmocka_unit_test(refuses_too_long_headers),
		cmocka_unit_test(survives_bad_requests),
		cmocka_unit_test(drops_the_body_of_a_get),
		cmocka_unit_test(cuts_a_request_that_drips),
		cmocka_unit_test(cuts_a_reader_that_drips),
		cmocka_unit_test(silent_peers_keep_no_other_out),
		cmocka_unit_test(closes_when_connections_run_short),
		cmocka_unit_test(stop_closes_everything),
		cmocka_unit_test(listens_in_several_places),
		cmocka_unit_test(a_taken_address_is_named),
		cmocka_unit_test(each_route_needs_a_token_unless_it_is_open),
		cmocka_unit_test(a_request_can_wait_for_a_later_turn),
		cmocka_unit_test(counts),
		cmocka_unit_test(knows_what_begins_so),
	};

	return unit_run(tests);
}
