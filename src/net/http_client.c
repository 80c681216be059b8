// SPDX-License-Identifier: Apache-2.0
/*
 * Requests through libcurl's multi interface with one transfer at a time, because only that can be
 * woken through a descriptor while it waits for a peer.
 *
 * libcurl enforces the limits that it knows (connection, whole request); the others are enforced
 * here: decoded bytes (a gzip bomb), bytes of headers, time until the headers are whole, a deadline
 * that moves. TLS is verified unless a client says otherwise; sessions are not resumed, so that
 * each connection looks at the CA file again.
 */
#include "net/http_client.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/hostile.h"
#include "base/macro.h"
#include "net/curl_library.h"
#include "net/http_header_list.h"
#include "net/http_proxy.h"
#include "net/http_tls_name.h"
#include "net/http_url.h"

#define HEADER_BYTES_MAX 65536
#define POLL_MS_MAX      1000
#define RETRY_AFTER_MAX  86400 /* seconds; more counts as this */

struct http_client {
	const struct curl_library *curl;
	CURL *easy;
	CURLM *multi;
	char *unix_socket, *ca_file, *client_cert_file, *client_key_file, *user_agent;
	char *tls_server_name, *proxy_url;
	bool environment_proxy, insecure, is_local, http2;
	int cancel_fd;
	char error[CURL_ERROR_SIZE];
};

/* One request on its way. */
struct transfer {
	struct http_client *client;
	http_status_fn *status;
	http_header_fn *header;
	http_body_fn *body;
	void *userdata;
	uint64_t max_bytes, body_bytes, header_bytes;
	bool answered; /* its status and headers are whole */
	int stopped;   /* why a callback ended it: -errno, or what @body returned */
};

static int copy_text(const char *text, char **ret)
{
	*ret = text ? strdup(text) : NULL;
	return text && !*ret ? -ENOMEM : 0;
}

static int copy_options(struct http_client *client, const struct http_client_options *options)
{
	client->environment_proxy = options->environment_proxy;
	client->cancel_fd = options->cancel_fd;
	client->insecure = options->insecure;
	client->is_local = options->is_local;
	client->http2 = options->http2;
	if (copy_text(options->unix_socket, &client->unix_socket) < 0 ||
	    copy_text(options->ca_file, &client->ca_file) < 0 ||
	    copy_text(options->client_cert_file, &client->client_cert_file) < 0 ||
	    copy_text(options->client_key_file, &client->client_key_file) < 0 ||
	    copy_text(options->user_agent, &client->user_agent) < 0 ||
	    copy_text(options->tls_server_name, &client->tls_server_name) < 0 ||
	    copy_text(options->proxy_url, &client->proxy_url) < 0)
		return -ENOMEM;
	return 0;
}

void http_client_free(struct http_client *client)
{
	if (!client)
		return;
	if (client->easy)
		client->curl->easy_cleanup(client->easy);
	if (client->multi)
		(void)client->curl->multi_cleanup(client->multi);
	free(client->unix_socket);
	free(client->ca_file);
	free(client->client_cert_file);
	free(client->client_key_file);
	free(client->user_agent);
	free(client->tls_server_name);
	free(client->proxy_url);
	free(client);
}

int http_client_load(struct diag *diag)
{
	const struct curl_library *unused;

	return curl_library_get(&unused, diag);
}

int http_client_new(const struct http_client_options *options, struct http_client **ret,
		    struct diag *diag)
{
	const struct curl_library *curl;
	struct http_client *client;
	int r = curl_library_get(&curl, diag);

	if (r < 0)
		return r;
	client = calloc(1, sizeof(*client));
	if (!client)
		return diag_set(diag, -ENOMEM, "out of memory");
	client->curl = curl;
	r = copy_options(client, options);
	client->easy = curl->easy_init();
	client->multi = curl->multi_init();
	if (r < 0 || !client->easy || !client->multi) {
		http_client_free(client);
		return diag_set(diag, -ENOMEM, "out of memory");
	}
	*ret = client;
	return 0;
}

static int hand_over(const struct transfer *transfer, const char *bytes, size_t len)
{
	int r = 0;

	while (r == 0 && len) {
		size_t part = HOSTILE_LEAST(HOSTILE_READ, len);

		r = transfer->body(transfer->userdata, bytes, part);
		bytes += part;
		len -= part;
	}
	return r;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *userdata)
{
	struct transfer *transfer = userdata;
	size_t len = size * count;

	transfer->body_bytes += len;
	if (transfer->max_bytes && transfer->body_bytes > transfer->max_bytes)
		transfer->stopped = -EMSGSIZE;
	else if (transfer->body)
		transfer->stopped = hand_over(transfer, bytes, len);
	/* For libcurl any result other than len is an error; len is never 0 here. */
	return transfer->stopped ? 0 : len;
}

