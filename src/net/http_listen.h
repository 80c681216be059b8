/* SPDX-License-Identifier: Apache-2.0 */
/* Listening sockets: an address as text becomes a bound, non-blocking, close-on-exec socket. */
#pragma once

#include <stddef.h>

#include "base/diag.h"

#define HTTP_LISTEN_BACKLOG 1024 /* who finds all connections taken waits here */

/*
 * The socket, or -errno with a diagnosis that names @text. ":PORT" is all addresses of both
 * families where there are two.
 */
int http_listen(const char *text, struct diag *diag);
/* "127.0.0.1:28282" of a bound socket, terminated. 0, -ERANGE when it does not fit, or -errno. */
int http_listen_address(int fd, char *buf, size_t size);
