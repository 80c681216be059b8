/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests and answers of a handler, the routes that lead to handlers, and the counts of their
 * answers. The server (http_server.h) calls them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "net/server/http_connections.h"
#include "net/server/http_peer.h"

#define HTTP_HEADER_MAX 8192 /* bytes of a request's line and header lines */

struct http_request {
	const char *path;   /* as it was sent, not unescaped: http_url_unescape() */
	const char *accept; /* header or "" */
	bool accepts_gzip;  /* Accept-Encoding offers it with q > 0 */
	bool head;
	/*
	 * Tells clients apart: by address, User-Agent and what Prometheus says of its time-out. A
	 * hash: nothing may trust in it.
	 */
	uint64_t client;
	const char *if_none_match; /* header or "" */
	/*
	 * ?namespace= of a route by namespaces, as it was sent, for which the request was admitted:
	 * it may be shown what belongs to this namespace, and nothing else. NULL: everything.
	 */
	const char *namespace;
	/* The body of a POST request; NULL and 0 for GET. */
	const char *body;
	size_t body_len;
	void *source; /* the server's, for http_request_argument() */
	/* The turn of the server's loop: in one turn each connection is looked at once. */
	uint64_t turn;
	/*
	 * A number that the handler keeps with a request that it answers with HTTP_ASK_AGAIN; 0
	 * when it is asked for the first time.
	 */
	uint64_t *ticket;
};

/*
 * The value of @name in the query of the request's target, as it was sent (http_url_unescape()); ""
 * without a value, NULL without such a name.
 */
const char *http_request_argument(const struct http_request *request, const char *name);
/*
 * The user that connected, if the request came over a Unix socket: the kernel recorded it when the
 * connection was made. false: not known.
 */
bool http_request_user(const struct http_request *request, struct http_peer_user *ret);

/*
 * A handler's answer. The body is borrowed from @owner until release(owner) is called, from any
 * thread, exactly once.
 */
struct http_response {
	int status; /* HTTP_ASK_AGAIN: see there */
	const char *content_type;
	const char *content_encoding; /* NULL: identity */
	const void *body;
	size_t len;
	void (*release)(void *owner); /* NULL for static bodies */
	void *owner;
	unsigned retry_after_s; /* with 202 and 503; 0: none */
	/*
	 * Copied at once. A body with an entity tag, quotes included, may be kept by clients that
	 * ask again whether it still is the newest; all others are never stored.
	 */
	const char *etag;
	/* Content-Security-Policy; NULL: neither scripts nor anything from elsewhere. */
	const char *policy;
	const char *file_name; /* under which a client saves the body; letters, digits, "._-" */
	/*
	 * NULL: the body is all. Else it is the first piece of a stream (http_stream.h), which ends
	 * after @stream_ns: when a piece has been sent, and whenever the server is woken
	 * (http_options.wake_fd), this is asked for the bytes of the next one, which stay until the
	 * call after it. 0: none yet; < 0: there is none any more.
	 */
	ssize_t (*next)(void *owner, const void **ret);
	uint64_t stream_ns;
};

/*
 * The status of a response that cannot be given yet, because memory is still being read by others:
 * the handler is asked again when one of them has ended, some milliseconds later at the latest. A
 * request that waits too long is answered with 503 and Retry-After.
 */
#define HTTP_ASK_AGAIN 0

typedef void http_handler(void *userdata, const struct http_request *request,
			  struct http_response *response);

struct http_route {
	const char *path; /* exact */
	http_handler *handler;
	void *userdata;
	bool spare;        /* small, and answered whatever other peers do: for health probes */
	bool prefix;       /* all paths that begin with @path, which ends with a slash */
	bool is_open;      /* needs no token (http_auth.h): for health checks */
	bool by_namespace; /* takes ?namespace= (http_request.namespace) */
	bool local_only;   /* 403 for peers that are not on this machine (http_peer.h) */
	size_t post_max;   /* takes POST instead of GET, with a body of up to so many bytes; or 0 */
	/*
	 * How long its requests may be answered with HTTP_ASK_AGAIN; 0: HTTP_HOLD_NS, as for pages.
	 */
	uint64_t hold_ns;
};

struct http_stats {
	/*
	 * By class of the status of our answers, without requests that the library refuses by
	 * itself (not HTTP).
	 */
	uint64_t requests[6];
	uint64_t cuts[HTTP_CUT_COUNT]; /* connections, by why they were cut */
	uint64_t connections;          /* open now */
	uint64_t connections_total;
	uint64_t bytes_sent;
	uint64_t accept_errors; /* connections could not be accepted: descriptors, memory */
	uint64_t unauthorized;  /* requests without a valid token or password: 401 */
	uint64_t limited;       /* requests beyond the limit on all of them: 429 */
	/* TLS: certificates of clients that were refused; no connection came about. */
	uint64_t certificates_refused;
	uint64_t password_comparisons; /* with a hash, each some hundredths of a second */
	uint64_t passwords_wrong;      /* of these */
	uint64_t passwords_busy;       /* requests that were not compared: too many waited */
	uint64_t misdirected;          /* requests whose Host does not name this machine: 421 */
};