/*
 * An empty line ended the headers of an interim answer (1xx), of the answer, or its trailers.
 */
static void end_headers(struct transfer *transfer)
{
	struct http_client *client = transfer->client;
	long status = 0;

	(void)client->curl->easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status < 200 || transfer->answered)
		return;
	transfer->answered = true;
	if (transfer->status)
		transfer->status(transfer->userdata, (int)status);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* A line without a colon is the status. */
static void pass_header(const struct transfer *transfer, const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len), *value;

	if (!transfer->header || !colon)
		return;
	value = colon + 1;
	len -= (size_t)(value - line);
	for (; len && is_blank(*value); len--)
		value++;
	while (len && is_blank(value[len - 1]))
		len--;
	transfer->header(transfer->userdata, line, (size_t)(colon - line), value, len);
}

static size_t take_header(char *bytes, size_t size, size_t count, void *userdata)
{
	struct transfer *transfer = userdata;
	size_t len = size * count;

	transfer->header_bytes += len;
	if (transfer->header_bytes > HEADER_BYTES_MAX)
		transfer->stopped = -EMSGSIZE;
	else if (len <= 2 && (*bytes == '\r' || *bytes == '\n'))
		end_headers(transfer);
	else
		pass_header(transfer, bytes, len);
	return transfer->stopped ? 0 : len;
}

/* Options are set one by one; the first that is refused is remembered. */
struct setting {
	struct http_client *client;
	CURLcode code;
};

static void note_setting(struct setting *setting, CURLcode code)
{
	if (setting->code == CURLE_OK)
		setting->code = code;
}

static void set_number(struct setting *setting, CURLoption option, long value)
{
	const struct http_client *client = setting->client;

	note_setting(setting, client->curl->easy_setopt(client->easy, option, value));
}

static void set_pointer(struct setting *setting, CURLoption option, const void *value)
{
	const struct http_client *client = setting->client;

	note_setting(setting, client->curl->easy_setopt(client->easy, option, value));
}

static void set_text_if_any(struct setting *setting, CURLoption option, const char *value)
{
	if (value)
		set_pointer(setting, option, value);
}

