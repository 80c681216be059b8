// SPDX-License-Identifier: Apache-2.0
/*
 * An answer counts from its status on. A body that is too long or is cut ends the connection, not
 * the message: else a receiver that states a wrong length would get the same data for ever.
 */
#include "net/push_target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"
#include "base/num.h"
#include "base/secret_file.h"
#include "net/http_header_list.h"
#include "net/http_url.h"

#define CONNECT_MS 5000
#define HEADER_MAX 4096

struct push_target {
	const struct push_target_options *options;
	const char *url;
	struct http_client *http;
	bool is_local;                 /* the receiver, and nothing else is on the way */
	char *texts[PUSH_HEADERS_MAX]; /* owned: "NAME\0VALUE" */
	struct http_header headers[PUSH_HEADERS_MAX];
};

/* ---- options ---- */

/* Their values follow from the message, or decide where it ends. */
static bool is_own(const char *name)
{
	static const char *const names[] = {
		"Accept",
		"Accept-Encoding",
		"Connection",
		"Content-Encoding",
		"Content-Length",
		"Content-Type",
		"Expect",
		"Host",
		"Keep-Alive",
		"Proxy-Connection",
		"TE",
		"Trailer",
		"Upgrade",
		"User-Agent",
		"Transfer-Encoding",
	};
	static const char prefix[] = "X-Prometheus-Remote-Write-";

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcasecmp(name, names[i]) == 0)
			return true;
	}
	return strncasecmp(name, prefix, sizeof(prefix) - 1) == 0;
}

/* Splits "NAME=VALUE" in place. */
static struct http_header split_header(char *text)
{
	char *equals = strchr(text, '=');

	if (equals)
		*equals = '\0';
	return (struct http_header){ text, equals ? equals + 1 : "" };
}

int push_target_check_header(const char *text, struct diag *diag)
{
	char copy[HEADER_MAX];
	struct http_header header;

	if (strlen(text) >= sizeof(copy))
		return diag_set(diag, -EINVAL, "must have less than %d characters", HEADER_MAX);
	memcpy(copy, text, strlen(text) + 1);
	header = split_header(copy);
	if (is_own(header.name))
		return diag_set(diag, -EINVAL, "must not be %.80s: Kepler sets this header itself",
				header.name);
	return http_header_check(header.name, header.value, diag);
}

static bool has_prefix(const char *text, const char *prefix)
{
	return strncasecmp(text, prefix, strlen(prefix)) == 0;
}

int push_target_check_proxy(const char *text, struct diag *diag)
{
	return !*text || has_prefix(text, "http://") || has_prefix(text, "socks5h://")
		       ? 0
		       : diag_set(diag, -EINVAL, "must be http://HOST:PORT or socks5h://HOST:PORT");
}

int push_target_check_url(const char *text, struct diag *diag)
{
	struct http_url parts;

	http_url_split(text, &parts);
	if ((!has_prefix(text, "http://") && !has_prefix(text, "https://")) || parts.host_len == 0)
		return diag_set(diag, -EINVAL, "must begin with http://HOST or https://HOST");
	if (http_url_has_user(text))
		return diag_set(diag, -EINVAL,
				"must not contain a user or password: use the options user and "
				"password-file");
	return 0;
}

const char *push_target_file(const struct push_target_options *options, size_t index)
{
	const char *const files[] = { options->password_file, options->token_file, options->ca_file,
				      options->client_cert_file, options->client_key_file };

	return index < ARRAY_SIZE(files) ? files[index] : NULL;
}

/* ---- life ---- */

static const char *or_null(const char *text)
{
	return *text ? text : NULL;
}

void push_target_close(struct push_target *target)
{
	if (!target)
		return;
	http_client_free(target->http);
	for (size_t i = 0; i < ARRAY_SIZE(target->texts); i++)
		free(target->texts[i]);
	free(target);
}

static int take_headers(struct push_target *target)
{
	for (size_t i = 0; i < target->options->header_count; i++) {
		target->texts[i] = strdup(target->options->headers[i]);
		if (!target->texts[i])
			return -ENOMEM;
		target->headers[i] = split_header(target->texts[i]);
	}
	return 0;
}

/* Fails for options with which no message can ever be sent. */
static int check(const struct push_target *target, struct diag *diag)
{
	const struct push_target_options *options = target->options;
	bool is_secret = *options->user || *options->token_file;

	if (*options->user && *options->token_file)
		return diag_set(diag, -EINVAL, "a user and a token file exclude each other");
	if (!*options->client_cert_file != !*options->client_key_file)
		return diag_set(diag, -EINVAL, "a client certificate and its key need each other");
	for (size_t i = 0; i < options->header_count; i++)
		is_secret |= http_header_is_secret(target->headers[i].name);
	if (is_secret && !http_url_is_https(target->url) && !target->is_local)
		return diag_set(diag, -EINVAL,
				"%.*s: passwords, tokens and headers with such names are sent over "
				"https only",
				http_url_site_len(target->url), target->url);
	return http_client_check(target->http, target->url, diag);
}

