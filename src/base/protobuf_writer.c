// SPDX-License-Identifier: Apache-2.0
#include "base/protobuf_writer.h"

void protobuf_add_varint(struct strbuf *out, char tag, uint64_t value)
{
	char bytes[1 + PROTOBUF_VARINT_MAX] = { tag };

	strbuf_add(out, bytes, (size_t)(protobuf_put_varint(bytes + 1, value) - bytes));
}

void protobuf_add_fixed64(struct strbuf *out, char tag, uint64_t value)
{
	char bytes[PROTOBUF_FIXED64_SIZE];

	(void)protobuf_put_fixed64(bytes, tag, value);
	strbuf_add(out, bytes, sizeof(bytes));
}

void protobuf_add_double(struct strbuf *out, char tag, double value)
{
	char bytes[PROTOBUF_FIXED64_SIZE];

	(void)protobuf_put_double(bytes, tag, value);
	strbuf_add(out, bytes, sizeof(bytes));
}

void protobuf_add_bytes(struct strbuf *out, char tag, const char *bytes, size_t len)
{
	protobuf_add_varint(out, tag, len);
	strbuf_add(out, bytes, len);
}

void protobuf_add_packed(struct strbuf *out, char tag, const uint32_t *values, size_t count)
{
	size_t len = 0;
	char *at;

	for (size_t i = 0; i < count; i++)
		len += protobuf_varint_len(values[i]);
	protobuf_add_varint(out, tag, len);
	if (!strbuf_reserve(out, len))
		return;
	at = out->data + out->len;
	for (size_t i = 0; i < count; i++)
		at = protobuf_put_varint(at, values[i]);
	*at = '\0';
	out->len += len;
}

size_t protobuf_begin(struct strbuf *out)
{
	static const char length[PROTOBUF_LENGTH_SIZE];

	strbuf_add(out, length, PROTOBUF_LENGTH_SIZE);
	return out->len;
}

size_t protobuf_begin_field(struct strbuf *out, char tag)
{
	strbuf_add(out, &tag, 1);
	return protobuf_begin(out);
}

void protobuf_end(struct strbuf *out, size_t begin)
{
	size_t len = out->len - begin;
	char *at;

	if (strbuf_error(out) < 0)
		return;
	at = out->data + begin - PROTOBUF_LENGTH_SIZE;
	for (int i = 0; i < PROTOBUF_LENGTH_SIZE - 1; i++, len >>= 7)
		at[i] = (char)((len & 0x7f) | 0x80);
	at[PROTOBUF_LENGTH_SIZE - 1] = (char)len;
}
