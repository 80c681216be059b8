/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes that a peer has to send before it can be answered at all: with TLS the first record,
 * which has the beginning of the handshake (RFC 8446 §5.1), else the header of a request. A peer
 * that sends it byte by byte, or a part of it, needs no connection of the server yet.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * True if all of it is in @bytes. True as well for what can never become that, which is refused at
 * once. Pure.
 */
bool http_opening_is_whole(const char *bytes, size_t len, bool tls);
/* Returns true if all of it has arrived at @fd, where it stays. */
bool http_opening_has_come(int fd, bool tls);
