// SPDX-License-Identifier: Apache-2.0
#include "net/grpc_answer.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/num.h"

void grpc_answer_init(struct grpc_answer *answer, size_t max_bytes)
{
	*answer = (struct grpc_answer){ .max_bytes = max_bytes, .status = GRPC_NONE };
}

void grpc_answer_release(struct grpc_answer *answer)
{
	strbuf_release(&answer->message);
}

static void take_text(struct grpc_answer *answer, const char *value, size_t len)
{
	size_t room = sizeof(answer->said) - 1;

	len = len < room ? len : room;
	for (size_t i = 0; i < len; i++)
		answer->said[i] = (char)(value[i] >= ' ' && value[i] <= '~' ? value[i] : '?');
	answer->said[len] = '\0';
}

static int status_of(const char *value, size_t len)
{
	uint64_t status;

	return parse_u64(value, len, &status) == 0 && status <= INT16_MAX ? (int)status : GRPC_NONE;
}

static bool is_name(const char *name, size_t len, const char *wanted)
{
	return len == strlen(wanted) && strncasecmp(name, wanted, len) == 0;
}

void grpc_answer_header(struct grpc_answer *answer, const char *name, size_t name_len,
			const char *value, size_t value_len)
{
	if (is_name(name, name_len, "grpc-status"))
		answer->status = status_of(value, value_len);
	else if (is_name(name, name_len, "grpc-message"))
		take_text(answer, value, value_len);
}

/* How many of the bytes belong to the prefix; or -errno if the prefix is not acceptable. */
static int take_prefix(struct grpc_answer *answer, const char *bytes, size_t len)
{
	size_t missing = GRPC_PREFIX_BYTES - answer->prefix_len;
	const unsigned char *prefix = answer->prefix;

	len = len < missing ? len : missing;
	memcpy(answer->prefix + answer->prefix_len, bytes, len);
	answer->prefix_len += len;
	if (answer->prefix_len < GRPC_PREFIX_BYTES)
		return (int)len;
	if (prefix[0])
		return -EPROTO;
	answer->length = (uint32_t)prefix[1] << 24 | (uint32_t)prefix[2] << 16 |
			 (uint32_t)prefix[3] << 8 | prefix[4];
	return answer->length > answer->max_bytes ? -EMSGSIZE : (int)len;
}

int grpc_answer_feed(struct grpc_answer *answer, const char *bytes, size_t len)
{
	if (answer->prefix_len < GRPC_PREFIX_BYTES) {
		int r = take_prefix(answer, bytes, len);

		if (r < 0)
			return r;
		bytes += r;
		len -= (size_t)r;
	}
	if (!len)
		return 0;
	if (len > answer->length - answer->message.len)
		return -EPROTO;
	strbuf_add(&answer->message, bytes, len);
	return strbuf_error(&answer->message);
}

static int error_of(int status)
{
	switch (status) {
	case GRPC_PERMISSION_DENIED:
	case GRPC_UNAUTHENTICATED:
		return -EACCES;
	case GRPC_UNIMPLEMENTED:
		return -ENOSYS;
	default:
		return -EPROTO;
	}
}

int grpc_answer_end(const struct grpc_answer *answer, int http_status, struct diag *diag)
{
	if (http_status != 200)
		return diag_set(diag, -EPROTO, "HTTP %d", http_status);
	if (answer->status == GRPC_NONE)
		return diag_set(diag, -EPROTO, "the answer has no gRPC status");
	if (answer->status != GRPC_OK)
		return diag_set(diag, error_of(answer->status), "gRPC status %d%s%s",
				answer->status, answer->said[0] ? ": " : "", answer->said);
	if (answer->prefix_len < GRPC_PREFIX_BYTES || answer->message.len < answer->length)
		return diag_set(diag, -EPROTO, "the answer was cut");
	return 0;
}