static void set_peer(struct setting *setting)
{
	static const struct {
		CURLoption option;
		long value;
	} numbers[] = {
		{ CURLOPT_NOSIGNAL, 1 },
		{ CURLOPT_QUICK_EXIT, 1 }, /* a stop does not wait for the name server */
		{ CURLOPT_FOLLOWLOCATION, 0 },
		{ CURLOPT_NETRC, CURL_NETRC_IGNORED },
		{ CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1 },
		{ CURLOPT_SSL_VERIFYPEER, 1 },
		{ CURLOPT_SSL_VERIFYHOST, 2 },
		{ CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2 },
		{ CURLOPT_SSL_SESSIONID_CACHE, 0 },
		{ CURLOPT_SUPPRESS_CONNECT_HEADERS, 1 }, /* a proxy's answer is not the peer's */
		{ CURLOPT_TCP_KEEPALIVE, 1 },
	};
	const struct http_client *client = setting->client;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		set_number(setting, numbers[i].option, numbers[i].value);
	if (client->http2) {
		set_number(setting, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
		/* The second request of such a connection fails in libcurl 7.88. */
		set_number(setting, CURLOPT_FORBID_REUSE, 1);
	}
	if (client->insecure) {
		set_number(setting, CURLOPT_SSL_VERIFYPEER, 0);
		set_number(setting, CURLOPT_SSL_VERIFYHOST, 0);
	}
	set_pointer(setting, CURLOPT_PROTOCOLS_STR, "http,https");
	if (client->ca_file) {
		set_pointer(setting, CURLOPT_CAINFO, client->ca_file);
		set_pointer(setting, CURLOPT_CAPATH, NULL);
	}
	set_text_if_any(setting, CURLOPT_SSLCERT, client->client_cert_file);
	set_text_if_any(setting, CURLOPT_SSLKEY, client->client_key_file);
	set_text_if_any(setting, CURLOPT_UNIX_SOCKET_PATH, client->unix_socket);
}

/* The data of a request that libcurl needs in addition to its options; owned. */
struct outgoing {
	const char *url, *proxy; /* not owned; "": no proxy */
	struct curl_slist *headers, *connect_to;
	struct http_tls_name route;
};

/* A body makes it a POST. */
static void set_method(struct setting *setting, const struct http_request_options *request)
{
	if (request->content || request->method == HTTP_POST)
		set_pointer(setting, CURLOPT_POSTFIELDS, request->content ? request->content : "");
	if (request->content_len)
		set_number(setting, CURLOPT_POSTFIELDSIZE, (long)request->content_len);
	if (request->method == HTTP_DELETE)
		set_pointer(setting, CURLOPT_CUSTOMREQUEST, "DELETE");
	if (request->user) {
		set_number(setting, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		set_pointer(setting, CURLOPT_USERNAME, request->user);
		set_text_if_any(setting, CURLOPT_PASSWORD, request->password);
	}
}

static void set_request(struct setting *setting, const struct http_request_options *request,
			const struct outgoing *outgoing, const struct transfer *transfer)
{
	struct http_client *client = setting->client;

	set_pointer(setting, CURLOPT_URL, outgoing->url);
	set_pointer(setting, CURLOPT_PROXY, outgoing->proxy);
	set_pointer(setting, CURLOPT_NOPROXY, ""); /* else libcurl asks the environment, too */
	set_pointer(setting, CURLOPT_HTTPHEADER, outgoing->headers);
	set_pointer(setting, CURLOPT_CONNECT_TO, outgoing->connect_to);
	set_pointer(setting, CURLOPT_ACCEPT_ENCODING, "gzip");
	set_text_if_any(setting, CURLOPT_USERAGENT, client->user_agent);
	set_method(setting, request);
	set_number(setting, CURLOPT_CONNECTTIMEOUT_MS, (long)request->connect_timeout_ms);
	set_number(setting, CURLOPT_TIMEOUT_MS, (long)request->timeout_ms);
	set_pointer(setting, CURLOPT_WRITEDATA, transfer);
	set_pointer(setting, CURLOPT_HEADERDATA, transfer);
	set_pointer(setting, CURLOPT_ERRORBUFFER, client->error);
	note_setting(setting,
		     client->curl->easy_setopt(client->easy, CURLOPT_WRITEFUNCTION, take_body));
	note_setting(setting,
		     client->curl->easy_setopt(client->easy, CURLOPT_HEADERFUNCTION, take_header));
}

/* 0 none; else how many milliseconds are left, at least 1; -ETIMEDOUT. */
static int64_t time_left(uint64_t begin_ns, const struct transfer *transfer,
			 const struct http_request_options *request)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), end_ns = UINT64_MAX;

	if (request->answer_timeout_ms && !transfer->answered)
		end_ns = begin_ns + request->answer_timeout_ms * NSEC_PER_MSEC;
	if (request->deadline_ns && *request->deadline_ns && *request->deadline_ns < end_ns)
		end_ns = *request->deadline_ns;
	if (end_ns == UINT64_MAX)
		return 0;
	return now_ns >= end_ns ? -ETIMEDOUT : (int64_t)((end_ns - now_ns) / NSEC_PER_MSEC) + 1;
}

static int wait_for_more(struct http_client *client, int64_t left_ms)
{
	struct curl_waitfd cancel = { .fd = client->cancel_fd, .events = CURL_WAIT_POLLIN };
	int wait_ms = left_ms && left_ms < POLL_MS_MAX ? (int)left_ms : POLL_MS_MAX;

	if (client->curl->multi_poll(client->multi, &cancel, client->cancel_fd >= 0, wait_ms,
				     NULL) != CURLM_OK)
		return -EIO;
	return cancel.revents ? -ECANCELED : 0;
}

/*
 * Drives the transfer to its end. 0 with libcurl's result, or -errno when this side ended it.
 */
static int drive(struct http_client *client, const struct transfer *transfer,
		 const struct http_request_options *request, CURLcode *ret_code)
{
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);

	for (;;) {
		int running = 0, left, r;
		const CURLMsg *message;
		int64_t left_ms;

		if (client->curl->multi_perform(client->multi, &running) != CURLM_OK)
			return -EIO;
		message = client->curl->multi_info_read(client->multi, &left);
		if (message && message->msg == CURLMSG_DONE) {
			*ret_code = message->data.result;
			return 0;
		}
		left_ms = time_left(begin_ns, transfer, request);
		if (left_ms < 0)
			return (int)left_ms;
		r = wait_for_more(client, left_ms);
		if (r < 0)
			return r;
	}
}

