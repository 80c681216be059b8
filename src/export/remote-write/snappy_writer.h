/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block of Snappy (google/snappy: format_description.txt) by a program that knows which parts of
 * its content repeat: it has neither to make the content nor to search in it. A reference may go
 * back as far as the block, which the format and all of its decoders allow.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* All zero at first. */
struct snappy_writer {
	struct strbuf out;        /* the block, behind room for its head */
	size_t content_len;       /* of all that is appended */
	size_t literal_at;        /* in @out: the head of a literal that may grow; 0: none */
	size_t copy_at, copy_len; /* a reference that may grow; length 0: none */
};

void snappy_writer_release(struct snappy_writer *writer);
/* Begins another block, keeps the memory. */
void snappy_writer_reset(struct snappy_writer *writer);
/* Appends new content. */
void snappy_writer_add(struct snappy_writer *writer, const char *bytes, size_t len);
/* The end of snappy_writer_repeat(), where the content is not what follows the last reference. */
void snappy_writer_refer(struct snappy_writer *writer, size_t at, size_t len);
/* The end. Borrowed until the next call; NULL: there was no memory. */
const char *snappy_writer_finish(struct snappy_writer *writer, size_t *ret_len);

/* Appends @len bytes, at least one, that the content has at @at. */
static inline void snappy_writer_repeat(struct snappy_writer *writer, size_t at, size_t len)
{
	if (!writer->copy_len || writer->copy_at + writer->copy_len != at) {
		snappy_writer_refer(writer, at, len);
		return;
	}
	writer->copy_len += len;
	writer->content_len += len;
}
