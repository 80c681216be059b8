/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of Kubernetes objects, one at a time. Pure.
 *
 * A list is one JSON object, {"kind":"PodList","metadata":{…},"items":[…]}, of any size: the API
 * server ignores `limit` when it answers from its cache, and the kubelet has no paging at all. So
 * the bytes are cut into items as they arrive, and only one item is held at a time. The text around
 * the items (or the whole answer if it is not a list, as with errors) is kept too, up to
 * OBJECT_STREAM_REST_MAX. Only brackets are checked here: each item is text for a parser.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "base/text/json_scan.h"

#define OBJECT_STREAM_REST_MAX 65536

/*
 * Gets one item; NULL: it had more than max_item bytes. A result other than 0 ends the feeding with
 * it.
 */
typedef int object_stream_item_fn(void *userdata, const char *text, size_t len);

struct object_stream {
	size_t max_item;
	object_stream_item_fn *item;
	void *userdata;
	/* ---- its own ---- */
	struct strbuf current, rest;
	size_t key_begin; /* in rest, of the last string at depth 1 */
	struct json_scan scan;
	bool in_items, skipping, key_is_items, ended;
};

void object_stream_init(struct object_stream *stream, size_t max_item, object_stream_item_fn *item,
			void *userdata);
void object_stream_release(struct object_stream *stream);
/* 0; -EPROTO: no JSON object; -EMSGSIZE: too much outside of items; -ENOMEM; or @item's result. */
int object_stream_feed(struct object_stream *stream, const char *bytes, size_t len);
/* 0 once the outer object is whole, its text without items in stream->rest; else -EPROTO. */
int object_stream_end(const struct object_stream *stream);
