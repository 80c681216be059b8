/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of protobuf messages, as bytes: protobuf.dev/programming-guides/encoding. Only a small
 * part of the encoding is needed, and messages are written in one pass, so it is implemented here:
 * docs/design/publication.md gives the reasons.
 *
 * The put functions write to a buffer that has room and return the end; the add functions append to
 * a strbuf, which remembers that memory ran out.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/protobuf_wire.h"
#include "base/strbuf.h"

/* A field's number, from 1 to 15, with the form of its value; one byte. */
#define PROTOBUF_TAG(field, wire) (char)((field) << 3 | (wire))
#define PROTOBUF_VARINT_MAX       10 /* bytes */
#define PROTOBUF_FIXED64_SIZE     9  /* with its tag */
#define PROTOBUF_LENGTH_SIZE      5

static inline char *protobuf_put_varint(char *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (char)(value | 0x80);
	*at++ = (char)value;
	return at;
}

static inline char *protobuf_put_fixed64(char *at, char tag, uint64_t value)
{
	*at++ = tag;
	for (int i = 0; i < 8; i++)
		*at++ = (char)(value >> 8 * i);
	return at;
}

static inline char *protobuf_put_double(char *at, char tag, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return protobuf_put_fixed64(at, tag, bits);
}

/* Bytes that are fields already, or the inside of a field. */
static inline char *protobuf_put_raw(char *at, const char *bytes, size_t len)
{
	memcpy(at, bytes, len);
	return at + len;
}

static inline size_t protobuf_varint_len(uint64_t value)
{
	size_t len = 1;

	for (; value >= 0x80; value >>= 7)
		len++;
	return len;
}

/* The size of a field with @len bytes of text, message or packed numbers, its tag included. */
static inline size_t protobuf_field_len(size_t len)
{
	return 1 + protobuf_varint_len(len) + len;
}

void protobuf_add_varint(struct strbuf *out, char tag, uint64_t value);
void protobuf_add_fixed64(struct strbuf *out, char tag, uint64_t value);
void protobuf_add_double(struct strbuf *out, char tag, double value);
/* A text, bytes or a message. */
void protobuf_add_bytes(struct strbuf *out, char tag, const char *bytes, size_t len);
void protobuf_add_packed(struct strbuf *out, char tag, const uint32_t *values, size_t count);

/*
 * A message whose length is not known before it is whole: begin() reserves PROTOBUF_LENGTH_SIZE
 * bytes for the length, and end() fills them in. Upper bytes of such a length may be 0 with the
 * continuation bit set, which every decoder accepts. Messages may nest. begin() returns where the
 * message begins, for end().
 */
size_t protobuf_begin(struct strbuf *out);
/* The same behind @tag: a field. */
size_t protobuf_begin_field(struct strbuf *out, char tag);
void protobuf_end(struct strbuf *out, size_t begin);
