// SPDX-License-Identifier: Apache-2.0
/*
 * A request is answered when it has arrived as a whole; a body that comes with GET is dropped
 * unread (the deadline bounds it). Other methods are refused at their headers, and the connection
 * is closed, since what follows may be anything.
 *
 * Every answer forbids caching and sniffing: the values are a side channel on what the machine
 * computes and change with each interval.
 */
#include "net/server/http_answer.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/macro.h"
#include "base/num.h"
#include "net/http_upload.h"
#include "net/server/http_accept.h"
#include "net/server/http_peer.h"
#include "net/server/http_stream.h"

#define LOCAL_BLOCK    65536
#define POLICY_DEFAULT "default-src 'none'; style-src 'unsafe-inline'"

struct header {
	const char *name;
	const char *value;
};

/* The first ones may have another value in a web configuration: web_header_names[]. */
static const struct header every_answer[] = {
	{ MHD_HTTP_HEADER_X_CONTENT_TYPE_OPTIONS, "nosniff" },
	{ "X-Frame-Options", "DENY" },
	{ "Referrer-Policy", "no-referrer" },
	{ MHD_HTTP_HEADER_VARY, "Accept, Accept-Encoding" },
};

void http_count(uint64_t *counter, uint64_t amount)
{
	__atomic_fetch_add(counter, amount, __ATOMIC_RELAXED);
}

static void count_status(struct http_answerer *answerer, unsigned status)
{
	if (status >= 100 && status < 600)
		http_count(&answerer->stats.requests[status / 100], 1);
}

static struct http_connection *connection_of(struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static void static_answer(struct http_response *response, int status, const char *text)
{
	*response = (struct http_response){
		.status = status,
		.content_type = "text/plain; charset=utf-8",
		.body = text,
		.len = strlen(text),
	};
}

static const char *header_or_empty(struct MHD_Connection *mhd, const char *name)
{
	const char *value = MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, name);

	return value ? value : "";
}

static const struct http_route *find_route(const struct http_answerer *answerer, const char *path)
{
	for (size_t i = 0; i < answerer->route_count; i++) {
		const struct http_route *route = &answerer->routes[i];

		if (route->prefix ? strncmp(route->path, path, strlen(route->path)) == 0
				  : strcmp(route->path, path) == 0)
			return route;
	}
	return NULL;
}

/*
 * The namespace that a request restricts itself to. What the gate decides about and what the
 * handler shows both come from here.
 */
static const char *namespace_of(struct MHD_Connection *mhd, const struct http_route *route)
{
	static const char name[] = "namespace";
	const char *value = NULL;
	size_t len = 0;

	if (!route || !route->by_namespace ||
	    MHD_lookup_connection_value_n(mhd, MHD_GET_ARGUMENT_KIND, name, sizeof(name) - 1,
					  &value, &len) != MHD_YES)
		return NULL;
	return value && strlen(value) == len ? value : ""; /* which is the name of none */
}

/* Products that share an address, and scrapers with different timeouts. */
static uint64_t client_of(struct MHD_Connection *mhd, const struct http_connection *connection)
{
	uint64_t hash =
		hash64_text(connection->address, header_or_empty(mhd, MHD_HTTP_HEADER_USER_AGENT));

	return hash64_text(hash64_byte(hash, '\0'),
			   header_or_empty(mhd, "X-Prometheus-Scrape-Timeout-Seconds"));
}

const char *http_request_argument(const struct http_request *request, const char *name)
{
	const char *value = NULL;
	size_t len = 0;

	if (request->source &&
	    MHD_lookup_connection_value_n(request->source, MHD_GET_ARGUMENT_KIND, name,
					  strlen(name), &value, &len) == MHD_YES)
		return value ? value : "";
	return NULL;
}

bool http_request_user(const struct http_request *request, struct http_peer_user *ret)
{
	const struct http_connection *connection =
		request->source ? connection_of(request->source) : NULL;

	return connection && connection->local && http_peer_user_of(connection->fd, ret);
}

static void ask_handler(const struct http_answerer *answerer, const struct http_route *route,
			struct MHD_Connection *mhd, struct http_connection *connection,
			const char *path, bool head, struct http_response *response)
{
	struct http_request request = {
		.path = path,
		.accept = header_or_empty(mhd, MHD_HTTP_HEADER_ACCEPT),
		.head = head,
		.client = client_of(mhd, connection),
		.if_none_match = header_or_empty(mhd, MHD_HTTP_HEADER_IF_NONE_MATCH),
		.namespace = namespace_of(mhd, route),
		.source = mhd,
		.turn = answerer->turn,
		.ticket = &connection->ticket,
	};
	const struct http_upload *upload = connection->upload;

	if (upload) {
		request.body = upload->data ? upload->data : "";
		request.body_len = upload->len;
	}
	request.accepts_gzip =
		http_accepts_gzip(header_or_empty(mhd, MHD_HTTP_HEADER_ACCEPT_ENCODING));
	route->handler(route->userdata, &request, response);
}

