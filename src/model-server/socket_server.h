/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The estimator's protocol on a unix socket: a client sends JSON objects, one after the other, and
 * gets one for each. An object ends with its last bracket, wherever the client's writes end, so
 * that neither a newline nor the end of the connection is needed; several may be sent at once.
 *
 * Peers may be hostile: SOCKET_PEERS_MAX at a time, requests of limited size, a deadline for each
 * request from its first byte on and for each answer. Input that is not JSON is answered with an
 * error, and the connection ends. While all places are taken and another peer waits, one gives way:
 * among the peers of the user with the most places, the one that has neither sent nor received
 * anything for the longest. A client reads all that was sent to it and then the end of the
 * connection, never a reset, even if it has sent bytes that the server did not read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"

#define SOCKET_PEERS_MAX  128
#define SOCKET_REQUEST_NS (5ULL * 1000000000ULL)
#define SOCKET_ANSWER_NS  (5ULL * 1000000000ULL)
#define SOCKET_IDLE_NS    (300ULL * 1000000000ULL)

/* Appends the answer to a request, a whole JSON object. */
typedef void socket_answer(void *userdata, const char *request, size_t size, struct strbuf *out);
/* Appends the answer to anything that is not a request. */
typedef void socket_refuse(void *userdata, const char *why, struct strbuf *out);

struct socket_options {
	int listener;       /* a listening unix socket, not blocking; the caller's */
	size_t request_max; /* bytes */
	socket_answer *answer;
	socket_refuse *refuse;
	void *userdata;
};

struct socket_server;

/* NULL: no memory. */
struct socket_server *socket_server_new(const struct socket_options *options);
void socket_server_free(struct socket_server *server); /* closes all connections; NULL is fine */
/*
 * One turn: waits at most @wait_ms for peers or @other_fd, and serves whatever is ready. @now_ns is
 * asked for after the wait. True: @other_fd is readable.
 */
bool socket_server_turn(struct socket_server *server, int other_fd, int wait_ms);
