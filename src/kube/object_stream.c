// SPDX-License-Identifier: Apache-2.0
/*
 * Follows strings and brackets. At depth 1 stand the outer object's keys: behind "items" and a [
 * each object of depth 3 is an item. Bytes go to the item, else to the rest, in runs.
 */
#include "kube/object_stream.h"

#include <errno.h>
#include <string.h>

#define DEPTH_OUTER 1
#define DEPTH_ITEMS 2
#define DEPTH_MAX   (1U << 20)

void object_stream_init(struct object_stream *stream, size_t max_item, object_stream_item_fn *item,
			void *userdata)
{
	*stream = (struct object_stream){
		.max_item = max_item,
		.item = item,
		.userdata = userdata,
	};
}

void object_stream_release(struct object_stream *stream)
{
	strbuf_release(&stream->current);
	strbuf_release(&stream->rest);
}

static bool in_item(const struct object_stream *stream)
{
	return stream->in_items && stream->depth > DEPTH_ITEMS;
}

/* Keeps @len bytes that lie outside of items or within one. */
static int keep(struct object_stream *stream, const char *bytes, size_t len)
{
	if (in_item(stream)) {
		if (stream->skipping || stream->current.len + len > stream->max_item)
			stream->skipping = true;
		else
			strbuf_add(&stream->current, bytes, len);
		return strbuf_error(&stream->current);
	}
	if (stream->in_items && stream->depth == DEPTH_ITEMS)
		return 0; /* commas and blanks between items */
	if (stream->rest.len + len > OBJECT_STREAM_REST_MAX)
		return -EMSGSIZE;
	strbuf_add(&stream->rest, bytes, len);
	return strbuf_error(&stream->rest);
}

/* Up to the byte that ends the string or needs a look, that byte included. */
static size_t string_run(struct object_stream *stream, const char *bytes, size_t len)
{
	size_t at = 0;

	if (stream->escaped) {
		stream->escaped = false;
		return 1;
	}
	while (at < len && bytes[at] != '"' && bytes[at] != '\\')
		at++;
	if (at == len)
		return len;
	stream->escaped = bytes[at] == '\\';
	stream->in_string = stream->escaped;
	return at + 1;
}

/* A string at depth 1 has ended: is it the key of the items? */
static void note_key(struct object_stream *stream)
{
	static const char items[] = "\"items\"";
	size_t len = stream->rest.len - stream->key_begin;

	stream->key_is_items = len == sizeof(items) - 1 &&
			       memcmp(stream->rest.data + stream->key_begin, items, len) == 0;
}

static int end_item(struct object_stream *stream)
{
	bool skipped = stream->skipping;
	int r = stream->item(stream->userdata, skipped ? NULL : stream->current.data,
			     skipped ? 0 : stream->current.len);

	stream->skipping = false;
	strbuf_reset(&stream->current);
	return r;
}

static int open_bracket(struct object_stream *stream, const char *byte)
{
	int r = 0;

	if ((stream->depth == 0 && *byte != '{') || stream->depth == DEPTH_MAX)
		return -EPROTO;
	if (stream->in_items && stream->depth == DEPTH_ITEMS) {
		stream->depth++;
		return keep(stream, byte, 1);
	}
	r = keep(stream, byte, 1);
	if (stream->depth == DEPTH_OUTER && *byte == '[' && stream->key_is_items)
		stream->in_items = true;
	stream->depth++;
	return r;
}

static int close_bracket(struct object_stream *stream, const char *byte)
{
	int r;

	if (stream->depth == 0)
		return -EPROTO;
	if (stream->in_items && stream->depth == DEPTH_ITEMS) {
		stream->in_items = false;
		stream->key_is_items = false;
	}
	r = keep(stream, byte, 1);
	stream->depth--;
	if (r < 0)
		return r;
	if (stream->in_items && stream->depth == DEPTH_ITEMS)
		return end_item(stream);
	stream->ended = stream->depth == 0;
	return 0;
}

/* Bytes outside of strings and brackets: up to the next of these. */
static int plain_run(struct object_stream *stream, const char *bytes, size_t len, size_t *ret_taken)
{
	static const char blanks[] = " \t\r\n";
	size_t at = 0;

	while (at < len && !memchr("{}[]\"", bytes[at], 5)) {
		bool blank = memchr(blanks, bytes[at], sizeof(blanks) - 1);

		if (stream->depth == 0 && !blank)
			return -EPROTO;
		if (!blank && bytes[at] != ':' && stream->depth == DEPTH_OUTER)
			stream->key_is_items = false;
		at++;
	}
	*ret_taken = at;
	return keep(stream, bytes, at);
}

static int begin_string(struct object_stream *stream, const char *byte)
{
	if (stream->depth == 0)
		return -EPROTO;
	stream->in_string = true;
	stream->key_begin = stream->rest.len;
	return keep(stream, byte, 1);
}

static int in_string(struct object_stream *stream, const char *bytes, size_t len, size_t *ret_taken)
{
	int r;

	*ret_taken = string_run(stream, bytes, len);
	r = keep(stream, bytes, *ret_taken);
	if (r == 0 && !stream->in_string && stream->depth == DEPTH_OUTER)
		note_key(stream);
	return r;
}

static int feed_some(struct object_stream *stream, const char *bytes, size_t len, size_t *ret_taken)
{
	*ret_taken = 1;
	if (stream->in_string)
		return in_string(stream, bytes, len, ret_taken);
	if (stream->ended)
		return memchr(" \t\r\n", *bytes, 4) ? 0 : -EPROTO;
	switch (*bytes) {
	case '"':
		return begin_string(stream, bytes);
	case '{':
	case '[':
		return open_bracket(stream, bytes);
	case '}':
	case ']':
		return close_bracket(stream, bytes);
	default:
		return plain_run(stream, bytes, len, ret_taken);
	}
}

int object_stream_feed(struct object_stream *stream, const char *bytes, size_t len)
{
	while (len) {
		size_t taken = 0;
		int r = feed_some(stream, bytes, len, &taken);

		if (r)
			return r;
		bytes += taken;
		len -= taken;
	}
	return 0;
}

int object_stream_end(const struct object_stream *stream)
{
	return stream->ended ? 0 : -EPROTO;
}