/*
 * A page is answered when fewer pages are being read than the limit, what is spare always, and both
 * if the handler does not want to be asked again; else the request waits. false: it waits.
 */
static bool ask_or_hold(struct http_answerer *answerer, const struct http_route *route,
			struct MHD_Connection *mhd, struct http_connection *connection,
			const char *path, bool head, struct http_response *response)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (route->spare || http_connections_room(answerer->connections, connection, now_ns))
		ask_handler(answerer, route, mhd, connection, path, head, response);
	if (response->status != HTTP_ASK_AGAIN)
		return true;
	if (http_connections_hold(answerer->connections, connection, mhd,
				  route->hold_ns ? route->hold_ns : HTTP_HOLD_NS, now_ns)) {
		MHD_suspend_connection(mhd);
		return false;
	}
	static_answer(response, MHD_HTTP_SERVICE_UNAVAILABLE,
		      "503: too many simultaneous readers, try again\n");
	response->retry_after_s = 1;
	return true;
}

void http_answer_resume(struct http_answerer *answerer)
{
	struct MHD_Connection *mhd;

	while ((mhd = http_connections_take_held(answerer->connections)))
		MHD_resume_connection(mhd);
}

static void drop_body(const struct http_response *response)
{
	if (response->release)
		response->release(response->owner);
}

/*
 * A body that is read through a unix socket: only there the bytes that its reader takes can be
 * counted.
 */
struct local_body {
	struct http_response response;
	struct http_connection *connection;
};

static ssize_t read_local(void *cls, uint64_t position, char *buf, size_t max)
{
	const struct local_body *body = cls;
	size_t left = body->response.len - (size_t)position;
	size_t len = left < max ? left : max;

	__atomic_store_n(&body->connection->handed_bytes, body->connection->sent_bytes + position,
			 __ATOMIC_RELAXED);
	memcpy(buf, (const char *)body->response.body + position, len);
	return (ssize_t)len;
}

static void release_local(void *cls)
{
	struct local_body *body = cls;

	drop_body(&body->response);
	free(body);
}

static struct MHD_Response *wrap_local(const struct http_response *response,
				       struct http_connection *connection)
{
	struct local_body *body = malloc(sizeof(*body));
	struct MHD_Response *wrapped = NULL;

	if (body) {
		*body = (struct local_body){ *response, connection };
		wrapped = MHD_create_response_from_callback(response->len, LOCAL_BLOCK, read_local,
							    body, release_local);
	}
	if (!wrapped) {
		drop_body(response);
		free(body);
	}
	return wrapped;
}

/*
 * Hands the body over: from here on libmicrohttpd releases it. libmicrohttpd only reads it, but
 * takes it without const.
 */
static struct MHD_Response *wrap_body(const struct http_answerer *answerer,
				      struct MHD_Connection *mhd,
				      const struct http_response *response,
				      struct http_connection *connection)
{
	void *body = (void *)(uintptr_t)response->body;
	struct MHD_Response *wrapped;

	if (response->next && connection->has_chunks &&
	    http_stream_wrap(answerer->connections, connection, mhd, response, &wrapped))
		return wrapped;
	if (!response->release)
		return MHD_create_response_from_buffer(response->len, body, MHD_RESPMEM_PERSISTENT);
	if (connection->no_tcp && response->len > 0)
		return wrap_local(response, connection);
	wrapped = MHD_create_response_from_buffer_with_free_callback_cls(
		response->len, body, response->release, response->owner);
	if (!wrapped)
		drop_body(response);
	return wrapped;
}

/*
 * libmicrohttpd returns NO only when memory ran out; the answer then lacks a header, which is
 * better than no answer.
 */
static void add_header(struct MHD_Response *wrapped, const char *name, const char *value)
{
	(void)MHD_add_response_header(wrapped, name, value);
}

static void add_file_name(struct MHD_Response *wrapped, const char *file_name)
{
	char value[192];

	(void)snprintf(value, sizeof(value), "attachment; filename=\"%s\"", file_name);
	add_header(wrapped, MHD_HTTP_HEADER_CONTENT_DISPOSITION, value);
}

