/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a request to an answer: methods, routes, headers, counts. The part of the server that
 * libmicrohttpd calls back. Everything here runs on the server's thread; the counters may be read
 * from any.
 */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include <microhttpd.h>

#include "net/server/http_connections.h"
#include "net/server/http_gate.h"
#include "net/server/http_handler.h"
#include "net/server/http_host.h"
#include "net/server/http_refused.h"

struct http_answerer {
	struct http_connections *connections;
	const struct http_route *routes; /* borrowed */
	size_t route_count;
	struct http_gate gate;       /* which requests are admitted */
	struct http_hosts hosts;     /* borrowed: which hosts requests may name */
	unsigned busy_connections;   /* from this many on, answers close theirs */
	bool tls;                    /* only the library may send */
	bool own_credentials;        /* it has a certificate of its own for that */
	unsigned bodies, max_bodies; /* of requests, that are kept now */
	uint64_t turn;               /* of the server's loop */
	struct http_stats stats;     /* by atomic operations only */
	struct http_refused refused;
};

/*
 * Calls the handlers of held requests again, at the next turn of the library. This has to be called
 * before the library is stopped.
 */
void http_answer_resume(struct http_answerer *answerer);
/* Callbacks with the types that libmicrohttpd expects; the closure is a struct http_answerer. */
enum MHD_Result http_answer_request(void *cls, struct MHD_Connection *mhd, const char *url,
				    const char *method, const char *version,
				    const char *upload_data, size_t *upload_data_size,
				    void **request_state);
void http_answer_completed(void *cls, struct MHD_Connection *mhd, void **request_state,
			   enum MHD_RequestTerminationCode how);
void http_answer_connection(void *cls, struct MHD_Connection *mhd, void **socket_state,
			    enum MHD_ConnectionNotificationCode what);
/* Leaves a path as it was sent: our routes need no unescaping, and "%00" must not cut one short. */
size_t http_answer_no_unescape(void *cls, struct MHD_Connection *mhd, char *text);
/* Adds to one of the answerer's counters. */
void http_count(uint64_t *counter, uint64_t amount);
