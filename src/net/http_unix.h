/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A listening unix socket at a path: its mode and its directory decide what may connect.
 *
 * It appears with its mode and ready to accept, in one step, and replaces a socket that a killed
 * program left there; while another program listens at the path, it is refused.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/diag.h"

#define HTTP_UNIX_PREFIX   "unix:"
#define HTTP_UNIX_PATH_MAX 103 /* bytes: the kernel's limit, less a suffix while it is made */

/* The backlog of all listening sockets: new connections wait here while all slots are taken. */
#define HTTP_LISTEN_BACKLOG 1024

/* The path in "unix:PATH", or NULL when @address has another form. */
const char *http_unix_path(const char *address);
/* 0, or -EINVAL with what a path must be. */
int http_unix_check(const char *path, struct diag *diag);

/*
 * The socket, and in *ret_made the argument for http_unix_remove(); or -errno with a diagnosis:
 * -EADDRINUSE when another program listens there, -EEXIST when the path exists and is not a socket.
 */
int http_unix_listen(const char *path, mode_t mode, struct stat *ret_made, struct diag *diag);
/* Removes the socket at @path if it is still the one that was @made. */
void http_unix_remove(const char *path, const struct stat *made);
/* Reads an octal mode, "0660": 0 or -EINVAL. */
int http_unix_parse_mode(const char *text, mode_t *ret, struct diag *diag);
