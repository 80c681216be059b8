// SPDX-License-Identifier: Apache-2.0
/*
 * An explicit IPv6 address listens on IPv6 only, so that "[::1]:P" and "127.0.0.1:P" can stand side
 * by side; "all addresses" is one socket for both families, or IPv4 alone where the kernel has no
 * IPv6.
 */
#include "net/server/http_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/macro.h"
#include "net/server/http_address.h"
#include "net/server/http_vsock.h"

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static int parse_host(const char *host, uint16_t port, union address *ret)
{
	*ret = (union address){ 0 };
	if (strcmp(host, "localhost") == 0)
		host = "127.0.0.1";
	if (!*host || inet_pton(AF_INET6, host, &ret->v6.sin6_addr) == 1) {
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = htons(port);
		return 0;
	}
	*ret = (union address){ 0 };
	if (inet_pton(AF_INET, host, &ret->v4.sin_addr) != 1)
		return -EINVAL;
	ret->v4.sin_family = AF_INET;
	ret->v4.sin_port = htons(port);
	return 0;
}

static int bind_socket(const union address *address, bool all)
{
	bool v6 = address->any.sa_family == AF_INET6;
	socklen_t len = v6 ? sizeof(address->v6) : sizeof(address->v4);
	int on = 1, v6only = all ? 0 : 1;
	CLEANUP_FD int fd = -1;

	fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		return -errno;
	if (v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6only, sizeof(v6only)) < 0)
		return -errno;
	if (bind(fd, &address->any, len) < 0 || listen(fd, HTTP_LISTEN_BACKLOG) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/* The remedy if an address cannot be used; "" if the error already states it. */
static const char *advice(int err)
{
	switch (err) {
	case -EADDRINUSE:
		return "; another program listens there (ss -ltnp names it). If it is this program "
		       "as a service, use its page; to run a second instance, "
		       "--web.listen-address=127.0.0.1:0 chooses a free port";
	case -EADDRNOTAVAIL:
		return "; no network interface of this machine has this address";
	case -EACCES:
		return "; ports below net.ipv4.ip_unprivileged_port_start need "
		       "CAP_NET_BIND_SERVICE";
	default:
		return "";
	}
}

static int listen_tcp(const char *text, struct diag *diag)
{
	char host[INET6_ADDRSTRLEN];
	union address address = { 0 };
	uint16_t port;
	int r;

	r = http_parse_address(text, host, sizeof(host), &port, diag);
	if (r < 0)
		return r;
	if (parse_host(host, port, &address) < 0)
		return diag_set(diag, -EINVAL,
				"\"%.200s\": must be a numeric address (names are not looked up), "
				"or empty for all addresses",
				text);
	r = bind_socket(&address, !*host);
	if (!*host && (r == -EAFNOSUPPORT || r == -EADDRNOTAVAIL)) {
		(void)parse_host("0.0.0.0", port, &address); /* a constant: always parses */
		r = bind_socket(&address, false);
	}
	if (r < 0)
		return diag_set(diag, r, "cannot listen on \"%.200s\": %s%s", text, strerror(-r),
				advice(r));
	return r;
}

int http_listen(const char *text, mode_t mode, struct http_listener *ret, struct diag *diag)
{
	struct http_listener listener = { .fd = -1 };
	const char *path = http_unix_path(text);

	if (path)
		listener.fd = http_unix_listen(path, mode, &listener.path_made, diag);
	else if (http_vsock_is(text))
		listener.fd = http_vsock_listen(text, diag);
	else
		listener.fd = listen_tcp(text, diag);
	if (listener.fd < 0)
		return listener.fd;
	(void)snprintf(listener.path, sizeof(listener.path), "%s", path ? path : "");
	*ret = listener;
	return 0;
}

void http_unlisten(const struct http_listener *listener)
{
	if (listener->path[0])
		http_unix_remove(listener->path, &listener->path_made);
	(void)close(listener->fd);
}

int http_listen_check(const char *text, struct diag *diag)
{
	const char *path = http_unix_path(text);
	char host[256];
	uint32_t vsock_port;
	uint16_t port;

	if (http_vsock_is(text))
		return http_vsock_parse(text, &vsock_port, diag);
	return path ? http_unix_check(path, diag)
		    : http_parse_address(text, host, sizeof(host), &port, diag);
}

bool http_listen_is_local(const char *text)
{
	union address address = { 0 };
	char host[INET6_ADDRSTRLEN];
	uint16_t port;

	if (http_unix_path(text))
		return true;
	if (http_vsock_is(text)) /* the host, or virtual machines on it */
		return false;
	if (http_parse_address(text, host, sizeof(host), &port, NULL) < 0 ||
	    parse_host(host, port, &address) < 0)
		return false;
	if (address.any.sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&address.v6.sin6_addr);
	return ntohl(address.v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

bool http_listen_is_open(const char *const *listen, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!http_listen_is_local(listen[i]))
			return true;
	}
	return false;
}

int http_listen_address(const struct http_listener *listener, char *buf, size_t size)
{
	char host[INET6_ADDRSTRLEN];
	union address address = { 0 };
	socklen_t len = sizeof(address);
	int n = http_vsock_address(listener->fd, buf, size);

	if (n != -EAFNOSUPPORT)
		return n;
	if (listener->path[0]) {
		n = snprintf(buf, size, HTTP_UNIX_PREFIX "%s", listener->path);
		return n < 0 || (size_t)n >= size ? -ERANGE : 0;
	}
	if (getsockname(listener->fd, &address.any, &len) < 0)
		return -errno;
	if (address.any.sa_family == AF_INET6) {
		(void)inet_ntop(AF_INET6, &address.v6.sin6_addr, host, sizeof(host));
		n = snprintf(buf, size, "[%s]:%u", host, (unsigned)ntohs(address.v6.sin6_port));
	} else {
		(void)inet_ntop(AF_INET, &address.v4.sin_addr, host, sizeof(host));
		n = snprintf(buf, size, "%s:%u", host, (unsigned)ntohs(address.v4.sin_port));
	}
	return n < 0 || (size_t)n >= size ? -ERANGE : 0;
}
