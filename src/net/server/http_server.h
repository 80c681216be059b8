/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP server for a few pages, over libmicrohttpd, on a thread of its own.
 *
 * Peers are assumed to be hostile: at most http_options.max_connections, 8 KiB of header, 5 s for a
 * request to arrive, a minute for an answer to leave, GET and HEAD only, but for routes that take
 * POST with a body of limited size. When connections run short, answers close their connections and
 * the slowest readers are cut (http_connections.h), so that no client can block the others.
 * Handlers run on the server's thread and answer from memory; they never wait.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "net/server/http_auth.h"
#include "net/server/http_handler.h"
#include "net/server/http_host.h"
#include "net/server/http_review.h"
#include "net/web/web_security.h"

struct http_options {
	/*
	 * "127.0.0.1:28282", "[::1]:28282", ":28282" (all addresses), "unix:/run/kepler.sock",
	 * "vsock://:28282"
	 */
	const char *const *listen;
	size_t listen_count;
	mode_t socket_mode;              /* of unix sockets, not masked */
	unsigned max_connections;        /* default 128 */
	unsigned max_bodies;             /* of requests, at once; 0: one of each connection */
	const struct http_route *routes; /* borrowed for the server's life */
	size_t route_count;
	/*
	 * Borrowed, too: names that requests may be for besides our own. Those of hosts.own count
	 * only if other machines can connect to one of the listeners.
	 */
	struct http_hosts hosts;
	/* PEM, copied: the chain of certificates and the key of TLS 1.2 and 1.3; NULL: no TLS */
	const char *tls_certificate, *tls_key;
	/*
	 * Its tokens are asked for before any route, except those that are open; NULL: none. A
	 * server that has started takes it over.
	 */
	struct http_auth *auth;
	/* Decides about further tokens, until the server is stopped; .ask NULL: none. */
	struct http_reviewer reviewer;
	/*
	 * The web configuration, or NULL. A server that has started takes the
	 * reference over. If it has TLS, the certificate and key above are NULL.
	 */
	struct web_security *security;
	/*
	 * An eventfd, borrowed: becomes readable when streams may have another piece
	 * (http_response.next); 0: none.
	 */
	int wake_fd;
};

struct http_server;

/*
 * 0 or -errno with a diagnosis that names the address. Port 0 binds any free port: see
 * http_server_address().
 */
int http_server_start(const struct http_options *options, struct http_server **ret,
		      struct diag *diag);
void http_server_stop(struct http_server *server); /* closes all connections, joins; NULL is fine */
/* "127.0.0.1:28282" or "unix:PATH" of listener @index, terminated; 0 or -ERANGE. */
int http_server_address(const struct http_server *server, size_t index, char *buf, size_t size);
bool http_server_has_tls(const struct http_server *server);
/* Replaces its tokens by @auth, which is taken over. On any thread. */
void http_server_set_auth(struct http_server *server, struct http_auth *auth);
/*
 * Replaces its web configuration, and takes the reference over if this succeeds. On any thread. 0,
 * or -errno with a diagnosis: the earlier one stays. Whether it has TLS cannot change.
 */
int http_server_set_security(struct http_server *server, struct web_security *security,
			     struct diag *diag);
/*
 * Cuts connections that are over their deadline at @now_ns (CLOCK_MONOTONIC). The server's thread
 * does so by itself four times a second while a peer is connected; others may, from any thread.
 */
void http_server_sweep(struct http_server *server, uint64_t now_ns);
/*
 * For a handler that needs the memory of one of two earlier bodies, identified by their owners:
 * cuts stuck readers of both, and readers of the @old one that have had their time
 * (http_connections.h). Handlers then answer HTTP_ASK_AGAIN.
 */
void http_server_hurry(struct http_server *server, const void *old, const void *newest);
/*
 * The next Host that was refused and was not taken before, printable; NULL: none. It lives as long
 * as the server; at most HTTP_REFUSED_NAMES are kept.
 */
const char *http_server_take_refused(struct http_server *server);
void http_server_get_stats(const struct http_server *server, struct http_stats *ret);
