/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP requests with deadlines and limits, over TCP with verified TLS or over a unix socket.
 *
 * The library (libcurl, GnuTLS flavour) is loaded when the first client is made, and only then: it
 * costs 5 MB. A client belongs to one thread and keeps its connection alive between requests. Every
 * request can be ended from another thread through a descriptor (@cancel_fd), so that a stop never
 * waits for a peer. Redirects are not followed, and no credentials (a token, a password, a body)
 * are ever sent over plain http, so they reach no other server, unless the caller says that the
 * peer is on this machine; a body is sent to a unix socket, and over plain http where the caller
 * says that it is public.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "net/http_header.h"

/* Gets decoded bytes as they arrive; a result other than 0 ends the request with that error. */
typedef int http_body_fn(void *userdata, const char *bytes, size_t len);
typedef void http_status_fn(void *userdata, int status);
/* A header of an answer: @value is not terminated, and has no blanks around it. */
typedef void http_header_fn(void *userdata, const char *name, size_t name_len, const char *value,
			    size_t value_len);

struct http_client_options {
	const char *unix_socket; /* path, or NULL: TCP */
	/*
	 * TLS: files in PEM, read again for each connection; NULL: the system's CAs, no
	 * certificate.
	 */
	const char *ca_file;
	const char *client_cert_file, *client_key_file;
	/* A name to look for in the peer's certificate instead of the URL's host; NULL none. */
	const char *tls_server_name;
	const char *user_agent;
	/*
	 * http:// or socks5h://; NULL: see below. https:// is not supported, also from the
	 * environment: libcurl 7.88 with GnuTLS waits for ever for data that has already arrived
	 * through TLS within TLS.
	 */
	const char *proxy_url;
	/* false: no proxy. true: the proxy of the environment (http_proxy.h). */
	bool environment_proxy;
	int cancel_fd; /* readable: requests end with -ECANCELED; -1 none */
	/* The peer is not verified, neither its certificate nor its name. */
	bool insecure;
	/* The peer is on this machine: tokens may go to it over http:// as well. */
	bool is_local;
	/*
	 * HTTP/2 from the first byte on, without asking the peer whether it has that; http:// only.
	 * Each request has a connection of its own.
	 */
	bool http2;
};

enum http_method { HTTP_GET, HTTP_POST, HTTP_DELETE };

struct http_request_options {
	const char *url;           /* http:// or https:// */
	const char *bearer_token;  /* or NULL; never logged; https:// only, else -EINVAL */
	const char *accept;        /* "application/json" */
	const char *if_none_match; /* an ETag of an earlier answer; NULL: none */
	/* https:// only, as the bearer token: HTTP Basic, X-Auth-Token, X-API-Session; NULL: none.
	 */
	const char *user, *password, *auth_token, *api_session;
	/* A body, to https:// or a unix socket only unless it is public; NULL: none. */
	const char *content;
	bool content_is_public;            /* it has no secret, and may go over http:// */
	size_t content_len;                /* 0: it is a text */
	const char *content_type;          /* NULL: application/json */
	const char *content_encoding;      /* "gzip"; NULL: none */
	const struct http_header *headers; /* further ones, [header_count]; else -EINVAL: */
	size_t header_count;               /* valid by http_header_check() */
	bool wants_trailers; /* headers after the body, which then go to @header, too */
	enum http_method method;
	/* Called for each header, with the same @userdata; may be NULL. */
	http_header_fn *header;
	/*
	 * Called once the answer has begun, before its body, with the same @userdata; may be NULL.
	 */
	http_status_fn *status;
	uint64_t connect_timeout_ms;
	uint64_t answer_timeout_ms; /* until its status and headers are whole, 0 none */
	uint64_t timeout_ms;        /* of the whole request, 0 none (a watch) */
	/*
	 * NULL, or a time of CLOCK_MONOTONIC that @status and @body may move, 0 none: when it is
	 * over, the request ends with -ETIMEDOUT.
	 */
	const uint64_t *deadline_ns;
	uint64_t max_bytes; /* of the decoded body; 0 none; beyond it -EMSGSIZE */
};

struct http_reply {
	int status;              /* 200; 0 when there was none */
	uint64_t retry_after_ms; /* of Retry-After in seconds or as a date, at most a day; 0 none */
	uint64_t body_bytes;     /* decoded */
	bool reached;            /* something took the TCP connection, the peer or a proxy */
	bool connected;          /* false: the peer has not seen the request */
};

struct http_client;

/*
 * Loads the library now rather than with the first client. As http_client_new(), which fails in the
 * same way.
 */
int http_client_load(struct diag *diag);

/* 0; -ENOENT or -ENOSYS: no fitting library (diag says which package); -EINVAL; -ENOMEM. */
int http_client_new(const struct http_client_options *options, struct http_client **ret,
		    struct diag *diag);
void http_client_free(struct http_client *client);
/*
 * 0; -EINVAL with diag where no request to @url can ever succeed, because of its proxy or
 * tls_server_name.
 */
int http_client_check(const struct http_client *client, const char *url, struct diag *diag);
/*
 * A request. 0 once there was a complete answer, with any status (the body is passed to @body for
 * every status); else -errno, and diag has the URL's host and the reason: -ETIMEDOUT,
 * -ECONNREFUSED, -EHOSTUNREACH (no such host), -ECANCELED, -EMSGSIZE, -EPROTO (cut or malformed),
 * -EACCES (TLS: one side could not verify the other), -EINVAL, -ENOMEM, -EIO. *ret is always
 * written.
 */
int http_client_get(struct http_client *client, const struct http_request_options *request,
		    http_body_fn *body, void *userdata, struct http_reply *ret, struct diag *diag);
