// SPDX-License-Identifier: Apache-2.0
/*
 * Bytes to a real server on loopback: paths, headers, bodies, pipelines. It must end every
 * connection, and still serve the next: there are so few that one which keeps its place is missed
 * soon. Time is injected, so that a request without an end costs no five seconds.
 */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/server/http_server.h"

#define CONNECTIONS 4
#define REQUEST     "GET /metrics HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void answer(void *userdata, const struct http_request *request,
		   struct http_response *response)
{
	(void)userdata;
	(void)request;
	*response = (struct http_response){ .status = 200, .body = "x\n", .len = 2 };
}

static struct http_server *server;
static struct sockaddr_in address = { .sin_family = AF_INET };

static void start(void)
{
	static const char *const listen[] = { "127.0.0.1:0" };
	static const struct http_route route = { .path = "/metrics", .handler = answer };
	struct http_options options = {
		.listen = listen,
		.listen_count = 1,
		.max_connections = CONNECTIONS,
		.routes = &route,
		.route_count = 1,
	};
	char text[64];
	int r = http_server_start(&options, &server, NULL);

	if (r < 0 || http_server_address(server, 0, text, sizeof(text)) < 0)
		abort();
	address.sin_port = htons((uint16_t)strtoul(strchr(text, ':') + 1, NULL, 10));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

static int dial(void)
{
	const struct timeval deadline = { .tv_sec = 20 };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert(fd >= 0);
	assert(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof(deadline)) == 0);
	assert(connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0);
	return fd;
}

/* All that comes until the server ends the connection, which it must; how much of it is in @buf. */
static size_t read_to_end(int fd, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n;

	while ((n = recv(fd, buf + len, size - len, 0)) > 0)
		len = len + (size_t)n < size ? len + (size_t)n : 0;
	assert(n == 0 || errno == ECONNRESET);
	return len;
}

static void check_next_is_served(void)
{
	static const char status[] = "HTTP/1.1 200 ", body[] = "\r\n\r\nx\n";
	char text[4096];
	int fd = dial();
	size_t len;

	assert(send(fd, REQUEST, strlen(REQUEST), MSG_NOSIGNAL) == (ssize_t)strlen(REQUEST));
	len = read_to_end(fd, text, sizeof(text));
	assert(len > strlen(status) + strlen(body) && memcmp(text, status, strlen(status)) == 0);
	assert(memcmp(text + len - strlen(body), body, strlen(body)) == 0);
	(void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pollfd pfd = { .events = POLLIN };
	char sink[4096];

	if (!server)
		start();
	pfd.fd = dial();
	if (size == 0 || send(pfd.fd, data, size, MSG_NOSIGNAL) >= 0) {
		(void)shutdown(pfd.fd, SHUT_WR);
		while (poll(&pfd, 1, 20) == 1 && recv(pfd.fd, sink, sizeof(sink), 0) > 0)
			;
		http_server_sweep(server, clock_ns(CLOCK_MONOTONIC) + 60 * NSEC_PER_SEC);
		(void)read_to_end(pfd.fd, sink, sizeof(sink));
	}
	(void)close(pfd.fd);
	check_next_is_served();
	return 0;
}
