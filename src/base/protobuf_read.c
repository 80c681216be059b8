// SPDX-License-Identifier: Apache-2.0
#include "base/protobuf_read.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define VARINT_BYTES_MAX 10
#define NUMBER_MAX       ((1U << 29) - 1)

static void skip(struct protobuf *message, size_t len)
{
	message->at += len;
	message->len -= len;
}

static bool take_varint(struct protobuf *message, uint64_t *ret)
{
	uint64_t value = 0;

	for (size_t i = 0; i < message->len && i < VARINT_BYTES_MAX; i++) {
		value |= (uint64_t)(message->at[i] & 0x7f) << (7 * i);
		if (message->at[i] & 0x80)
			continue;
		skip(message, i + 1);
		*ret = value;
		return true;
	}
	return false;
}

static bool take_fixed(struct protobuf *message, size_t bytes, uint64_t *ret)
{
	uint64_t value = 0;

	if (message->len < bytes)
		return false;
	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t)message->at[i] << (8 * i);
	skip(message, bytes);
	*ret = value;
	return true;
}

static bool take_bytes(struct protobuf *message, struct protobuf *ret)
{
	uint64_t len;

	if (!take_varint(message, &len) || len > message->len)
		return false;
	*ret = (struct protobuf){ message->at, (size_t)len };
	skip(message, (size_t)len);
	return true;
}

static bool take_value(struct protobuf *message, struct protobuf_field *field)
{
	switch (field->type) {
	case PROTOBUF_VARINT:
		return take_varint(message, &field->value);
	case PROTOBUF_FIXED64:
		return take_fixed(message, 8, &field->value);
	case PROTOBUF_BYTES:
		return take_bytes(message, &field->bytes);
	case PROTOBUF_FIXED32:
		return take_fixed(message, 4, &field->value);
	}
	return false; /* a group, or a type that there is not */
}

/* A short text or message, or a double, with a tag of one byte: most fields are. */
static inline bool take_common(struct protobuf *message, struct protobuf_field *ret)
{
	const unsigned char *at = message->at;

	if (message->len < 2 || at[0] < 1U << 3 || at[0] & 0x80)
		return false;
	if ((at[0] & 7) == PROTOBUF_BYTES && at[1] < 0x80 && at[1] <= message->len - 2) {
		ret->value = 0;
		ret->bytes = (struct protobuf){ at + 2, at[1] };
		skip(message, 2U + at[1]);
	} else if ((at[0] & 7) == PROTOBUF_FIXED64 && message->len > sizeof(ret->value)) {
		memcpy(&ret->value, at + 1, sizeof(ret->value));
		ret->value = le64toh(ret->value);
		ret->bytes = (struct protobuf){ NULL, 0 };
		skip(message, 1 + sizeof(ret->value));
	} else {
		return false;
	}
	ret->number = at[0] >> 3;
	ret->type = (enum protobuf_wire)(at[0] & 7);
	return true;
}

int protobuf_next(struct protobuf *message, struct protobuf_field *ret)
{
	struct protobuf_field field = { 0 };
	uint64_t tag;

	if (!message->len)
		return 0;
	if (take_common(message, ret))
		return 1;
	if (take_varint(message, &tag) && tag >> 3 >= 1 && tag >> 3 <= NUMBER_MAX) {
		field.number = (uint32_t)(tag >> 3);
		field.type = (enum protobuf_wire)(tag & 7);
		if (take_value(message, &field)) {
			*ret = field;
			return 1;
		}
	}
	message->len = 0;
	return -EPROTO;
}

int protobuf_copy_text(const struct protobuf *text, char *ret, size_t size)
{
	if (text->len >= size)
		return -EINVAL;
	for (size_t i = 0; i < text->len; i++) {
		if (text->at[i] <= ' ' || text->at[i] > '~')
			return -EINVAL;
		ret[i] = (char)text->at[i];
	}
	ret[text->len] = '\0';
	return 0;
}

int protobuf_text(struct protobuf message, uint32_t number, char *ret, size_t size)
{
	struct protobuf found = { .len = 0 };
	struct protobuf_field field;
	int r;

	while ((r = protobuf_next(&message, &field)) > 0) {
		if (field.number == number && field.type == PROTOBUF_BYTES)
			found = field.bytes;
	}
	if (r < 0)
		return r;
	return protobuf_copy_text(&found, ret, size);
}
