// SPDX-License-Identifier: Apache-2.0
#include "bmc/hmc_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "bmc/answer_object.h"
#include "bmc/hmc_answer.h"
#include "bmc/service.h"
#include "bmc/service_target.h"

#define SESSIONS     "/api/sessions"
#define THIS_SESSION "/api/sessions/this-session"

/* Reasons that come with status 403: "Common request validation reason codes". */
#define REASON_NO_SESSION      4
#define REASON_INVALID_SESSION 5

static const struct service_words words = { "HMC", "an HMC's Web Services API",
					    "meter.hmc.ca-file" };

struct hmc_client {
	struct service service;
	char session[SERVICE_TOKEN_MAX]; /* "": there is none */
};

int hmc_client_new(const struct hmc_client_options *options, struct hmc_client **ret,
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
	struct hmc_client *client = calloc(1, sizeof(*client));
	int r;

	if (!client)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = service_init(&client->service, &service, diag);
	if (r < 0) {
		free(client);
		return r;
	}
	*ret = client;
	return 0;
}

static void forget_session(struct hmc_client *client)
{
	explicit_bzero(client->session, sizeof(client->session));
}

void hmc_client_free(struct hmc_client *client)
{
	if (!client)
		return;
	service_release(&client->service);
	forget_session(client);
	free(client);
}

/* https://HOST:PORT, where an IPv6 address is in brackets. */
static bool has_port(const char *url)
{
	const char *bracket = strrchr(url, ']'), *colon = strrchr(url, ':');

	return colon > (bracket ? bracket : strchr(url, ':'));
}

int hmc_client_set_target(struct hmc_client *client, const char *url, const char *user,
			  const char *password)
{
	char whole[SERVICE_URL_MAX + sizeof(HMC_PORT) + 1];

	forget_session(client);
	(void)snprintf(whole, sizeof(whole), "%s%s", url, has_port(url) ? "" : ":" HMC_PORT);
	return service_set_target(&client->service, whole, user, password);
}

uint64_t hmc_client_retry_after_ns(const struct hmc_client *client)
{
	return client->service.retry_after_ns;
}

/* ---- answers ---- */

/* An answer, and its JSON where it is an error. */
struct exchange {
	struct service_answer answer;
	json_t *error; /* NULL: none, or no JSON */
};

static void exchange_release(struct exchange *exchange)
{
	service_wipe(&exchange->answer.body); /* a logon's body has the session */
	json_decref(exchange->error);
}

static bool is_good(const struct exchange *exchange)
{
	return exchange->answer.status >= 200 && exchange->answer.status < 300;
}

static int ask(struct hmc_client *client, const struct service_request *request,
	       struct exchange *ret, struct diag *diag)
{
	int r = service_ask(&client->service, request, &ret->answer, diag);

	json_decref(ret->error);
	ret->error = NULL;
	if (r == 0 && !is_good(ret))
		ret->error = answer_object(ret->answer.body.data, ret->answer.body.len);
	return r;
}

static int refuse(const struct hmc_client *client, const struct exchange *exchange, int err,
		  const char *what, struct diag *diag)
{
	return service_refuse(&client->service, err, what, exchange->answer.status,
			      hmc_message(exchange->error), diag);
}

static int refuse_user(const struct hmc_client *client, const struct exchange *exchange,
		       struct diag *diag)
{
	char what[512];

	(void)snprintf(what, sizeof(what),
		       "the user name or password was refused; correct it in "
		       "%.256s",
		       client->service.settings);
	return refuse(client, exchange, -EPERM, what, diag);
}

static int judge(const struct hmc_client *client, const struct exchange *exchange,
		 struct diag *diag)
{
	switch (exchange->answer.status) {
	case 200 ... 299:
		return 0;
	case 401:
		return refuse_user(client, exchange, diag);
	case 403:
		return refuse(client, exchange, -EPERM,
			      "permission denied; the user needs access to the CPC and to all of "
			      "its partitions",
			      diag);
	case 404:
		return refuse(client, exchange, -ENOENT, "there is no such resource", diag);
	case 409:
	case 429:
	case 503:
		return refuse(client, exchange, -EBUSY, "it is busy; retrying later", diag);
	default:
		return refuse(client, exchange, -EPROTO, "it cannot answer", diag);
	}
}