static void read_reply(const struct http_client *client, const struct transfer *transfer,
		       struct http_reply *reply)
{
	curl_off_t retry_after = 0;
	long status = 0, sent = 0, port = 0;

	(void)client->curl->easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &status);
	(void)client->curl->easy_getinfo(client->easy, CURLINFO_RETRY_AFTER, &retry_after);
	(void)client->curl->easy_getinfo(client->easy, CURLINFO_REQUEST_SIZE, &sent);
	/*
	 * Set once there is a connection; in 7.88 CONNECT_TIME is 0 until TLS is established, too.
	 */
	(void)client->curl->easy_getinfo(client->easy, CURLINFO_LOCAL_PORT, &port);
	if (retry_after < 0)
		retry_after = 0;
	if (retry_after > RETRY_AFTER_MAX)
		retry_after = RETRY_AFTER_MAX;
	*reply = (struct http_reply){
		.status = (int)status,
		.retry_after_ms = (uint64_t)retry_after * 1000,
		.body_bytes = transfer->body_bytes,
		.reached = port != 0 || sent > 0,
		.connected = status != 0 || sent > 0,
	};
}

static int perform(struct http_client *client, const struct http_request_options *request,
		   struct transfer *transfer, struct http_reply *reply, struct diag *diag)
{
	const char *url = request->url, *why;
	CURLcode code = CURLE_OK;
	int r;

	if (client->curl->multi_add_handle(client->multi, client->easy) != CURLM_OK)
		return diag_set(diag, -ENOMEM, "%.*s: out of memory", http_url_site_len(url), url);
	r = drive(client, transfer, request, &code);
	read_reply(client, transfer, reply);
	(void)client->curl->multi_remove_handle(client->multi, client->easy);
	if (transfer->stopped) {
		r = transfer->stopped;
		why = r == -EMSGSIZE ? "the answer is too large" : "the answer was refused";
	} else if (r == -ETIMEDOUT) {
		why = transfer->answered ? "the response was too slow" : "no answer came in time";
	} else if (r < 0) {
		why = strerror(-r);
	} else {
		r = curl_library_errno(code);
		if (r == -EINVAL && reply->connected)
			r = -EPROTO; /* HTTP/0.9 came back: that is "unsupported" too */
		why = client->error[0] ? client->error : client->curl->easy_strerror(code);
	}
	return r == 0 ? 0 : diag_set(diag, r, "%.*s: %s", http_url_site_len(url), url, why);
}

static bool has_secret(const struct http_client *client, const struct http_request_options *request)
{
	for (size_t i = 0; i < request->header_count; i++) {
		if (http_header_is_secret(request->headers[i].name))
			return true;
	}
	return request->bearer_token || request->auth_token || request->api_session ||
	       request->user ||
	       (request->content && !request->content_is_public && !client->unix_socket);
}

static int make_headers(const struct http_client *client,
			const struct http_request_options *request, struct curl_slist **ret,
			struct diag *diag)
{
	const char *url = request->url;
	const char *type = request->content_type ? request->content_type : "application/json";
	const struct {
		const char *name, *value;
	} headers[] = {
		{ "Accept: ", request->accept },
		{ "If-None-Match: ", request->if_none_match },
		{ "Content-Type: ", request->content ? type : NULL },
		{ "Content-Encoding: ", request->content ? request->content_encoding : NULL },
		{ "TE: ", request->wants_trailers ? "trailers" : NULL },
		{ "Authorization: Bearer ", request->bearer_token },
		{ "X-Auth-Token: ", request->auth_token },
		{ "X-API-Session: ", request->api_session },
	};
	int r = 0;

	if (!http_header_is_token(request->bearer_token) ||
	    !http_header_is_token(request->auth_token) ||
	    !http_header_is_token(request->api_session))
		return diag_set(diag, -EINVAL,
				"%.*s: the token is too long or has invalid characters",
				http_url_site_len(url), url);
	if (has_secret(client, request) && !client->is_local && !http_url_is_https(url))
		return diag_set(diag, -EINVAL, "%.*s: a %s is only sent over https",
				http_url_site_len(url), url, request->user ? "password" : "token");
	for (size_t i = 0; i < ARRAY_SIZE(headers) && r == 0; i++) {
		if (headers[i].value)
			r = http_header_list_add(client->curl, headers[i].name, headers[i].value,
						 ret);
	}
	/* Else libcurl asks whether a large body is welcome, and waits a second for the answer. */
	if (r == 0 && request->content)
		r = http_header_list_add_line(client->curl, "Expect:", ret);
	return r < 0 ? diag_set(diag, r, "out of memory")
		     : http_header_list_add_all(client->curl, request->headers,
						request->header_count, ret, diag);
}

