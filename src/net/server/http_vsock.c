// SPDX-License-Identifier: Apache-2.0
#include "net/server/http_vsock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/vm_sockets.h>

#include "base/macro.h"
#include "base/num.h"
#include "net/http_unix.h"

#define PORT_MAX (VMADDR_PORT_ANY - 1)

bool http_vsock_is(const char *text)
{
	return strncmp(text, HTTP_VSOCK_PREFIX, strlen(HTTP_VSOCK_PREFIX)) == 0;
}

int http_vsock_parse(const char *text, uint32_t *ret_port, struct diag *diag)
{
	const char *port = text + strlen(HTTP_VSOCK_PREFIX);
	uint64_t number;

	if (*port != ':' || parse_u64(port + 1, strlen(port + 1), &number) < 0 || number > PORT_MAX)
		return diag_set(diag, -EINVAL,
				"\"%.200s\": must be " HTTP_VSOCK_PREFIX
				":PORT, with a port from 0 to "
				"%u",
				text, PORT_MAX);
	*ret_port = (uint32_t)number;
	return 0;
}

int http_vsock_listen(const char *text, struct diag *diag)
{
	struct sockaddr_vm address = { .svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_ANY };
	CLEANUP_FD int fd = -1;
	uint32_t port = 0;
	int r = http_vsock_parse(text, &port, diag);

	if (r < 0)
		return r;
	address.svm_port = port ? port : VMADDR_PORT_ANY;
	fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return diag_set(diag, -errno,
				"cannot listen on \"%.200s\": %s; it needs the kernel's vsock and, "
				"under systemd, RestrictAddressFamilies=AF_VSOCK",
				text, strerrordesc_np(errno));
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, HTTP_LISTEN_BACKLOG) < 0)
		return diag_set(diag, -errno, "cannot listen on \"%.200s\": %s", text,
				strerrordesc_np(errno));
	return TAKE_FD(fd);
}

int http_vsock_address(int fd, char *buf, size_t size)
{
	struct sockaddr_vm address = { 0 };
	socklen_t len = sizeof(address);
	int n;

	if (getsockname(fd, (struct sockaddr *)&address, &len) < 0)
		return -errno;
	if (address.svm_family != AF_VSOCK)
		return -EAFNOSUPPORT;
	n = snprintf(buf, size, HTTP_VSOCK_PREFIX ":%u", address.svm_port);
	return n < 0 || (size_t)n >= size ? -ERANGE : 0;
}