/* The value that the web configuration has for a header, or NULL. */
static const char *configured(const struct web_config *config, const char *name)
{
	for (size_t i = 0; config && i < WEB_HEADER_COUNT; i++) {
		if (strcmp(web_header_names[i], name) == 0)
			return config->headers[i];
	}
	return NULL;
}

static void add_protection(struct MHD_Response *wrapped, const struct web_config *config,
			   const char *policy)
{
	for (size_t i = 0; i < ARRAY_SIZE(every_answer); i++) {
		if (!configured(config, every_answer[i].name))
			add_header(wrapped, every_answer[i].name, every_answer[i].value);
	}
	if (!configured(config, "Content-Security-Policy"))
		add_header(wrapped, "Content-Security-Policy", policy ? policy : POLICY_DEFAULT);
	for (size_t i = 0; config && i < WEB_HEADER_COUNT; i++) {
		if (config->headers[i])
			add_header(wrapped, web_header_names[i], config->headers[i]);
	}
}

static void add_headers(struct http_answerer *answerer, struct MHD_Response *wrapped,
			const struct http_response *response, bool close, bool post)
{
	struct web_security *security = http_gate_security(&answerer->gate);
	char seconds[16];

	add_protection(wrapped, security ? security->config : NULL, response->policy);
	web_security_unref(security);
	if (response->content_type)
		add_header(wrapped, MHD_HTTP_HEADER_CONTENT_TYPE, response->content_type);
	if (response->content_encoding)
		add_header(wrapped, MHD_HTTP_HEADER_CONTENT_ENCODING, response->content_encoding);
	add_header(wrapped, MHD_HTTP_HEADER_CACHE_CONTROL,
		   response->etag ? "no-cache" : "no-store");
	if (response->etag)
		add_header(wrapped, MHD_HTTP_HEADER_ETAG, response->etag);
	if (response->file_name)
		add_file_name(wrapped, response->file_name);
	if (response->status == MHD_HTTP_UNAUTHORIZED)
		add_header(wrapped, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
			   http_gate_schemes(&answerer->gate));
	if (response->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		add_header(wrapped, MHD_HTTP_HEADER_ALLOW, post ? "POST" : "GET, HEAD");
	if (response->retry_after_s) {
		(void)snprintf(seconds, sizeof(seconds), "%u", response->retry_after_s);
		add_header(wrapped, MHD_HTTP_HEADER_RETRY_AFTER, seconds);
	}
	if (close)
		add_header(wrapped, MHD_HTTP_HEADER_CONNECTION, "close");
}

static enum MHD_Result queue_answer(struct http_answerer *answerer, struct MHD_Connection *mhd,
				    struct http_connection *connection,
				    const struct http_response *response,
				    const struct http_route *route, bool head)
{
	struct MHD_Response *wrapped = wrap_body(answerer, mhd, response, connection);
	bool page = route && !route->spare && !connection->is_stream;
	bool close = response->status == MHD_HTTP_METHOD_NOT_ALLOWED ||
		     response->status == MHD_HTTP_UNAUTHORIZED ||
		     response->status == MHD_HTTP_CONTENT_TOO_LARGE ||
		     http_connections_used(answerer->connections) >= answerer->busy_connections;
	enum MHD_Result result;

	if (!wrapped)
		return MHD_NO;
	add_headers(answerer, wrapped, response, close, route && route->post_max);
	connection->answer_len = head ? 0 : response->len;
	http_connections_begin_answer(answerer->connections, connection, response->owner,
				      page && response->release && response->status == MHD_HTTP_OK,
				      clock_ns(CLOCK_MONOTONIC));
	result = MHD_queue_response(mhd, (unsigned)response->status, wrapped);
	MHD_destroy_response(wrapped); /* our reference; the queue holds its own */
	if (result == MHD_YES)
		count_status(answerer, (unsigned)response->status);
	return result;
}

/*
 * A request that does not fit into the library's memory together with the headers of our answer is
 * refused with a fixed text; the library would just close the connection.
 */
static enum MHD_Result refuse_headers(struct http_answerer *answerer,
				      const struct http_connection *connection)
{
	static const char text[] =
		"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n"
		"Content-Type: text/plain; charset=utf-8\r\nContent-Length: 35\r\n\r\n"
		"431: more than 8 KiB of header lines";

	/* Nothing was sent before on an idle socket, so that it fits or the peer has gone. */
	if (!answerer->tls)
		(void)send(connection->fd, text, sizeof(text) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	count_status(answerer, MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE);
	return MHD_NO;
}

static void too_long_answer(struct http_response *response)
{
	static_answer(response, MHD_HTTP_CONTENT_TOO_LARGE,
		      "413: the body of the request is too long\n");
}

static void end_upload(struct http_answerer *answerer, struct http_connection *connection)
{
	answerer->bodies -= connection->upload != NULL;
	http_upload_free(TAKE_PTR(connection->upload));
}

/* A body that says its length is refused before it comes. */
static enum MHD_Result begin_upload(struct http_answerer *answerer, struct MHD_Connection *mhd,
				    struct http_connection *connection,
				    const struct http_route *route)
{
	const char *length = header_or_empty(mhd, MHD_HTTP_HEADER_CONTENT_LENGTH);
	struct http_response response = { 0 };
	uint64_t bytes = 0;

	if (*length && (parse_u64(length, strlen(length), &bytes) < 0 || bytes > route->post_max)) {
		too_long_answer(&response);
		return queue_answer(answerer, mhd, connection, &response, route, false);
	}
	end_upload(answerer, connection);
	if (answerer->bodies == answerer->max_bodies) {
		static_answer(&response, MHD_HTTP_SERVICE_UNAVAILABLE,
			      "503: too many requests with a body at once, try again\n");
		response.retry_after_s = 1;
		return queue_answer(answerer, mhd, connection, &response, route, false);
	}
	connection->upload = http_upload_new(route->post_max);
	answerer->bodies += connection->upload != NULL;
	return connection->upload ? MHD_YES : MHD_NO;
}

/* false: the body is here whole. */
static bool upload_is_unfit(const struct http_upload *upload, struct http_response *response)
{
	if (upload && upload->too_long)
		too_long_answer(response);
	else if (upload && upload->failed)
		static_answer(response, MHD_HTTP_SERVICE_UNAVAILABLE, "503: out of memory\n");
	return response->status != HTTP_ASK_AGAIN;
}

/*
 * The answer to a request that is not admitted; HTTP_ASK_AGAIN: it is. A path without a route needs
 * a token, too: routes are not to be found by guessing.
 */
static void refuse(struct http_answerer *answerer, enum http_verdict verdict,
		   struct http_response *response)
{
	switch (verdict) {
	case HTTP_UNAUTHORIZED:
		http_count(&answerer->stats.unauthorized, 1);
		static_answer(response, MHD_HTTP_UNAUTHORIZED,
			      "401: a token (Authorization: Bearer TOKEN) or a user with a "
			      "password is required\n");
		break;
	case HTTP_LIMITED:
		http_count(&answerer->stats.limited, 1);
		static_answer(response, MHD_HTTP_TOO_MANY_REQUESTS,
			      "429: too many requests; rate_limit in the web configuration is the "
			      "limit on those of all clients\n");
		response->retry_after_s = 1;
		break;
	case HTTP_FORBIDDEN:
		static_answer(
			response, MHD_HTTP_FORBIDDEN,
			"403: the owner of this token may not read this: that takes a role with "
			"the verb get of the nonResourceURL /metrics or, with ?namespace=, the "
			"verb get of pods in that namespace\n");
		break;
	case HTTP_UNREVIEWED:
		static_answer(response, MHD_HTTP_SERVICE_UNAVAILABLE,
			      "503: the API server of Kubernetes, which decides about tokens, does "
			      "not respond, try again\n");
		response->retry_after_s = 2;
		break;
	case HTTP_MALFORMED:
		static_answer(response, MHD_HTTP_BAD_REQUEST,
			      "400: namespace: must be the name of a namespace of Kubernetes\n");
		break;
	case HTTP_CROWDED:
	case HTTP_UNDECIDED:
		static_answer(response, MHD_HTTP_SERVICE_UNAVAILABLE,
			      "503: too many requests wait for the check of their password or "
			      "token, try again\n");
		response->retry_after_s = 1;
		break;
	case HTTP_ADMITTED:
		break;
	}
}

/*
 * The verdict on a request after its headers have come. If it cannot be given at once, the
 * request is suspended, and this is called again: *waits. Only a quarter of the connections may
 * wait for that.
 */
static enum http_verdict admit(struct http_answerer *answerer, struct MHD_Connection *mhd,
			       struct http_connection *connection, const struct http_route *route,
			       bool *waits)
{
	struct http_connections *connections = answerer->connections;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	const struct http_question question = {
		.namespace = namespace_of(mhd, route),
		.peer = connection->address,
		.network = connection->peer,
	};
	enum http_verdict verdict =
		http_gate_ask(&answerer->gate, mhd, connection,
			      route && route->is_open ? NULL : &question, now_ns);

	*waits = verdict == HTTP_UNDECIDED &&
		 http_connections_held(connections) < (connections->max + 3) / 4 &&
		 http_connections_hold(connections, connection, mhd, HTTP_GATE_HOLD_NS, now_ns);
	if (*waits)
		MHD_suspend_connection(mhd);
	else
		http_connections_admit(connections, connection, now_ns);
	return verdict;
}

/* The request's headers are here, its end is not. */
static enum MHD_Result begin_request(struct http_answerer *answerer, struct MHD_Connection *mhd,
				     struct http_connection *connection, const char *target,
				     const char *method, bool *waits)
{
	const char *host;
	size_t host_len;
	enum http_verdict verdict;
	const struct http_route *route =
		find_route(answerer, http_target_path(target, &host, &host_len));
	const union MHD_ConnectionInfo *header =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
	struct http_response response = { 0 };

	if (header && header->header_size > HTTP_HEADER_MAX)
		return refuse_headers(answerer, connection);
	verdict = admit(answerer, mhd, connection, route, waits);
	if (*waits)
		return MHD_YES;
	if (verdict != HTTP_ADMITTED) {
		refuse(answerer, verdict, &response);
	} else if (route && route->post_max) {
		if (strcmp(method, MHD_HTTP_METHOD_POST) == 0)
			return begin_upload(answerer, mhd, connection, route);
		static_answer(&response, MHD_HTTP_METHOD_NOT_ALLOWED, "405: POST only\n");
	} else {
		if (strcmp(method, MHD_HTTP_METHOD_HEAD) == 0 ||
		    strcmp(method, MHD_HTTP_METHOD_GET) == 0)
			return MHD_YES;
		static_answer(&response, MHD_HTTP_METHOD_NOT_ALLOWED, "405: GET and HEAD only\n");
	}
	return queue_answer(answerer, mhd, connection, &response, route, false);
}

struct host_check {
	const struct http_hosts *hosts;
	struct http_refused *refused;
	bool ours;
};

static void check_one_host(struct host_check *check, const char *host, size_t len)
{
	if (http_host_is_ours(host, len, check->hosts))
		return;
	check->ours = false;
	http_refused_note(check->refused, host, len);
}

static enum MHD_Result check_host(void *cls, enum MHD_ValueKind kind, const char *name,
				  const char *value)
{
	struct host_check *check = cls;

	(void)kind;
	if (value && strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0)
		check_one_host(check, value, strlen(value));
	return MHD_YES;
}

/*
 * No browser reaches a unix socket; a proxy that forwards to it checks its own peers. A host in the
 * target replaces the host in the header (RFC 9112 §3.2.2); both have to be ours.
 */
static bool is_for_us(struct http_answerer *answerer, struct MHD_Connection *mhd,
		      const struct http_connection *connection, const char *host, size_t host_len)
{
	struct host_check check = { &answerer->hosts, &answerer->refused, true };

	if (connection->local)
		return true;
	(void)MHD_get_connection_values(mhd, MHD_HEADER_KIND, check_host, &check);
	if (host)
		check_one_host(&check, host, host_len);
	if (!check.ours)
		http_count(&answerer->stats.misdirected, 1);
	return check.ours;
}

static enum MHD_Result check_origin(void *cls, enum MHD_ValueKind kind, const char *name,
				    const char *value)
{
	bool *foreign = cls;

	(void)kind;
	*foreign = *foreign || http_peer_header_is_foreign(name, value ? value : "");
	return MHD_YES;
}

/* From a program on this machine, as far as can be known. */
static bool is_from_here(struct MHD_Connection *mhd, const struct http_connection *connection)
{
	bool foreign = false;

	(void)MHD_get_connection_values(mhd, MHD_HEADER_KIND, check_origin, &foreign);
	return !foreign && http_peer_is_here(connection->fd);
}

static enum MHD_Result answer_request(struct http_answerer *answerer, struct MHD_Connection *mhd,
				      struct http_connection *connection, const char *target,
				      bool head)
{
	struct http_response response = { .status = HTTP_ASK_AGAIN };
	const struct http_route *route;
	const char *path, *host;
	size_t host_len;

	path = http_target_path(target, &host, &host_len);
	route = find_route(answerer, path);
	if (!is_for_us(answerer, mhd, connection, host, host_len))
		static_answer(&response, MHD_HTTP_MISDIRECTED_REQUEST,
			      "421: the request's Host is not a name of this machine; "
			      "--web.allowed-hosts can allow it\n");
	else if (!route)
		static_answer(&response, MHD_HTTP_NOT_FOUND,
			      "404: there is no such page; try /metrics\n");
	else if (route->local_only && !is_from_here(mhd, connection))
		static_answer(&response, MHD_HTTP_FORBIDDEN,
			      "403: only clients on this machine can read this page, over loopback "
			      "or a Unix socket, without a proxy\n");
	else if (upload_is_unfit(connection->upload, &response))
		; /* it has the answer */
	else if (!ask_or_hold(answerer, route, mhd, connection, path, head, &response))
		return MHD_YES;
	return queue_answer(answerer, mhd, connection, &response, route, head);
}

enum MHD_Result http_answer_request(void *cls, struct MHD_Connection *mhd, const char *url,
				    const char *method, const char *version,
				    const char *upload_data, size_t *upload_data_size,
				    void **request_state)
{
	struct http_answerer *answerer = cls;
	struct http_connection *connection = connection_of(mhd);
	bool waits = false;

	if (!connection)
		return MHD_NO;
	connection->has_chunks = strcmp(version, MHD_HTTP_VERSION_1_1) == 0;
	if (!*request_state) {
		/* The headers have arrived; the next call is at the end, unless it has to wait. */
		enum MHD_Result result =
			begin_request(answerer, mhd, connection, url, method, &waits);

		*request_state = waits ? NULL : connection;
		return result;
	}
	if (*upload_data_size) {
		if (connection->upload)
			http_upload_add(connection->upload, upload_data, *upload_data_size);
		*upload_data_size = 0;
		return MHD_YES;
	}
	return answer_request(answerer, mhd, connection, url,
			      strcmp(method, MHD_HTTP_METHOD_HEAD) == 0);
}

void http_answer_completed(void *cls, struct MHD_Connection *mhd, void **request_state,
			   enum MHD_RequestTerminationCode how)
{
	struct http_answerer *answerer = cls;
	struct http_connection *connection = connection_of(mhd);

	*request_state = NULL;
	if (!connection)
		return;
	connection->ticket = 0;
	end_upload(answerer, connection);
	if (how == MHD_REQUEST_TERMINATED_COMPLETED_OK)
		http_count(&answerer->stats.bytes_sent, connection->answer_len);
	http_connections_end_answer(answerer->connections, connection, clock_ns(CLOCK_MONOTONIC));
}

/*
 * The newest credentials are for each new connection. Without them the library has none: such a
 * connection is of no use, and closed.
 */
static void set_up_handshake(struct http_answerer *answerer, struct MHD_Connection *mhd,
			     struct http_connection *connection, int fd)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	struct web_security *security = http_gate_security(&answerer->gate);

	if (security && !security->tls)
		web_security_unref(TAKE_PTR(security));
	if (!security && answerer->own_credentials)
		return;
	if (!security || !connection ||
	    web_tls_attach(security->tls, info ? info->tls_session : NULL,
			   &answerer->stats.certificates_refused) < 0) {
		web_security_unref(security);
		(void)shutdown(fd, SHUT_RDWR); /* fails only when the peer has gone */
		return;
	}
	connection->security = security;
}

void http_answer_connection(void *cls, struct MHD_Connection *mhd, void **socket_state,
			    enum MHD_ConnectionNotificationCode what)
{
	struct http_answerer *answerer = cls;
	struct http_connection *connection = *socket_state;
	const union MHD_ConnectionInfo *info;
	int fd;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		/* From 1.0 on the next call overwrites what one call returns. */
		info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
		fd = info->connect_fd;
		info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
		connection = http_connections_add(answerer->connections, fd,
						  info ? info->client_addr : NULL,
						  clock_ns(CLOCK_MONOTONIC));
		*socket_state = connection;
		http_count(&answerer->stats.connections_total, 1);
		if (answerer->tls)
			set_up_handshake(answerer, mhd, connection, fd);
		return;
	}
	if (connection) {
		web_security_unref(TAKE_PTR(connection->security));
		http_connections_remove(answerer->connections, connection);
	}
	*socket_state = NULL;
}

size_t http_answer_no_unescape(void *cls, struct MHD_Connection *mhd, char *text)
{
	(void)cls;
	(void)mhd;
	return strlen(text);
}
