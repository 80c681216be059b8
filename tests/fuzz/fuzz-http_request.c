// SPDX-License-Identifier: Apache-2.0
/*
 * Bytes to a real server on loopback: paths, headers, bodies, pipelines. It must end every
 * connection, and still serve the next. Time is injected, so that a request without an end costs no
 * five seconds.
 */
#include <arpa/inet.h>
#include <assert.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/http_server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void answer(void *userdata, const struct http_request *request,
		   struct http_response *response)
{
	(void)userdata;
	assert(strcmp(request->path, "/metrics") == 0);
	*response = (struct http_response){ .status = 200, .body = "x\n", .len = 2 };
}

static struct http_server *server;
static struct sockaddr_in address = { .sin_family = AF_INET };

static void start(void)
{
	static const char *const listen[] = { "127.0.0.1:0" };
	static const struct http_route route = { .path = "/metrics", .handler = answer };
	struct http_options options = {
		.listen = listen, .listen_count = 1, .routes = &route, .route_count = 1
	};
	char text[64];
	int r = http_server_start(&options, &server, NULL);

	if (r < 0 || http_server_address(server, 0, text, sizeof(text)) < 0)
		abort();
	address.sin_port = htons((uint16_t)strtoul(strchr(text, ':') + 1, NULL, 10));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pollfd pfd = { .events = POLLIN };
	char sink[4096];
	int fd;

	if (!server)
		start();
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		abort(); /* it must always let one more in */
	if (size && send(fd, data, size, MSG_NOSIGNAL) < 0)
		goto out;
	(void)shutdown(fd, SHUT_WR);
	pfd.fd = fd;
	while (poll(&pfd, 1, 20) == 1 && recv(fd, sink, sizeof(sink), 0) > 0)
		;
	http_server_sweep(server, clock_ns(CLOCK_MONOTONIC) + 60 * NSEC_PER_SEC);
	while (recv(fd, sink, sizeof(sink), 0) > 0) /* ends, or the fuzzer says it hangs */
		;
out:
	close(fd);
	return 0;
}
