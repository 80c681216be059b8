/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An answer in pieces, each made when there is something new: a client that follows values asks
 * once for many of them. Between two pieces the connection is suspended, and costs neither a thread
 * nor a turn of the server's loop.
 *
 * A piece has the deadlines of an answer, a stream ends after the time that its handler gives it,
 * and at most a quarter of the connections are streams: further ones get their first piece only.
 * All of it runs on the server's thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <microhttpd.h>

#include "net/server/http_connections.h"
#include "net/server/http_handler.h"

/*
 * Wraps a @response that has .next, for @mhd. False: it is to be answered as a whole, because there
 * are too many streams. *ret is NULL without memory; the response's owner is then released.
 */
bool http_stream_wrap(struct http_connections *connections, struct http_connection *connection,
		      struct MHD_Connection *mhd, const struct http_response *response,
		      struct MHD_Response **ret);
/*
 * Asks all handlers for their next piece, or (@now_ns not 0) ends those that are over by then: with
 * UINT64_MAX all of them, because the library aborts if it is stopped while one is suspended.
 * Returns how many of them the library has to go on with.
 */
unsigned http_stream_resume(struct http_connections *connections, uint64_t now_ns);