/* The route to a server with another name in its certificate than in the URL. */
static int find_route(const struct http_client *client, struct outgoing *outgoing,
		      struct diag *diag)
{
	const char *url = outgoing->url;
	int r;

	if (!client->tls_server_name || !http_url_is_https(url))
		return 0;
	r = http_tls_name_apply(url, client->tls_server_name, &outgoing->route);
	if (r == 0) {
		outgoing->url = outgoing->route.url.data;
		r = http_header_list_add_line(client->curl, outgoing->route.host.data,
					      &outgoing->headers);
	}
	if (r == 0)
		r = http_header_list_add_line(client->curl, outgoing->route.connect_to.data,
					      &outgoing->connect_to);
	return r == 0 ? 0
		      : diag_set(diag, r, "%.*s: cannot be verified as %s", http_url_site_len(url),
				 url, client->tls_server_name);
}

/* A configured proxy is used for every host, whatever the environment says. */
static int find_proxy(const struct http_client *client, struct outgoing *outgoing,
		      struct diag *diag)
{
	const char *proxy = client->proxy_url, *url = outgoing->url;

	if (client->unix_socket)
		proxy = NULL;
	else if (!proxy && client->environment_proxy)
		proxy = http_proxy_find(url);
	if (proxy && http_url_is_https(proxy))
		return diag_set(diag, -EINVAL,
				"%.*s: its proxy is https://…, which is not supported; use "
				"http://… or socks5h://…",
				http_url_site_len(url), url);
	outgoing->proxy = proxy ? proxy : "";
	return 0;
}

/* The proxy first: it is chosen by the URL that was given. */
static int find_way(const struct http_client *client, struct outgoing *outgoing, struct diag *diag)
{
	int r = find_proxy(client, outgoing, diag);

	return r == 0 ? find_route(client, outgoing, diag) : r;
}

static void outgoing_release(const struct curl_library *curl, struct outgoing *outgoing)
{
	http_header_list_free(curl, outgoing->headers);
	curl->slist_free_all(outgoing->connect_to);
	http_tls_name_release(&outgoing->route);
}

int http_client_check(const struct http_client *client, const char *url, struct diag *diag)
{
	struct outgoing outgoing = { .url = url };
	int r = find_way(client, &outgoing, diag);

	outgoing_release(client->curl, &outgoing);
	return r;
}

int http_client_get(struct http_client *client, const struct http_request_options *request,
		    http_body_fn *body, void *userdata, struct http_reply *ret, struct diag *diag)
{
	struct transfer transfer = {
		.client = client,
		.status = request->status,
		.header = request->header,
		.body = body,
		.userdata = userdata,
		.max_bytes = request->max_bytes,
	};
	struct setting setting = { .client = client };
	struct outgoing outgoing = { .url = request->url };
	int r;

	*ret = (struct http_reply){ 0 };
	client->error[0] = '\0';
	r = make_headers(client, request, &outgoing.headers, diag);
	if (r == 0)
		r = find_way(client, &outgoing, diag);
	if (r == 0) {
		client->curl->easy_reset(client->easy);
		set_peer(&setting);
		set_request(&setting, request, &outgoing, &transfer);
		if (setting.code != CURLE_OK)
			r = diag_set(diag, curl_library_errno(setting.code), "%.*s: %s",
				     http_url_site_len(request->url), request->url,
				     client->curl->easy_strerror(setting.code));
		else
			r = perform(client, request, &transfer, ret, diag);
		/* The handle must not refer to this request's data any more. */
		(void)client->curl->easy_setopt(client->easy, CURLOPT_HTTPHEADER, NULL);
		(void)client->curl->easy_setopt(client->easy, CURLOPT_CONNECT_TO, NULL);
		(void)client->curl->easy_setopt(client->easy, CURLOPT_ERRORBUFFER, NULL);
		(void)client->curl->easy_setopt(client->easy, CURLOPT_USERNAME, NULL);
		(void)client->curl->easy_setopt(client->easy, CURLOPT_PASSWORD, NULL);
	}
	outgoing_release(client->curl, &outgoing);
	return r;
}
