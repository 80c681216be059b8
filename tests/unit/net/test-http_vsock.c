// SPDX-License-Identifier: Apache-2.0
#include "net/server/http_vsock.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/vm_sockets.h>

#include "net/server/http_connections.h"
#include "net/server/http_listen.h"
#include "net/server/http_server.h"
#include "tests/unit/unit.h"

static void knows_its_addresses(void **state)
{
	static const char *const wrong[] = { "vsock://",     "vsock://9100",  "vsock://:",
					     "vsock://2:91", "vsock://:91x",  "vsock://:4294967295",
					     "vsock://:-1",  "vsock://: 9100" };
	struct diag diag = { "" };
	uint32_t port = 0;

	assert_int_equal(http_vsock_parse("vsock://:9100", &port, NULL), 0);
	assert_int_equal(port, 9100);
	assert_int_equal(http_vsock_parse("vsock://:4294967294", &port, NULL), 0);
	assert_int_equal(port, 4294967294U);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		diag.text[0] = '\0';
		assert_int_equal(http_listen_check(wrong[i], &diag), -EINVAL);
		assert_non_null(strstr(diag.text, wrong[i]));
	}
	assert_int_equal(http_listen_check("vsock://:0", NULL), 0);
}

/* The host, or its guests, can connect: what depends on that must not take it for this machine. */
static void it_is_not_of_this_machine(void **state)
{
	const struct sockaddr_vm host = { .svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_HOST };
	const struct sockaddr_vm guest = { .svm_family = AF_VSOCK, .svm_cid = 7 };
	const struct sockaddr *at = (const struct sockaddr *)&host;
	struct http_connections connections;
	struct http_connection *connection;

	assert_false(http_listen_is_local("vsock://:9100"));
	assert_false(http_peer_is_local(at, at));
	assert_int_not_equal(http_peer(at), http_peer((const struct sockaddr *)&guest));
	assert_int_equal(http_connections_init(&connections, 4), 0);
	connection = http_connections_add(&connections, 100, at, 1);
	assert_false(connection->local); /* it has no user that the kernel knows */
	assert_true(connection->no_tcp);
	http_connections_release(&connections);
}

static void answer(void *userdata, const struct http_request *request,
		   struct http_response *response)
{
	*response = (struct http_response){ .status = 200, .body = "hello\n", .len = 6 };
}

/* Connected to @port of this machine, or -1: its kernel has no loopback for vsock. */
static int dial(uint32_t port)
{
	const struct sockaddr_vm address = { .svm_family = AF_VSOCK,
					     .svm_cid = VMADDR_CID_LOCAL,
					     .svm_port = port };
	int fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct pollfd ready = { .fd = fd, .events = POLLOUT };
	int error = 0;
	socklen_t len = sizeof(error);

	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	if (errno == EINPROGRESS && poll(&ready, 1, 1000) == 1 &&
	    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error == 0)
		return fd;
	(void)close(fd);
	return -1;
}

static void serves(void **state)
{
	static const char *const listen[] = { "vsock://:0" };
	static const struct http_route routes[] = { { "/", answer, NULL } };
	static const char request[] = "GET / HTTP/1.0\r\nHost: localhost\r\n\r\n";
	const struct http_options options = {
		.listen = listen, .listen_count = 1, .routes = routes, .route_count = 1
	};
	struct http_server *server = NULL;
	struct diag diag = { "" };
	char address[64], text[512];
	uint32_t port = 0;
	size_t size = 0;
	ssize_t got;
	int fd;

	if (http_server_start(&options, &server, &diag) < 0) {
		print_message("# not possible here: %s\n", diag.text);
		return;
	}
	assert_int_equal(http_server_address(server, 0, address, sizeof(address)), 0);
	assert_int_equal(http_vsock_parse(address, &port, &diag), 0);
	fd = dial(port);
	if (fd < 0) {
		http_server_stop(server);
		print_message("# not possible here: the kernel has no loopback for vsock\n");
		return;
	}
	assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL),
			 (ssize_t)strlen(request));
	for (;;) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };

		assert_int_equal(poll(&ready, 1, 10000), 1);
		got = recv(fd, text + size, sizeof(text) - 1 - size, 0);
		if (got <= 0)
			break;
		size += (size_t)got;
	}
	text[size] = '\0';
	assert_non_null(strstr(text, "\r\n\r\nhello\n"));
	(void)close(fd);
	http_server_stop(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_its_addresses),
		cmocka_unit_test(it_is_not_of_this_machine),
		cmocka_unit_test(serves),
	};

	return unit_run(tests);
}
