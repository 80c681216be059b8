/* SPDX-License-Identifier: Apache-2.0 */
/* Listening sockets: an address as text becomes a bound, non-blocking, close-on-exec socket. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "net/http_unix.h"

struct http_listener {
	int fd;
	char path[HTTP_UNIX_PATH_MAX + 1]; /* of a unix socket; "" otherwise */
	struct stat path_made;             /* of a unix socket */
};

/*
 * 0, or -errno with a diagnosis that names @text. ":PORT" stands for all addresses of all families
 * that the machine has; "unix:PATH" gets @mode; http_vsock.h describes "vsock://:PORT".
 */
int http_listen(const char *text, mode_t mode, struct http_listener *ret, struct diag *diag);
/* Closes it and removes what it made. */
void http_unlisten(const struct http_listener *listener);
/*
 * "127.0.0.1:28282", "unix:PATH" or "vsock://:PORT", terminated. 0, -ERANGE when it does not fit,
 * or -errno.
 */
int http_listen_address(const struct http_listener *listener, char *buf, size_t size);
/* 0 or -EINVAL with a diagnosis: can @text be listened on, as far as its text says? */
int http_listen_check(const char *text, struct diag *diag);
/* Can only processes of this machine connect to @text, which passes http_listen_check()? */
bool http_listen_is_local(const char *text);
/* Can other machines connect to any of the @count listeners? */
bool http_listen_is_open(const char *const *listen, size_t count);
