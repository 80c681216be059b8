// SPDX-License-Identifier: Apache-2.0
#include "doctor/cluster/api_client.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "base/macro.h"
#include "kube/json_bounded.h"
#include "kube/object_stream.h"
#include "net/http_url.h"

#define CONNECT_MS      5000
#define LIST_MS         30000
#define PAGE_OBJECTS    250
#define PAGES_MAX       40
#define ITEM_BYTES_MAX  (1U << 20)
#define LIST_BYTES_MAX  (64U << 20) /* of one page of a list */
#define ERROR_BYTES_MAX 4096

int api_client_open(struct api_client *ret, const struct kube_access *access, uint64_t end_ns,
		    struct diag *diag)
{
	const struct http_client_options options = {
		.ca_file = access->ca_file,
		.client_cert_file = access->client_cert_file,
		.client_key_file = access->client_key_file,
		.user_agent = "kepler-doctor",
		.tls_server_name = access->tls_server_name,
		.proxy_url = access->proxy_url,
		.environment_proxy = true,
		.cancel_fd = -1,
		.is_local = http_url_is_loopback(access->server),
	};
	int r;

	*ret = (struct api_client){ .access = access, .end_ns = end_ns };
	r = http_client_new(&options, &ret->http, diag);
	return r == 0 ? http_client_check(ret->http, access->server, diag) : r;
}

void api_client_close(struct api_client *client)
{
	http_client_free(client->http);
	client->http = NULL;
}

void api_answer_release(struct api_answer *answer)
{
	strbuf_release(&answer->body);
}

struct exchange {
	struct api_answer *answer;
	struct object_stream *stream; /* of a list; NULL: the body is kept */
	double began_s;               /* since 1970 */
};

static double now_s(void)
{
	return (double)clock_ns(CLOCK_REALTIME) / (double)NSEC_PER_SEC;
}

/* RFC 9110 §5.6.7: "Sun, 06 Nov 1994 08:49:37 GMT". Its clock has whole seconds. */
static void take_header(void *userdata, const char *name, size_t name_len, const char *value,
			size_t value_len)
{
	struct exchange *exchange = userdata;
	struct api_answer *answer = exchange->answer;
	struct tm tm = { .tm_isdst = 0 };
	char text[64];

	if (name_len != 4 || strncasecmp(name, "date", 4) != 0 || value_len >= sizeof(text))
		return;
	memcpy(text, value, value_len);
	text[value_len] = '\0';
	if (!strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &tm))
		return;
	answer->date_s = (double)timegm(&tm);
	answer->clock = (struct clock_offset){
		.is_known = true,
		.least_s = answer->date_s - now_s(),
		.most_s = answer->date_s + 1 - exchange->began_s,
	};
}

static void take_status(void *userdata, int status)
{
	struct exchange *exchange = userdata;

	exchange->answer->status = status;
}

static int take_body(void *userdata, const char *bytes, size_t len)
{
	struct exchange *exchange = userdata;
	struct strbuf *body = &exchange->answer->body;

	if (exchange->stream && exchange->answer->status == 200)
		return object_stream_feed(exchange->stream, bytes, len);
	if (exchange->answer->status >= 300 && body->len + len > ERROR_BYTES_MAX)
		len = ERROR_BYTES_MAX - body->len;
	strbuf_add(body, bytes, len);
	return strbuf_error(body);
}

/* The message of a Status, else the beginning of the text, without line ends. */
static void read_error(struct api_answer *answer)
{
	json_t *root =
		json_parse_bounded(answer->body.data ? answer->body.data : "", answer->body.len);
	const char *text = kube_text(root, "message", KUBE_END);

	answer->is_status = strcmp(kube_text(root, "kind", KUBE_END), "Status") == 0;
	if (!*text)
		text = answer->body.data ? answer->body.data : "";
	(void)snprintf(answer->error, sizeof(answer->error), "HTTP %d: %.*s", answer->status,
		       (int)strcspn(text, "\r\n"), text);
	json_decref(root);
}

static int send_request(struct api_client *client, struct http_request_options *request,
			struct exchange *exchange, struct diag *diag)
{
	struct http_reply reply;
	char *token = NULL;
	int r = 0;

	if (http_url_is_https(request->url))
		r = kube_access_check_key(client->access, diag);
	if (r == 0 && http_url_is_https(request->url))
		r = kube_access_token(client->access, &token, diag);
	request->bearer_token = token;
	exchange->began_s = now_s();
	if (r == 0)
		r = http_client_get(client->http, request, take_body, exchange, &reply, diag);
	kube_token_free(token);
	return r;
}

