// SPDX-License-Identifier: Apache-2.0
#include "bmc/redfish_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "net/http_client.h"

#define ROOT          "/redfish/v1/" /* DSP0266 §6.3: with the slash, without a redirect */
#define SESSIONS      "/redfish/v1/SessionService/Sessions"
#define BODY_MAX      (1 << 20)
#define TOKEN_MAX     1024
#define RETRY_MAX_NS  (3600 * NSEC_PER_SEC)
#define MESSAGE_CHARS 120 /* of what a service says itself */

struct redfish_client {
	struct http_client *http;
	char *settings;
	uint64_t timeout_ms;
	bool insecure, basic;
	char *url, *user, *password;
	struct redfish_path sessions; /* where they are made */
	char token[TOKEN_MAX];        /* "": there is no session */
	struct redfish_path session;
	uint64_t retry_after_ns;
};

/* One request, and what came back. */
struct exchange {
	enum http_method method;
	struct redfish_path path;
	const char *content; /* NULL: none */
	bool with_user, with_token;
	uint64_t timeout_ms;
	int status;
	struct strbuf body;
	struct redfish_path location;
	const char *origin; /* of the service: a Location may begin with it */
	char token[TOKEN_MAX];
};

static void secret_free(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

void redfish_client_free(struct redfish_client *client)
{
	if (!client)
		return;
	http_client_free(client->http);
	explicit_bzero(client->token, sizeof(client->token));
	secret_free(client->password);
	free(client->user);
	free(client->url);
	free(client->settings);
	free(client);
}

int redfish_client_load(struct diag *diag)
{
	return http_client_load(diag);
}

int redfish_client_new(const struct redfish_client_options *options, struct redfish_client **ret,
		       struct diag *diag)
{
	const struct http_client_options http = {
		.ca_file = options->ca_file[0] ? options->ca_file : NULL,
		.user_agent = "kepler",
		.cancel_fd = options->cancel_fd,
		.insecure = options->insecure,
	};
	struct redfish_client *client = calloc(1, sizeof(*client));
	int r;

	if (!client)
		return diag_set(diag, -ENOMEM, "out of memory");
	client->timeout_ms = options->timeout_ms;
	client->insecure = options->insecure;
	client->basic = options->basic;
	client->settings = strdup(options->settings);
	r = client->settings ? http_client_new(&http, &client->http, diag)
			     : diag_set(diag, -ENOMEM, "out of memory");
	if (r < 0) {
		redfish_client_free(client);
		return r;
	}
	*ret = client;
	return 0;
}

static void forget_session(struct redfish_client *client)
{
	explicit_bzero(client->token, sizeof(client->token));
	client->session.text[0] = '\0';
}

int redfish_client_set_target(struct redfish_client *client, const char *url, const char *user,
			      const char *password)
{
	forget_session(client);
	free(client->url);
	free(client->user);
	secret_free(client->password);
	client->url = strdup(url);
	client->user = strdup(user);
	client->password = strdup(password);
	redfish_path_take(SESSIONS, &client->sessions);
	return client->url && client->user && client->password ? 0 : -ENOMEM;
}

uint64_t redfish_client_retry_after_ns(const struct redfish_client *client)
{
	return client->retry_after_ns;
}

/* ---- one request ---- */

static int take_body(void *userdata, const char *bytes, size_t len)
{
	struct exchange *exchange = userdata;

	strbuf_add(&exchange->body, bytes, len);
	return strbuf_error(&exchange->body);
}

static bool is_header(const char *name, size_t len, const char *wanted)
{
	return len == strlen(wanted) && strncasecmp(name, wanted, len) == 0;
}

/* A path, or an address of the same service with a path; of others nothing is taken. */
static void take_location(struct exchange *exchange, const char *value, size_t len)
{
	size_t origin_len = strlen(exchange->origin);
	char text[REDFISH_PATH_MAX + 1];

	if (len > origin_len && strncasecmp(value, exchange->origin, origin_len) == 0) {
		value += origin_len;
		len -= origin_len;
	}
	if (len >= sizeof(text))
		return;
	memcpy(text, value, len);
	text[len] = '\0';
	redfish_path_take(text, &exchange->location);
}

static void take_header(void *userdata, const char *name, size_t name_len, const char *value,
			size_t value_len)
{
	struct exchange *exchange = userdata;

	if (is_header(name, name_len, "Location"))
		take_location(exchange, value, value_len);
	if (is_header(name, name_len, "X-Auth-Token") && value_len < sizeof(exchange->token))
		(void)snprintf(exchange->token, sizeof(exchange->token), "%.*s", (int)value_len,
			       value);
}

static void exchange_release(struct exchange *exchange)
{
	strbuf_release(&exchange->body);
	explicit_bzero(exchange->token, sizeof(exchange->token));
}

/* What is to be done about a failure below HTTP; "" where that is plain. */
static const char *advice(int r)
{
	switch (r) {
	case -EACCES:
		return ": its certificate has expired, is of another name, or is of an authority "
		       "that is not known here; renew it, or name its authority with "
		       "meter.redfish.ca-file";
	case -EHOSTUNREACH:
	case -ECONNREFUSED:
		return "; is the address of the BMC right?";
	case -ETIMEDOUT:
		return "; is the address of the BMC right, and the BMC not overloaded?";
	case -EMSGSIZE:
	case -EPROTO:
		return "; is a Redfish service there?";
	default:
		return "";
	}
}

static int perform(struct redfish_client *client, struct exchange *exchange, struct diag *diag)
{
	char url[1024];
	const struct http_request_options request = {
		.url = url,
		.accept = "application/json",
		.method = exchange->method,
		.content = exchange->content,
		.user = exchange->with_user ? client->user : NULL,
		.password = exchange->with_user ? client->password : NULL,
		.auth_token = exchange->with_token ? client->token : NULL,
		.header = take_header,
		.connect_timeout_ms = exchange->timeout_ms,
		.answer_timeout_ms = exchange->timeout_ms,
		.timeout_ms = exchange->timeout_ms,
		.max_bytes = BODY_MAX,
	};
	struct http_reply reply;
	struct diag why = { "" };
	int r;

	exchange->origin = client->url;
	strbuf_reset(&exchange->body);
	exchange->location.text[0] = '\0';
	(void)snprintf(url, sizeof(url), "%s%s%s", client->url, exchange->path.text,
		       exchange->path.has_slash ? "/" : "");
	r = http_client_get(client->http, &request, take_body, exchange, &reply, &why);
	exchange->status = reply.status;
	client->retry_after_ns = reply.retry_after_ms * NSEC_PER_MSEC;
	if (client->retry_after_ns > RETRY_MAX_NS)
		client->retry_after_ns = RETRY_MAX_NS;
	return r < 0 ? diag_set(diag, r, "BMC %.*s%s", DIAG_TEXT_MAX / 2, why.text, advice(r)) : 0;
}

/* ---- answers ---- */

static bool is_redirect(int status)
{
	return status == 301 || status == 302 || status == 307 || status == 308;
}

/* What a service says of an error, as text of one line. */
static void add_message(const struct exchange *exchange, struct strbuf *out)
{
	json_t *error = redfish_parse(exchange->body.data, exchange->body.len);
	const char *message = redfish_message(error);

	if (*message) {
		strbuf_add_str(out, ": ");
		strbuf_add_json(out, message);
	}
	json_decref(error);
}

static int refuse(const struct redfish_client *client, const struct exchange *exchange, int err,
		  const char *what, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT;

	add_message(exchange, &message);
	return diag_set(diag, err, "BMC %s: %s (status %d%.*s)", client->url, what,
			exchange->status, MESSAGE_CHARS, message.data ? message.data : "");
}

static int judge(const struct redfish_client *client, const struct exchange *exchange,
		 struct diag *diag)
{
	int status = exchange->status;
	char what[512];

	if (status >= 200 && status < 300)
		return 0;
	if (is_redirect(status))
		return refuse(client, exchange, -EPROTO,
			      "it redirects to another address, which is not followed; give the "
			      "address of the BMC itself",
			      diag);
	if (status == 401) {
		(void)snprintf(what, sizeof(what),
			       "user or password are refused; correct them in %.256s",
			       client->settings);
		return refuse(client, exchange, -EPERM, what, diag);
	}
	if (status == 403)
		return refuse(client, exchange, -EPERM,
			      "the user may not do this; it needs the privilege Login, as the role "
			      "ReadOnly has it",
			      diag);
	if (status == 404 || status == 410)
		return refuse(client, exchange, -ENOENT, "there is no such resource", diag);
	if (status == 503 || status == 429)
		return refuse(client, exchange, -EBUSY, "it is busy; it is asked again later",
			      diag);
	return refuse(client, exchange, -EPROTO, "it cannot answer", diag);
}

/* As perform(), and a path on the same service that it is sent to instead. */
static int perform_there(struct redfish_client *client, struct exchange *exchange,
			 struct diag *diag)
{
	int r = perform(client, exchange, diag);

	if (r < 0 || !is_redirect(exchange->status) || !exchange->location.text[0])
		return r;
	exchange->path = exchange->location;
	return perform(client, exchange, diag);
}

/* ---- sessions ---- */

static bool has_no_sessions(int status)
{
	return status == 404 || status == 405 || status == 501;
}

static int log_in(struct redfish_client *client, struct diag *diag)
{
	struct exchange exchange = { .method = HTTP_POST,
				     .path = client->sessions,
				     .timeout_ms = client->timeout_ms };
	struct strbuf content = STRBUF_INIT;
	int r;

	(void)strbuf_reserve(&content, 8192); /* so that no copy of the password is left behind */
	strbuf_add_str(&content, "{\"UserName\":\"");
	strbuf_add_json(&content, client->user);
	strbuf_add_str(&content, "\",\"Password\":\"");
	strbuf_add_json(&content, client->password);
	strbuf_add_str(&content, "\"}");
	exchange.content = content.data;
	r = strbuf_error(&content);
	r = r < 0 ? diag_set(diag, r, "out of memory") : perform_there(client, &exchange, diag);
	if (content.data)
		explicit_bzero(content.data, content.len);
	strbuf_release(&content);
	if (r == 0 && has_no_sessions(exchange.status)) {
		client->basic = true;
	} else if (r == 0) {
		r = judge(client, &exchange, diag);
		if (r == 0 && !exchange.token[0])
			r = refuse(client, &exchange, -EPROTO, "it made a session without a token",
				   diag);
	}
	if (r == 0 && !client->basic) {
		memcpy(client->token, exchange.token, sizeof(client->token));
		client->session = exchange.location;
	}
	exchange_release(&exchange);
	return r;
}

void redfish_client_end(struct redfish_client *client, uint64_t timeout_ms)
{
	struct exchange exchange = { .method = HTTP_DELETE,
				     .path = client->session,
				     .with_token = true,
				     .timeout_ms = timeout_ms };
	struct diag unused = { "" };

	if (client->token[0] && client->session.text[0])
		(void)perform_there(client, &exchange, &unused);
	exchange_release(&exchange);
	forget_session(client);
}

/* With a session if there is one, or can be. */
static int ask(struct redfish_client *client, struct exchange *exchange, struct diag *diag)
{
	int r = client->token[0] || client->basic ? 0 : log_in(client, diag);

	if (r < 0)
		return r;
	exchange->with_token = !client->basic;
	exchange->with_user = client->basic;
	return perform_there(client, exchange, diag);
}

static int take_object(const struct redfish_client *client, const struct exchange *exchange,
		       json_t **ret, struct diag *diag)
{
	int r = judge(client, exchange, diag);

	if (r < 0)
		return r;
	*ret = redfish_parse(exchange->body.data, exchange->body.len);
	return *ret ? 0 : refuse(client, exchange, -EBADMSG, "the answer is no JSON", diag);
}

int redfish_client_get_root(struct redfish_client *client, json_t **ret, struct diag *diag)
{
	struct exchange exchange = { .timeout_ms = client->timeout_ms };
	struct redfish_path sessions;
	int r;

	redfish_path_take(ROOT, &exchange.path);
	r = perform_there(client, &exchange, diag);
	if (r == 0)
		r = take_object(client, &exchange, ret, diag);
	if (r == 0) {
		sessions = redfish_link(json_object_get(*ret, "Links"), "Sessions");
		if (sessions.text[0])
			client->sessions = sessions;
	}
	exchange_release(&exchange);
	return r;
}

int redfish_client_get(struct redfish_client *client, const struct redfish_path *path, json_t **ret,
		       struct diag *diag)
{
	struct exchange exchange = { .path = *path, .timeout_ms = client->timeout_ms };
	bool had_session = client->token[0] != '\0';
	int r = ask(client, &exchange, diag);

	if (r == 0 && exchange.status == 401 && had_session && !client->basic) {
		forget_session(client); /* the service has ended it */
		exchange.path = *path;
		r = ask(client, &exchange, diag);
	}
	if (r == 0)
		r = take_object(client, &exchange, ret, diag);
	exchange_release(&exchange);
	return r;
}
