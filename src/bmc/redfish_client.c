// SPDX-License-Identifier: Apache-2.0
#include "bmc/redfish_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"
#include "bmc/answer_object.h"
#include "bmc/service.h"
#include "bmc/service_target.h"

#define ROOT     "/redfish/v1/" /* DSP0266 §6.3: with the slash, without a redirect */
#define SESSIONS "/redfish/v1/SessionService/Sessions"

static const struct service_words words = { "BMC", "a Redfish service", "meter.redfish.ca-file" };

struct redfish_client {
	struct service service;
	bool basic;
	struct redfish_path sessions;  /* where they are made */
	char token[SERVICE_TOKEN_MAX]; /* "": there is no session */
	struct redfish_path session;
};

/* One request, and what came back. */
struct exchange {
	enum http_method method;
	struct redfish_path path;
	const char *content; /* NULL: none */
	bool with_user, with_token;
	uint64_t timeout_ms; /* 0: the client's */
	struct service_answer answer;
	struct redfish_path location;
	const char *origin; /* of the service: a Location may begin with it */
	char token[SERVICE_TOKEN_MAX];
};

void redfish_client_free(struct redfish_client *client)
{
	if (!client)
		return;
	service_release(&client->service);
	explicit_bzero(client->token, sizeof(client->token));
	free(client);
}

int redfish_client_new(const struct redfish_client_options *options, struct redfish_client **ret,
		       struct diag *diag)
{
	const struct service_options service = {
		.words = &words,
		.ca_file = options->ca_file,
		.settings = options->settings,
		.timeout_ms = options->timeout_ms,
		.insecure = options->insecure,
		.cancel_fd = options->cancel_fd,
	};
	struct redfish_client *client = calloc(1, sizeof(*client));
	int r;

	if (!client)
		return diag_set(diag, -ENOMEM, "out of memory");
	client->basic = options->basic;
	r = service_init(&client->service, &service, diag);
	if (r < 0) {
		free(client);
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
	redfish_path_take(SESSIONS, &client->sessions);
	return service_set_target(&client->service, url, user, password);
}

uint64_t redfish_client_retry_after_ns(const struct redfish_client *client)
{
	return client->service.retry_after_ns;
}

/* ---- one request ---- */

static bool is_header(const char *name, size_t len, const char *wanted)
{
	return len == strlen(wanted) && strncasecmp(name, wanted, len) == 0;
}

void redfish_client_take_link(const struct redfish_client *client, const char *link,
			      struct redfish_path *ret)
{
	redfish_path_take_from(client->service.url, link, ret);
}

bool redfish_client_ends_search(int r)
{
	return r < 0 && r != -ENOENT && r != -ENODATA && r != -EBADMSG && r != -EPROTO &&
	       r != -EMSGSIZE;
}

/* A path, or an address of the same service with a path; of others nothing is taken. */
static void take_location(struct exchange *exchange, const char *value, size_t len)
{
	char text[SERVICE_URL_MAX + REDFISH_PATH_MAX + 1];

	if (len >= sizeof(text))
		return;
	memcpy(text, value, len);
	text[len] = '\0';
	redfish_path_take_from(exchange->origin, text, &exchange->location);
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
	strbuf_release(&exchange->answer.body);
	explicit_bzero(exchange->token, sizeof(exchange->token));
}

static int perform(struct redfish_client *client, struct exchange *exchange, struct diag *diag)
{
	char path[REDFISH_PATH_MAX + 1];
	const struct service_request request = {
		.method = exchange->method,
		.path = path,
		.accept = "application/json",
		.content = exchange->content,
		.with_user = exchange->with_user,
		.auth_token = exchange->with_token ? client->token : NULL,
		.timeout_ms = exchange->timeout_ms,
		.header = take_header,
		.userdata = exchange,
	};

	exchange->origin = client->service.url;
	exchange->location.text[0] = '\0';
	(void)snprintf(path, sizeof(path), "%s%s", exchange->path.text,
		       exchange->path.has_slash ? "/" : "");
	return service_ask(&client->service, &request, &exchange->answer, diag);
}

/* ---- answers ---- */

static int refuse(const struct redfish_client *client, const struct exchange *exchange, int err,
		  const char *what, struct diag *diag)
{
	CLEANUP(answer_object_release)
	json_t *error = answer_object(exchange->answer.body.data, exchange->answer.body.len);

	return service_refuse(&client->service, err, what, exchange->answer.status,
			      redfish_message(error), diag);
}

static int judge(const struct redfish_client *client, const struct exchange *exchange,
		 struct diag *diag)
{
	int status = exchange->answer.status;
	char what[512];

	if (status >= 200 && status < 300)
		return 0;
	if (service_is_redirect(status))
		return refuse(client, exchange, -EPROTO,
			      "it redirects to another address, which is not followed; use the "
			      "address of the BMC itself",
			      diag);
	if (status == 401) {
		(void)snprintf(what, sizeof(what),
			       "the user name or password was refused; correct it in %.256s",
			       client->service.settings);
		return refuse(client, exchange, -EPERM, what, diag);
	}
	if (status == 403)
		return refuse(client, exchange, -EPERM,
			      "permission denied; the user needs the privilege Login, which the "
			      "role ReadOnly includes",
			      diag);
	if (status == 404 || status == 410)
		return refuse(client, exchange, -ENOENT, "there is no such resource", diag);
	if (status == 503 || status == 429)
		return refuse(client, exchange, -EBUSY, "it is busy; retrying later", diag);
	return refuse(client, exchange, -EPROTO, "it cannot answer", diag);
}

/* As perform(), and a path on the same service that it is sent to instead. */
static int perform_there(struct redfish_client *client, struct exchange *exchange,
			 struct diag *diag)
{
	int r = perform(client, exchange, diag);

	if (r < 0 || !service_is_redirect(exchange->answer.status) || !exchange->location.text[0])
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
	struct exchange exchange = { .method = HTTP_POST, .path = client->sessions };
	struct strbuf content = STRBUF_INIT;
	int r = service_login_content(&client->service, "UserName", "Password", &content);

	exchange.content = content.data;
	r = r < 0 ? diag_set(diag, r, "out of memory") : perform_there(client, &exchange, diag);
	service_wipe(&content);
	if (r == 0 && has_no_sessions(exchange.answer.status)) {
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
	*ret = answer_object(exchange->answer.body.data, exchange->answer.body.len);
	return *ret ? 0 : refuse(client, exchange, -EBADMSG, "the answer is no JSON", diag);
}

int redfish_client_get_root(struct redfish_client *client, json_t **ret, struct diag *diag)
{
	struct exchange exchange = { .method = HTTP_GET };
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
	struct exchange exchange = { .path = *path };
	bool had_session = client->token[0] != '\0';
	int r = ask(client, &exchange, diag);

	if (r == 0 && exchange.answer.status == 401 && had_session && !client->basic) {
		forget_session(client); /* the service has ended it */
		exchange.path = *path;
		r = ask(client, &exchange, diag);
	}
	if (r == 0)
		r = take_object(client, &exchange, ret, diag);
	exchange_release(&exchange);
	return r;
}
