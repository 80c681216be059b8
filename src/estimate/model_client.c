// SPDX-License-Identifier: Apache-2.0
#include "estimate/model_client.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/num.h"
#include "kube/kube_access.h"

#define CONNECT_MS 5000
#define REQUEST_MS 30000

int model_client_open(struct model_client *client, const struct http_client_options *options,
		      char *token_file, const char *url, struct diag *diag)
{
	int r = http_client_new(options, &client->http, diag);

	client->token_file = token_file;
	return r < 0 ? r : http_client_check(client->http, url, diag);
}

void model_client_close(struct model_client *client)
{
	http_client_free(client->http);
	client->http = NULL;
}

void model_reply_release(struct model_reply *answer)
{
	strbuf_release(&answer->body);
}

static int take_body(void *userdata, const char *bytes, size_t len)
{
	struct model_reply *answer = userdata;

	strbuf_add(&answer->body, bytes, len);
	return strbuf_error(&answer->body);
}

static void take_header(void *userdata, const char *name, size_t name_len, const char *value,
			size_t value_len)
{
	struct model_reply *answer = userdata;

	if (name_len != 4 || strncasecmp(name, "etag", 4) != 0 ||
	    !model_cache_is_etag(value, value_len))
		return;
	memcpy(answer->etag, value, value_len);
	answer->etag[value_len] = '\0';
}

static enum backoff_kind kind_of(int r, const struct http_reply *reply)
{
	if (!reply->reached && (r == -ECONNREFUSED || r == -EHOSTUNREACH || r == -ETIMEDOUT))
		return BACKOFF_ABSENT;
	if (r == -EACCES || (reply->status >= 400 && reply->status < 500 && reply->status != 429))
		return BACKOFF_DENIED;
	return BACKOFF_FAILED;
}

int model_client_ask(struct model_client *client, const struct model_request *request,
		     struct model_reply *ret, struct diag *diag)
{
	const struct kube_access access = { .token_file = client->token_file,
					    .token_file_is_private = true };
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
	struct http_reply reply = { 0 };
	char *token = NULL;
	int r = client->token_file[0] ? kube_access_token(&access, &token, diag) : 0;

	if (r == 0) {
		const struct http_request_options options = {
			.url = request->url,
			.bearer_token = token,
			.accept = "application/json",
			.if_none_match = request->etag && *request->etag ? request->etag : NULL,
			.content = request->content,
			.content_is_public = true,
			.method = request->content ? HTTP_POST : HTTP_GET,
			.header = take_header,
			.connect_timeout_ms = CONNECT_MS,
			.timeout_ms = REQUEST_MS,
			.max_bytes = request->max_bytes,
		};

		r = http_client_get(client->http, &options, take_body, ret, &reply, diag);
	}
	kube_token_free(token);
	ret->status = reply.status;
	ret->connected = reply.connected;
	ret->failure = (struct backoff_failure){
		.kind = kind_of(r, &reply),
		.lasted_ms = (clock_ns(CLOCK_MONOTONIC) - began_ns) / NSEC_PER_MSEC,
		.retry_after_ms = reply.retry_after_ms,
	};
	return r;
}

int model_reply_refuse(const struct model_reply *answer, const char *url, struct diag *diag)
{
	char why[321] = "";
	size_t len = 0;

	for (size_t i = 0; i < answer->body.len && len + 1 < sizeof(why); i++) {
		char c = answer->body.data[i];

		why[len++] = c >= ' ' && c <= '~' ? c : ' ';
	}
	while (len && why[len - 1] == ' ')
		len--;
	why[len] = '\0';
	return diag_set(diag, -EPROTO, "%.150s: HTTP %d%s%s", url, answer->status,
			why[0] ? ": " : "", why);
}