int push_target_open(const struct push_target_options *options, const char *url,
		     const char *user_agent, int cancel_fd, struct push_target **ret,
		     struct diag *diag)
{
	bool is_local = http_url_is_loopback(url) && !*options->proxy_url;
	const struct http_client_options http = {
		.ca_file = or_null(options->ca_file),
		.client_cert_file = or_null(options->client_cert_file),
		.client_key_file = or_null(options->client_key_file),
		.user_agent = user_agent,
		.proxy_url = or_null(options->proxy_url),
		.environment_proxy = !is_local,
		.is_local = is_local,
		.cancel_fd = cancel_fd,
	};
	struct push_target *target = calloc(1, sizeof(*target));
	int r;

	if (!target)
		return diag_set(diag, -ENOMEM, "out of memory");
	target->options = options;
	target->url = url;
	target->is_local = is_local;
	r = take_headers(target);
	r = r < 0 ? diag_set(diag, r, "out of memory")
		  : http_client_new(&http, &target->http, diag);
	if (r == 0)
		r = check(target, diag);
	if (r < 0)
		push_target_close(target);
	else
		*ret = target;
	return r;
}

/* ---- one message ---- */

struct receiving {
	const struct push_message *message;
	struct push_answer *answer;
};

static void take_status(void *userdata, int status)
{
	struct receiving *receiving = userdata;

	receiving->answer->status = status;
}

static void take_header(void *userdata, const char *name, size_t name_len, const char *value,
			size_t value_len)
{
	const struct push_message *message = ((struct receiving *)userdata)->message;

	if (message->header)
		message->header(message->userdata, name, name_len, value, value_len);
}

static int take_body(void *userdata, const char *bytes, size_t len)
{
	struct strbuf *body = &((struct receiving *)userdata)->answer->body;
	size_t room = PUSH_ANSWER_MAX - body->len;

	strbuf_add(body, bytes, len < room ? len : room);
	if (strbuf_error(body) < 0)
		return -ENOMEM;
	return len > room ? -EMSGSIZE : 0;
}

static void free_secret(char *secret)
{
	if (secret)
		explicit_bzero(secret, strlen(secret));
	free(secret);
}

static int transfer(struct push_target *target, struct receiving *receiving, const char *password,
		    const char *token, struct diag *diag)
{
	const struct push_message *message = receiving->message;
	struct http_header headers[2 * PUSH_HEADERS_MAX];
	size_t count = target->options->header_count;
	struct http_request_options request = {
		.url = target->url,
		.bearer_token = or_null(token),
		.user = or_null(target->options->user),
		.password = password,
		.method = HTTP_POST,
		.content = message->content,
		.content_is_public = true,
		.content_len = message->content_len,
		.content_type = message->content_type,
		.content_encoding = message->content_encoding,
		.headers = headers,
		.header = take_header,
		.status = take_status,
		.connect_timeout_ms = CONNECT_MS,
		.timeout_ms = target->options->timeout_ns / NSEC_PER_MSEC,
	};
	struct http_reply reply;
	int r;

	memcpy(headers, target->headers, sizeof(target->headers));
	for (size_t i = 0; i < message->header_count && count < ARRAY_SIZE(headers); i++)
		headers[count++] = message->headers[i];
	request.header_count = count;
	r = http_client_get(target->http, &request, take_body, receiving, &reply, diag);
	receiving->answer->retry_after_ms = reply.retry_after_ms;
	if (r < 0 && r != -ECANCELED && receiving->answer->status != 0) {
		receiving->answer->is_cut = true;
		return 0;
	}
	return r;
}

int push_target_send(struct push_target *target, const struct push_message *message,
		     struct push_answer *ret, struct diag *diag)
{
	struct receiving receiving = { .message = message, .answer = ret };
	char *password = NULL, *token = NULL;
	int r;

	strbuf_reset(&ret->body);
	*ret = (struct push_answer){ .body = ret->body };
	r = secret_file_read(target->options->password_file, &password, diag);
	if (r == 0)
		r = secret_file_read(target->options->token_file, &token, diag);
	if (r == 0)
		r = transfer(target, &receiving, password, token, diag);
	free_secret(password);
	free_secret(token);
	return r;
}

void push_answer_release(struct push_answer *answer)
{
	strbuf_release(&answer->body);
}

void push_answer_text(const struct push_answer *answer, char *buf, size_t size)
{
	size_t len = 0;

	for (size_t i = 0; i < answer->body.len && len + 1 < size; i++) {
		char c = answer->body.data[i];

		if (c <= ' ' || c > '~')
			c = ' ';
		if (c != ' ' || (len && buf[len - 1] != ' '))
			buf[len++] = c;
	}
	while (len && buf[len - 1] == ' ')
		len--;
	buf[len] = '\0';
}
