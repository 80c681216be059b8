// SPDX-License-Identifier: Apache-2.0
#include "export/otlp/otlp_answer.h"

#include <errno.h>

#include "base/protobuf_read.h"

/* ExportMetricsServiceResponse; ExportMetricsPartialSuccess; google.rpc.Status. */
#define SUCCESS_PARTIAL  1
#define PARTIAL_REJECTED 1
#define PARTIAL_MESSAGE  2
#define STATUS_MESSAGE   2

static void take_message(const struct protobuf *text, struct otlp_answer *ret)
{
	size_t len = text->len < sizeof(ret->message) - 1 ? text->len : sizeof(ret->message) - 1;

	for (size_t i = 0; i < len; i++) {
		char c = (char)text->at[i];

		ret->message[i] = c >= ' ' && c <= '~' ? c : '?';
	}
	ret->message[len] = '\0';
}

static int read_partial(struct protobuf partial, struct otlp_answer *ret)
{
	struct protobuf_field field;
	int r;

	while ((r = protobuf_next(&partial, &field)) > 0) {
		if (field.number == PARTIAL_MESSAGE && field.type == PROTOBUF_BYTES)
			take_message(&field.bytes, ret);
		if (field.number != PARTIAL_REJECTED || field.type != PROTOBUF_VARINT)
			continue;
		if (field.value > INT64_MAX)
			return -EPROTO; /* a negative number */
		ret->rejected = field.value;
	}
	return r;
}

int otlp_answer_read_success(const void *bytes, size_t len, struct otlp_answer *ret)
{
	struct protobuf message = { bytes, len };
	struct otlp_answer answer = { 0 };
	struct protobuf_field field;
	int r;

	*ret = answer;
	while ((r = protobuf_next(&message, &field)) > 0) {
		if (field.number != SUCCESS_PARTIAL || field.type != PROTOBUF_BYTES)
			continue;
		r = read_partial(field.bytes, &answer);
		if (r < 0)
			return r;
	}
	if (r == 0)
		*ret = answer;
	return r;
}

int otlp_answer_read_failure(const void *bytes, size_t len, struct otlp_answer *ret)
{
	struct protobuf message = { bytes, len };
	struct otlp_answer answer = { 0 };
	struct protobuf_field field;
	int r;

	*ret = answer;
	while ((r = protobuf_next(&message, &field)) > 0) {
		if (field.number == STATUS_MESSAGE && field.type == PROTOBUF_BYTES)
			take_message(&field.bytes, &answer);
	}
	if (r == 0)
		*ret = answer;
	return r;
}