/* ---- sessions ---- */

static int log_on(struct hmc_client *client, struct diag *diag)
{
	CLEANUP(exchange_release) struct exchange exchange = { .error = NULL };
	CLEANUP(answer_object_release) json_t *answer = NULL;
	CLEANUP(service_wipe) struct strbuf content = STRBUF_INIT;
	struct service_request request = { .method = HTTP_POST, .path = SESSIONS, .accept = "*/*" };
	const char *session;
	int r = service_login_content(&client->service, "userid", "password", &content);

	if (r < 0)
		return diag_set(diag, r, "out of memory");
	request.content = content.data;
	r = ask(client, &request, &exchange, diag);
	if (r < 0)
		return r;
	if (exchange.answer.status == 403)
		return refuse_user(client, &exchange, diag);
	r = judge(client, &exchange, diag);
	if (r < 0)
		return r;
	answer = answer_object(exchange.answer.body.data, exchange.answer.body.len);
	session = hmc_session(answer);
	if (!session)
		return refuse(client, &exchange, -EPROTO, "it made a session without an id", diag);
	(void)snprintf(client->session, sizeof(client->session), "%s", session);
	return 0;
}

void hmc_client_end(struct hmc_client *client, uint64_t timeout_ms)
{
	CLEANUP(exchange_release) struct exchange exchange = { .error = NULL };
	const struct service_request request = { .method = HTTP_DELETE,
						 .path = THIS_SESSION,
						 .accept = "*/*",
						 .api_session = client->session,
						 .timeout_ms = timeout_ms };
	struct diag unused = { "" };

	if (client->session[0])
		(void)ask(client, &request, &exchange, &unused);
	forget_session(client);
}

/* Returns true if the session has ended, so that a new one would help. */
static bool has_lost_session(const struct exchange *exchange)
{
	int reason = hmc_reason(exchange->error);

	return exchange->answer.status == 401 ||
	       (exchange->answer.status == 403 &&
		(reason == REASON_NO_SESSION || reason == REASON_INVALID_SESSION));
}

/* In a session: 0 with a good answer. */
static int ask_in_session(struct hmc_client *client, struct service_request *request,
			  struct exchange *ret, struct diag *diag)
{
	bool had_session = client->session[0] != '\0';
	int r = had_session ? 0 : log_on(client, diag);

	request->accept = "*/*";
	request->api_session = client->session;
	if (r == 0)
		r = ask(client, request, ret, diag);
	if (r == 0 && had_session && has_lost_session(ret)) {
		forget_session(client);
		r = log_on(client, diag);
		if (r == 0)
			r = ask(client, request, ret, diag);
	}
	return r == 0 ? judge(client, ret, diag) : r;
}

static int ask_for_object(struct hmc_client *client, struct service_request *request, json_t **ret,
			  struct diag *diag)
{
	CLEANUP(exchange_release) struct exchange exchange = { .error = NULL };
	int r = ask_in_session(client, request, &exchange, diag);

	if (r < 0)
		return r;
	*ret = answer_object(exchange.answer.body.data, exchange.answer.body.len);
	return *ret ? 0 : refuse(client, &exchange, -EBADMSG, "the answer is no JSON", diag);
}

int hmc_client_get(struct hmc_client *client, const char *path, json_t **ret, struct diag *diag)
{
	struct service_request request = { .method = HTTP_GET, .path = path };

	return ask_for_object(client, &request, ret, diag);
}

int hmc_client_post(struct hmc_client *client, const char *path, const char *content, json_t **ret,
		    struct diag *diag)
{
	struct service_request request = { .method = HTTP_POST, .path = path, .content = content };

	return ask_for_object(client, &request, ret, diag);
}

int hmc_client_get_text(struct hmc_client *client, const char *path, struct strbuf *ret,
			struct diag *diag)
{
	struct service_request request = { .method = HTTP_GET, .path = path };
	CLEANUP(exchange_release) struct exchange exchange = { .error = NULL };
	int r = ask_in_session(client, &request, &exchange, diag);

	if (r < 0)
		return r;
	strbuf_reset(ret);
	strbuf_add(ret, exchange.answer.body.data, exchange.answer.body.len);
	return strbuf_error(ret) < 0 ? diag_set(diag, -ENOMEM, "out of memory") : 0;
}
