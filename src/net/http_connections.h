/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is connected, what we wait for, and since when: the deadlines that libmicrohttpd lacks.
 *
 * Its own time-out counts from the last byte, so a peer that drips one byte a second stays for
 * ever. Here a request must have arrived within HTTP_REQUEST_DEADLINE of the connection or of the
 * last answer, and an answer must have left within HTTP_ANSWER_DEADLINE. A connection is cut by
 * shutting its socket down; the server then sees its end and closes it. Safe on several threads.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_REQUEST_DEADLINE_NS (5ULL * 1000000000ULL)
#define HTTP_ANSWER_DEADLINE_NS  (10ULL * 1000000000ULL)
#define HTTP_PATIENCE_NS         (100ULL * 1000000ULL) /* for a request, when full */

struct http_connection {
	int fd;            /* -1: this slot is free */
	bool answering;    /* false: a request is awaited */
	bool cut;          /* shut down, not yet closed */
	uint64_t since_ns; /* monotonic: when what it does now began */
	size_t answer_len; /* bytes of the body of the answer under way */
};

struct http_connections {
	pthread_mutex_t lock;
	struct http_connection *slots;
	unsigned max;
	unsigned used; /* changed under the lock, read by atomic load */
};

int http_connections_init(struct http_connections *connections, unsigned max);
void http_connections_release(struct http_connections *connections);
/* The slot of a new connection, or NULL when all are taken. @fd stays the caller's. */
struct http_connection *http_connections_add(struct http_connections *connections, int fd,
					     uint64_t now_ns);
/* To be called before the descriptor is closed, so that nobody shuts another's down. */
void http_connections_remove(struct http_connections *connections,
			     struct http_connection *connection);
/* Its request has arrived (answering) or its answer has left (not answering). */
void http_connections_set_answering(struct http_connections *connections,
				    struct http_connection *connection, bool answering,
				    uint64_t now_ns);
unsigned http_connections_used(const struct http_connections *connections);
/* Cuts what is over its deadline; returns how many. */
unsigned http_connections_sweep(struct http_connections *connections, uint64_t now_ns);
/* Cuts all that have let us wait for a request for HTTP_PATIENCE; returns how many. */
unsigned http_connections_make_room(struct http_connections *connections, uint64_t now_ns);
