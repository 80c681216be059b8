/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer to a unary call of gRPC (PROTOCOL-HTTP2.md of grpc/grpc): one message behind a prefix
 * of five bytes, and in the trailers, or in the headers of an answer without a message, the status
 * of the call. Pure: headers and bytes in, a message or an error out. A compressed message is
 * refused, as none was asked for.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"

#define GRPC_PREFIX_BYTES 5

/* gRPC's own numbers, of those that are told apart here. */
enum grpc_status {
	GRPC_NONE = -1, /* the peer sent none, or no number */
	GRPC_OK = 0,
	GRPC_PERMISSION_DENIED = 7,
	GRPC_UNIMPLEMENTED = 12,
	GRPC_UNAUTHENTICATED = 16,
};

struct grpc_answer {
	size_t max_bytes; /* of the message */
	unsigned char prefix[GRPC_PREFIX_BYTES];
	size_t prefix_len;
	uint32_t length; /* of the message, once the prefix is whole */
	struct strbuf message;
	int status;     /* enum grpc_status, or another of gRPC's */
	char said[128]; /* why, as the peer sent it; control characters as "?" */
};

void grpc_answer_init(struct grpc_answer *answer, size_t max_bytes);
void grpc_answer_release(struct grpc_answer *answer);
/* A header or a trailer; @value is not terminated. Others than those of gRPC are left alone. */
void grpc_answer_header(struct grpc_answer *answer, const char *name, size_t name_len,
			const char *value, size_t value_len);
/*
 * Bytes of the body. 0; -EMSGSIZE, at the latest where the prefix says that the message is too
 * large; -EPROTO: compressed, or more than one message; -ENOMEM.
 */
int grpc_answer_feed(struct grpc_answer *answer, const char *bytes, size_t len);
/*
 * When the answer has ended with the HTTP status @http_status. 0: the message is whole; -EACCES:
 * the peer denies the call; -ENOSYS: it has no such method; -EPROTO with diag: all else.
 */
int grpc_answer_end(const struct grpc_answer *answer, int http_status, struct diag *diag);
