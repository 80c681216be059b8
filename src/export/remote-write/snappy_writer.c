// SPDX-License-Identifier: Apache-2.0
/*
 * Pieces that were appended one after the other are one element, if they are new or were one after
 * the other before. The head of an element depends on its length, so the last one of each kind is
 * open: a literal has a byte for its head, and its bytes move if they are too many for that.
 */
#include "export/remote-write/snappy_writer.h"

#include <stdbool.h>
#include <string.h>
#include <sys/param.h>

#include "base/protobuf_writer.h"

#define HEAD_SIZE     PROTOBUF_LENGTH_SIZE /* for the length of the content */
#define LITERAL_SHORT 60                   /* its length is in the tag */
#define LITERAL_MAX   65536
#define COPY_MAX      64
#define COPY_2_REACH  65535
/* The lower two bits of a tag; the others are a length. */
#define TAG_COPY_2 2U
#define TAG_COPY_4 3U
#define COPY_SIZE  5

void snappy_writer_release(struct snappy_writer *writer)
{
	strbuf_release(&writer->out);
	*writer = (struct snappy_writer){ 0 };
}

void snappy_writer_reset(struct snappy_writer *writer)
{
	strbuf_reset(&writer->out);
	writer->content_len = writer->literal_at = writer->copy_len = 0;
}

/* The head of a literal of more than LITERAL_SHORT bytes has one or two more. */
static void end_long_literal(struct snappy_writer *writer, size_t len)
{
	struct strbuf *out = &writer->out;
	size_t at = writer->literal_at, more = len <= 256 ? 1 : 2;

	if (!strbuf_reserve(out, more))
		return;
	memmove(out->data + at + 1 + more, out->data + at + 1, len);
	out->len += more;
	out->data[at] = (char)((LITERAL_SHORT + more - 1) << 2);
	out->data[at + 1] = (char)(len - 1);
	if (more == 2)
		out->data[at + 2] = (char)((len - 1) >> 8);
}

static inline void end_literal(struct snappy_writer *writer)
{
	size_t len = writer->out.len - writer->literal_at - 1;

	if (len > LITERAL_SHORT)
		end_long_literal(writer, len);
	else
		writer->out.data[writer->literal_at] = (char)((len - 1) << 2);
	writer->literal_at = 0;
}

static inline char *put_copy(char *at, size_t back, size_t len)
{
	bool is_near = back <= COPY_2_REACH;

	at[0] = (char)((len - 1) << 2 | (is_near ? TAG_COPY_2 : TAG_COPY_4));
	at[1] = (char)back;
	at[2] = (char)(back >> 8);
	at[3] = (char)(back >> 16);
	at[4] = (char)(back >> 24);
	return at + (is_near ? 3 : 5);
}

static inline void end_copy(struct snappy_writer *writer)
{
	size_t back = writer->content_len - writer->copy_len - writer->copy_at;
	size_t left = writer->copy_len;
	struct strbuf *out = &writer->out;
	size_t most = left / COPY_MAX * COPY_SIZE + 2 * COPY_SIZE;
	char *at;

	writer->copy_len = 0;
	if (out->len + most >= out->size && !strbuf_reserve(out, most))
		return;
	at = out->data + out->len;
	for (; left > COPY_MAX; left -= COPY_MAX)
		at = put_copy(at, back, COPY_MAX);
	at = put_copy(at, back, left);
	out->len = (size_t)(at - out->data);
}

static inline bool begin_literal(struct snappy_writer *writer)
{
	struct strbuf *out = &writer->out;

	if (out->len + HEAD_SIZE + 1 >= out->size && !strbuf_reserve(out, HEAD_SIZE + 1))
		return false;
	if (!out->len)
		out->len = HEAD_SIZE;
	writer->literal_at = out->len++;
	return true;
}

void snappy_writer_add(struct snappy_writer *writer, const char *bytes, size_t len)
{
	struct strbuf *out = &writer->out;

	if (writer->copy_len)
		end_copy(writer);
	while (len) {
		size_t part;

		if (!writer->literal_at && !begin_literal(writer))
			return;
		part = MIN(len, LITERAL_MAX - (out->len - writer->literal_at - 1));
		if (out->len + part >= out->size && !strbuf_reserve(out, part))
			return;
		memcpy(out->data + out->len, bytes, part);
		out->len += part;
		writer->content_len += part;
		bytes += part;
		len -= part;
		if (len)
			end_literal(writer);
	}
}

void snappy_writer_refer(struct snappy_writer *writer, size_t at, size_t len)
{
	if (writer->literal_at)
		end_literal(writer);
	if (writer->copy_len)
		end_copy(writer);
	writer->copy_at = at;
	writer->copy_len = len;
	writer->content_len += len;
}

const char *snappy_writer_finish(struct snappy_writer *writer, size_t *ret_len)
{
	struct strbuf *out = &writer->out;
	size_t head_len = protobuf_varint_len(writer->content_len);

	if (!out->len) { /* nothing at all, or there was no memory */
		if (!strbuf_reserve(out, HEAD_SIZE))
			return NULL;
		out->len = HEAD_SIZE;
	}
	if (writer->literal_at)
		end_literal(writer);
	if (writer->copy_len)
		end_copy(writer);
	if (strbuf_error(out) < 0)
		return NULL;
	(void)protobuf_put_varint(out->data + HEAD_SIZE - head_len, writer->content_len);
	*ret_len = out->len - HEAD_SIZE + head_len;
	return out->data + HEAD_SIZE - head_len;
}
