// SPDX-License-Identifier: Apache-2.0
/*
 * At depth 1 are the outer object's keys: after "items" and a [ each object of depth 3 is an item.
 * Pieces are added to the item, else to the rest.
 */
#include "kube/object_stream.h"

#include <errno.h>
#include <string.h>

#define DEPTH_OUTER 1
#define DEPTH_ITEMS 2

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
	return stream->in_items && stream->scan.depth > DEPTH_ITEMS;
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
	if (stream->in_items && stream->scan.depth == DEPTH_ITEMS)
		return 0; /* commas and blanks between items */
	if (stream->rest.len + len > OBJECT_STREAM_REST_MAX)
		return -EMSGSIZE;
	strbuf_add(&stream->rest, bytes, len);
	return strbuf_error(&stream->rest);
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

static int take_open(struct object_stream *stream, const char *bracket)
{
	int r;

	if (stream->scan.depth == DEPTH_OUTER && *bracket != '{')
		return -EPROTO;
	r = keep(stream, bracket, 1);
	if (stream->scan.depth == DEPTH_ITEMS && *bracket == '[' && stream->key_is_items)
		stream->in_items = true;
	return r;
}

static int take_close(struct object_stream *stream, const char *bracket)
{
	size_t depth = stream->scan.depth;
	int r;

	if (depth == 0)
		return -EPROTO;
	if (stream->in_items && depth == DEPTH_ITEMS)
		stream->in_items = stream->key_is_items = false;
	r = keep(stream, bracket, 1);
	stream->ended = depth == DEPTH_OUTER;
	return r == 0 && stream->in_items && depth == DEPTH_ITEMS + 1 ? end_item(stream) : r;
}

static int take_string(struct object_stream *stream, const char *bytes, size_t len, bool begins)
{
	int r;

	if (stream->scan.depth == 0)
		return -EPROTO;
	if (begins)
		stream->key_begin = stream->rest.len;
	r = keep(stream, bytes, len);
	if (r == 0 && !stream->scan.in_string && stream->scan.depth == DEPTH_OUTER)
		note_key(stream);
	return r;
}

static int take_other(struct object_stream *stream, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len && stream->scan.depth <= DEPTH_OUTER; i++) {
		bool blank = json_is_blank(bytes[i]);

		if (stream->scan.depth == 0 && !blank)
			return -EPROTO;
		if (!blank && bytes[i] != ':')
			stream->key_is_items = false;
	}
	return stream->ended ? 0 : keep(stream, bytes, len);
}

static int feed_some(struct object_stream *stream, const char *bytes, size_t len, size_t *ret_taken)
{
	bool begins = !stream->scan.in_string;
	enum json_piece piece;

	*ret_taken = json_scan_next(&stream->scan, bytes, len, &piece);
	if (stream->ended && piece != PIECE_OTHER)
		return -EPROTO;
	switch (piece) {
	case PIECE_STRING:
		return take_string(stream, bytes, *ret_taken, begins);
	case PIECE_OPEN:
		return take_open(stream, bytes);
	case PIECE_CLOSE:
		return take_close(stream, bytes);
	case PIECE_OTHER:
		break;
	}
	return take_other(stream, bytes, *ret_taken);
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
