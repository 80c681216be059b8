/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets between a virtual machine and its host (vsock(7)), as an address of a server:
 * "vsock://:PORT", for all peers that can connect. The exporter toolkit has the same form.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define HTTP_VSOCK_PREFIX "vsock://"

/* Does @text begin as such an address? */
bool http_vsock_is(const char *text);
/* Pure. 0 is any free port. 0 or -EINVAL with a diagnosis. */
int http_vsock_parse(const char *text, uint32_t *ret_port, struct diag *diag);
/* A listening, non-blocking, close-on-exec socket; -errno with a diagnosis. */
int http_vsock_listen(const char *text, struct diag *diag);
/* "vsock://:PORT" of @fd. 0; -EAFNOSUPPORT: it is another socket; -ERANGE: it does not fit. */
int http_vsock_address(int fd, char *buf, size_t size);
