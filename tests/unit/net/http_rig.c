// SPDX-License-Identifier: Apache-2.0
#include "http_rig.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "net/server/http_connections.h"
#include "net/server/http_server.h"
#include "tests/unit/unit.h"

const char big_body[BIG_BODY];
unsigned releases;

static void count_release(void *owner)
{
	__atomic_fetch_add((unsigned *)owner, 1, __ATOMIC_SEQ_CST);
}

static void handle_hello(void *userdata, const struct http_request *request,
			 struct http_response *response)
{
	*response = (struct http_response){
		.status = 200,
		.content_type = "text/plain",
		.body = request->accepts_gzip ? "gz" : userdata,
		.len = request->accepts_gzip ? 2 : strlen(userdata),
		.release = count_release,
		.owner = &releases,
	};
}

static void handle_big(void *userdata, const struct http_request *request,
		       struct http_response *response)
{
	(void)userdata;
	(void)request;
	*response = (struct http_response){
		.status = 200,
		.body = big_body,
		.len = sizeof(big_body),
		.release = count_release,
		.owner = &releases,
	};
}

static void handle_later(void *userdata, const struct http_request *request,
			 struct http_response *response)
{
	(void)userdata;
	(void)request;
	*response = (struct http_response){
		.status = 503, .body = "soon\n", .len = 5, .retry_after_s = 1
	};
}

static void handle_health(void *userdata, const struct http_request *request,
			  struct http_response *response)
{
	(void)userdata;
	(void)request;
	*response = (struct http_response){ .status = 200, .body = "ok\n", .len = 3 };
}

static void handle_echo(void *userdata, const struct http_request *request,
			struct http_response *response)
{
	const char *argument = http_request_argument(request, "say");
	char *copy = calloc(request->body_len + 1, 1);

	(void)userdata;
	assert_non_null(copy);
	memcpy(copy, request->body, request->body_len);
	*response = (struct http_response){
		.status = argument && strcmp(argument, "no") == 0 ? 401 : 200,
		.body = copy,
		.len = request->body_len,
		.release = free,
		.owner = copy,
		.etag = "\"tag\"",
		.file_name = "echo.txt",
	};
}

char hello[] = "hello\n";
const struct http_route routes[ROUTES] = {
	{ "/", handle_hello, hello, false },
	{ "/big", handle_big, NULL, false },
	{ "/later", handle_later, NULL, false },
	{ "/healthz", handle_health, NULL, .spare = true, .is_open = true },
	{ "/echo", handle_echo, NULL, .post_max = ECHO_MAX },
};

struct http_server *start(unsigned max_connections)
{
	return start_with(max_connections, NULL);
}

struct http_server *start_with(unsigned max_connections, struct http_auth *auth)
{
	static const char *const listen[] = { "127.0.0.1:0" };
	struct http_options options = {
		.listen = listen,
		.listen_count = 1,
		.max_connections = max_connections,
		.routes = routes,
		.route_count = ARRAY_SIZE(routes),
		.auth = auth,
	};
	struct http_server *server = NULL;
	struct diag diag = { "" };

	releases = 0;
	if (http_server_start(&options, &server, &diag) < 0)
		fail_msg("%s", diag.text);
	return server;
}

int dial(const struct http_server *server)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	char address[64];
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(http_server_address(server, 0, address, sizeof(address)), 0);
	to.sin_port = htons((uint16_t)strtoul(strchr(address, ':') + 1, NULL, 10));
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

void say(int fd, const char *text)
{
	size_t len = strlen(text);

	assert_int_equal(send(fd, text, len, MSG_NOSIGNAL), len);
}

ssize_t receive(int fd, char *buf, size_t size)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	if (poll(&pfd, 1, CLIENT_PATIENCE_MS) != 1)
		fail_msg("no answer");
	return recv(fd, buf, size, 0);
}

/* Everything until the server closes, terminated. */
size_t drain(int fd, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n;

	while (len < size - 1 && (n = receive(fd, buf + len, size - 1 - len)) > 0)
		len += (size_t)n;
	buf[len] = '\0';
	return len;
}

const char *exchange(const struct http_server *server, const char *request)
{
	static char answer[16384];
	int fd = dial(server);

	say(fd, request);
	(void)drain(fd, answer, sizeof(answer));
	close(fd);
	return answer;
}

void assert_starts(const char *text, const char *with)
{
	if (strncmp(text, with, strlen(with)) != 0)
		fail_msg("\"%.80s\" does not start with \"%s\"", text, with);
}

/* Out of line: gcc 12 otherwise believes that a failed assertion returns and goes on with NULL. */
__attribute__((noinline)) void assert_has(const char *text, const char *what)
{
	if (!strstr(text, what)) {
		print_error("no \"%s\" in \"%s\"\n", what, text);
		fail();
	}
}

void wait_for_connections(const struct http_server *server, uint64_t want)
{
	struct http_stats stats;
	uint64_t give_up_ns = clock_ns(CLOCK_MONOTONIC) + CLIENT_PATIENCE_MS * NSEC_PER_MSEC;

	do {
		http_server_get_stats(server, &stats);
		(void)poll(NULL, 0, 1);
	} while (stats.connections != want && clock_ns(CLOCK_MONOTONIC) < give_up_ns);
	assert_int_equal(stats.connections, want);
}
