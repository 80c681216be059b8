/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of the kubelet's PodResources API, as text: each of these is one field. */
#pragma once

#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"

static inline void add_varint(struct strbuf *out, size_t value)
{
	for (; value > 127; value >>= 7)
		strbuf_add_char(out, (char)(value | 128));
	strbuf_add_char(out, (char)value);
}

static inline void add_field(struct strbuf *out, unsigned number, const void *bytes, size_t len)
{
	add_varint(out, number << 3 | 2);
	add_varint(out, len);
	strbuf_add(out, bytes, len);
}

static inline void add_text(struct strbuf *out, unsigned number, const char *text)
{
	add_field(out, number, text, strlen(text));
}

/* The field is what @inner holds, which is empty then. */
static inline void add_message(struct strbuf *out, unsigned number, struct strbuf *inner)
{
	add_field(out, number, inner->data ? inner->data : "", inner->len);
	strbuf_reset(inner);
}
