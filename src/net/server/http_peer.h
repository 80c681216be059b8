/* SPDX-License-Identifier: Apache-2.0 */
/* Is what has connected on this machine? Asked of the socket, not of anything that a peer says. */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

/*
 * Does @fd come over a unix socket, from loopback, or from the very address that it is connected
 * to, which no other machine has? A proxy or a tunnel that ends here is here, too.
 */
bool http_peer_is_here(int fd);
/*
 * Is @name of a request, with @value, a sign that it comes from elsewhere all the same: by a proxy
 * that says so (Forwarded, X-Forwarded-*, X-Real-IP, Via), or from a page of another site in a
 * browser (Sec-Fetch-Site)? Pure.
 */
bool http_peer_header_is_foreign(const char *name, const char *value);
/* http_peer_is_here() of the two ends' addresses. Pure. */
bool http_peer_is_local(const struct sockaddr *peer, const struct sockaddr *own);