/* @content is a text, or NULL. */
static int ask(struct api_client *client, const char *path, const char *content,
	       uint64_t timeout_ms, size_t max_bytes, struct exchange *exchange)
{
	CLEANUP(strbuf_release) struct strbuf url = STRBUF_INIT;
	struct http_request_options request = {
		.accept = content || exchange->stream ? "application/json" : "*/*",
		.content = content,
		.content_is_public = true, /* a question; the token goes over https only */
		.header = take_header,
		.status = take_status,
		.connect_timeout_ms = CONNECT_MS,
		.timeout_ms = timeout_ms,
		.deadline_ns = &client->end_ns,
		.max_bytes = max_bytes,
	};
	struct api_answer *answer = exchange->answer;
	struct diag diag = { "" };
	int r;

	strbuf_add_str(&url, client->access->server);
	strbuf_add_str(&url, path);
	if (strbuf_error(&url) < 0)
		return -ENOMEM;
	request.url = url.data;
	r = send_request(client, &request, exchange, &diag);
	if (r < 0)
		(void)snprintf(answer->error, sizeof(answer->error), "%.199s", diag.text);
	else if (answer->status >= 300)
		read_error(answer);
	return r;
}

static void begin_answer(struct api_answer *ret)
{
	*ret = (struct api_answer){ .date_s = (double)NAN };
}

int api_request(struct api_client *client, const char *path, const json_t *content,
		uint64_t timeout_ms, size_t max_bytes, struct api_answer *ret)
{
	struct exchange exchange = { .answer = ret };
	char *text = content ? json_dumps(content, JSON_COMPACT) : NULL;
	int r = content && !text ? -ENOMEM : 0;

	begin_answer(ret);
	if (r == 0)
		r = ask(client, path, text, timeout_ms, max_bytes, &exchange);
	free(text);
	return r;
}

struct lister {
	api_item_fn *item;
	void *userdata;
	size_t left_out;
};

/* An item that is too large, or no JSON, is left out. */
static int take_item(void *userdata, const char *text, size_t len)
{
	struct lister *lister = userdata;
	json_t *object = text ? json_parse_bounded(text, len) : NULL;
	int r = object ? lister->item(lister->userdata, object) : 0;

	lister->left_out += !object;
	json_decref(object);
	return r;
}

/* Adds to @next the token of the next page, escaped; "" after the last. */
static int read_end(const struct object_stream *stream, struct strbuf *next)
{
	json_t *root = json_parse_bounded(stream->rest.data, stream->rest.len);
	char escaped[4096];
	int r = http_url_escape(kube_text(root, "metadata", "continue", KUBE_END), escaped,
				sizeof(escaped));

	json_decref(root);
	strbuf_reset(next);
	strbuf_add_str(next, escaped);
	return r < 0 ? r : strbuf_error(next);
}

static int list_page(struct api_client *client, const char *path, struct lister *lister,
		     struct strbuf *next, struct api_answer *answer)
{
	CLEANUP(strbuf_release) struct strbuf url = STRBUF_INIT;
	struct object_stream stream;
	struct exchange exchange = { .answer = answer, .stream = &stream };
	int r;

	strbuf_addf(&url, "%s%climit=%d%s%s", path, strchr(path, '?') ? '&' : '?', PAGE_OBJECTS,
		    next->len ? "&continue=" : "", next->len ? next->data : "");
	if (strbuf_error(&url) < 0)
		return -ENOMEM;
	object_stream_init(&stream, ITEM_BYTES_MAX, take_item, lister);
	r = ask(client, url.data, NULL, LIST_MS, LIST_BYTES_MAX, &exchange);
	if (r == 0 && answer->status != 200)
		r = -EIO;
	if (r == 0)
		r = object_stream_end(&stream);
	if (r == 0)
		r = read_end(&stream, next);
	object_stream_release(&stream);
	return r;
}

int api_list(struct api_client *client, const char *path, api_item_fn *item, void *userdata,
	     struct api_answer *answer)
{
	CLEANUP(strbuf_release) struct strbuf next = STRBUF_INIT;
	struct lister lister = { item, userdata, 0 };
	int r;

	begin_answer(answer);
	r = list_page(client, path, &lister, &next, answer);
	for (unsigned pages = 1; r == 0 && next.len && pages < PAGES_MAX; pages++)
		r = list_page(client, path, &lister, &next, answer);
	answer->items_left_out = lister.left_out;
	if (r == 0 && next.len)
		r = -EMSGSIZE;
	if (r < 0 && !answer->error[0])
		(void)snprintf(answer->error, sizeof(answer->error), "%s", strerrordesc_np(-r));
	return r;
}
