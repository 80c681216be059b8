/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protocol Buffers' wire format (protobuf.dev, "Encoding"), field by field, without a copy and
 * without recursion: a message inside is a field's bytes, which the caller reads in turn, as deep
 * as the schema is that it knows. So what is nested deeper costs nothing. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/protobuf_wire.h"

/* The rest of a message. */
struct protobuf {
	const unsigned char *at;
	size_t len;
};

struct protobuf_field {
	uint32_t number;
	enum protobuf_wire type;
	uint64_t value;        /* of a number */
	struct protobuf bytes; /* with PROTOBUF_BYTES; not terminated */
};

/*
 * The next field. 1; 0 at the end of the message; -EPROTO where it is malformed (or has groups,
 * which were given up before version 3), and then it has no more.
 */
int protobuf_next(struct protobuf *message, struct protobuf_field *ret);
/*
 * A text, terminated in @ret. 0, or -EINVAL: it does not fit, or has characters other than those
 * of names and ids: printable ASCII without blanks.
 */
int protobuf_copy_text(const struct protobuf *text, char *ret, size_t size);
/*
 * The last field of that number as text, terminated in @ret, or "" if it is missing (the format
 * writes an empty text in this way). As protobuf_copy_text(), and -EPROTO if the message is
 * malformed.
 */
int protobuf_text(struct protobuf message, uint32_t number, char *ret, size_t size);
