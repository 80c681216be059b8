/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A unary call of gRPC without arguments, over HTTP/2 to a unix socket. The framing of HTTP/2 is
 * libcurl's; what gRPC adds to it is net/grpc_answer.h.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "net/grpc_answer.h"
#include "net/http_client.h"

struct grpc_call {
	const char *method; /* "/v1.PodResourcesLister/List" */
	uint64_t connect_timeout_ms;
	uint64_t timeout_ms; /* of the whole call */
};

/*
 * The call, by a client with @http2 and a @unix_socket. 0 with the message in @answer, which the
 * caller has initialised and releases; as grpc_answer_end() and http_client_get() else, with diag.
 * *ret_reply is always written.
 */
int grpc_call(struct http_client *client, const struct grpc_call *call, struct grpc_answer *answer,
	      struct http_reply *ret_reply, struct diag *diag);
