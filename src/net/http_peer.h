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
/* The same of the two ends' addresses. Pure. */
bool http_peer_is_local(const struct sockaddr *peer, const struct sockaddr *own);
