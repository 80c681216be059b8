// SPDX-License-Identifier: Apache-2.0
#include "net/grpc_call.h"

#include <stdio.h>
#include <string.h>

static void take_header(void *userdata, const char *name, size_t name_len, const char *value,
			size_t value_len)
{
	grpc_answer_header(userdata, name, name_len, value, value_len);
}

static int take_body(void *userdata, const char *bytes, size_t len)
{
	return grpc_answer_feed(userdata, bytes, len);
}

int grpc_call(struct http_client *client, const struct grpc_call *call, struct grpc_answer *answer,
	      struct http_reply *ret_reply, struct diag *diag)
{
	static const char no_arguments[GRPC_PREFIX_BYTES]; /* an empty message, not compressed */
	struct http_request_options request = {
		.content = no_arguments,
		.content_len = sizeof(no_arguments),
		.content_type = "application/grpc",
		.wants_trailers = true,
		.method = HTTP_POST,
		.header = take_header,
		.connect_timeout_ms = call->connect_timeout_ms,
		.answer_timeout_ms = call->timeout_ms,
		.timeout_ms = call->timeout_ms,
		.max_bytes = answer->max_bytes + GRPC_PREFIX_BYTES,
	};
	char url[256];
	int r;

	(void)snprintf(url, sizeof(url), "http://localhost%s", call->method);
	request.url = url;
	r = http_client_get(client, &request, take_body, answer, ret_reply, diag);
	return r < 0 ? r : grpc_answer_end(answer, ret_reply->status, diag);
}
