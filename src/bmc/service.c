// SPDX-License-Identifier: Apache-2.0
#include "bmc/service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"

#define BODY_MAX      (1 << 20)
#define RETRY_MAX_NS  (3600 * NSEC_PER_SEC)
#define CONTENT_SIZE  8192 /* reserved at once, so that no copy of a password is left behind */
#define MESSAGE_CHARS 120  /* of what a service says itself */

/* ---- a service ---- */

int service_load(struct diag *diag)
{
	return http_client_load(diag);
}

int service_init(struct service *service, const struct service_options *options, struct diag *diag)
{
	const struct http_client_options http = {
		.ca_file = options->ca_file[0] ? options->ca_file : NULL,
		.user_agent = "kepler",
		.cancel_fd = options->cancel_fd,
		.insecure = options->insecure,
	};
	int r;

	*service = (struct service){ .words = options->words, .timeout_ms = options->timeout_ms };
	service->settings = strdup(options->settings);
	r = service->settings ? http_client_new(&http, &service->http, diag)
			      : diag_set(diag, -ENOMEM, "out of memory");
	if (r < 0)
		service_release(service);
	return r;
}

static void secret_free(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

static void forget_target(struct service *service)
{
	free(TAKE_PTR(service->url));
	free(TAKE_PTR(service->user));
	secret_free(TAKE_PTR(service->password));
}

void service_release(struct service *service)
{
	http_client_free(TAKE_PTR(service->http));
	forget_target(service);
	free(TAKE_PTR(service->settings));
}

int service_set_target(struct service *service, const char *url, const char *user,
		       const char *password)
{
	forget_target(service);
	service->url = strdup(url);
	service->user = strdup(user);
	service->password = strdup(password);
	return service->url && service->user && service->password ? 0 : -ENOMEM;
}

/* ---- one request ---- */

/* The receiver of http_client_get(): the body, and headers to the caller's function. */
struct transfer {
	const struct service_request *request;
	struct strbuf *body;
};

static int take_body(void *userdata, const char *bytes, size_t len)
{
	struct transfer *transfer = userdata;

	strbuf_add(transfer->body, bytes, len);
	return strbuf_error(transfer->body);
}

static void take_header(void *userdata, const char *name, size_t name_len, const char *value,
			size_t value_len)
{
	const struct service_request *request = ((struct transfer *)userdata)->request;

	if (request->header)
		request->header(request->userdata, name, name_len, value, value_len);
}

/* A failure below HTTP, with advice if that is not obvious. */
static int fail(const struct service *service, int r, const struct diag *why, struct diag *diag)
{
	const struct service_words *words = service->words;
	const int chars = DIAG_TEXT_MAX / 2;

	switch (r) {
	case -EACCES:
		return diag_set(diag, r,
				"%s %.*s: its certificate has expired, is for another name, or was "
				"issued by an unknown CA; renew it, or give its CA certificate "
				"with %s",
				words->name, chars, why->text, words->ca_option);
	case -EHOSTUNREACH:
	case -ECONNREFUSED:
		return diag_set(diag, r, "%s %.*s; check the address of the %s", words->name, chars,
				why->text, words->name);
	case -ETIMEDOUT:
		return diag_set(diag, r,
				"%s %.*s; check the address of the %s, and whether the %s is "
				"overloaded",
				words->name, chars, why->text, words->name, words->name);
	case -EMSGSIZE:
	case -EPROTO:
		return diag_set(diag, r, "%s %.*s; is %s there?", words->name, chars, why->text,
				words->what);
	default:
		return diag_set(diag, r, "%s %.*s", words->name, chars, why->text);
	}
}

int service_ask(struct service *service, const struct service_request *request,
		struct service_answer *ret, struct diag *diag)
{
	uint64_t timeout_ms = request->timeout_ms ? request->timeout_ms : service->timeout_ms;
	char url[1024];
	const struct http_request_options options = {
		.url = url,
		.accept = request->accept,
		.method = request->method,
		.content = request->content,
		.user = request->with_user ? service->user : NULL,
		.password = request->with_user ? service->password : NULL,
		.auth_token = request->auth_token,
		.api_session = request->api_session,
		.header = take_header,
		.connect_timeout_ms = timeout_ms,
		.answer_timeout_ms = timeout_ms,
		.timeout_ms = timeout_ms,
		.max_bytes = BODY_MAX,
	};
	struct transfer transfer = { request, &ret->body };
	struct http_reply reply;
	struct diag why = { "" };
	int r;

	strbuf_reset(&ret->body);
	(void)snprintf(url, sizeof(url), "%s%s", service->url, request->path);
	r = http_client_get(service->http, &options, take_body, &transfer, &reply, &why);
	ret->status = reply.status;
	service->retry_after_ns = reply.retry_after_ms * NSEC_PER_MSEC;
	if (service->retry_after_ns > RETRY_MAX_NS)
		service->retry_after_ns = RETRY_MAX_NS;
	return r < 0 ? fail(service, r, &why, diag) : 0;
}

int service_login_content(const struct service *service, const char *user_key,
			  const char *password_key, struct strbuf *ret)
{
	(void)strbuf_reserve(ret, CONTENT_SIZE);
	strbuf_addf(ret, "{\"%s\":\"", user_key);
	strbuf_add_json(ret, service->user);
	strbuf_addf(ret, "\",\"%s\":\"", password_key);
	strbuf_add_json(ret, service->password);
	strbuf_add_str(ret, "\"}");
	return strbuf_error(ret);
}

void service_wipe(struct strbuf *content)
{
	if (content->data)
		explicit_bzero(content->data, content->size);
	strbuf_release(content);
}

/* ---- answers ---- */

bool service_is_redirect(int status)
{
	return status == 301 || status == 302 || status == 307 || status == 308;
}

int service_refuse(const struct service *service, int err, const char *what, int status,
		   const char *message, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	if (*message) {
		strbuf_add_str(&text, ": ");
		strbuf_add_json(&text, message); /* of one line, whatever it has in it */
	}
	return diag_set(diag, err, "%s %s: %s (status %d%.*s)", service->words->name, service->url,
			what, status, MESSAGE_CHARS, text.data ? text.data : "");
}
