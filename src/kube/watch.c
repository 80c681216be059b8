// SPDX-License-Identifier: Apache-2.0
/* Lines are collected, each is parsed as a whole, and reported as an event. */
#include "kube/watch.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "kube/json_bounded.h"

#define LINE_KEPT_MAX 65536 /* memory that stays for the next line */

void watch_init(struct watch *watch, size_t max_line, watch_event_fn *event, void *userdata)
{
	*watch = (struct watch){ .max_line = max_line, .event = event, .userdata = userdata };
}

void watch_release(struct watch *watch)
{
	strbuf_release(&watch->line);
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* A Status object (k8s.io/apimachinery/pkg/apis/meta/v1, types.go), bare or in an event. */
static void read_status(const json_t *status, struct watch_event *event)
{
	json_int_t code = json_integer_value(json_object_get(status, "code"));

	event->type = WATCH_ERROR;
	event->code = code > 0 && code < 1000 ? (int)code : 0;
	event->message = text_of(status, "message");
}

static void read_event(const json_t *root, struct watch_event *event)
{
	const json_t *object = json_object_get(root, "object");
	const char *type = text_of(root, "type");

	*event = (struct watch_event){ .type = WATCH_BAD, .resource_version = "", .message = "" };
	if (strcmp(text_of(root, "kind"), "Status") == 0) {
		read_status(root, event);
		return;
	}
	if (!json_is_object(object))
		return;
	if (strcmp(type, "ERROR") == 0) {
		read_status(object, event);
		return;
	}
	event->resource_version = text_of(json_object_get(object, "metadata"), "resourceVersion");
	if (strcmp(type, "BOOKMARK") == 0) {
		event->type = WATCH_BOOKMARK;
		return;
	}
	if (strcmp(type, "ADDED") == 0 || strcmp(type, "MODIFIED") == 0)
		event->type = WATCH_PUT;
	else if (strcmp(type, "DELETED") == 0)
		event->type = WATCH_DELETED;
	if (event->type != WATCH_BAD)
		event->object = object;
}

static bool is_blank(const struct strbuf *line)
{
	for (size_t i = 0; i < line->len; i++) {
		if (!memchr(" \t\r", line->data[i], 3))
			return false;
	}
	return true;
}

static int end_line(struct watch *watch)
{
	struct watch_event event = { .type = WATCH_BAD, .resource_version = "", .message = "" };
	json_t *root = NULL;
	int r;

	if (!watch->skipping && is_blank(&watch->line)) {
		strbuf_reset(&watch->line);
		return 0;
	}
	if (!watch->skipping)
		root = json_parse_bounded(watch->line.data, watch->line.len);
	if (root)
		read_event(root, &event);
	watch->events++;
	r = watch->event(watch->userdata, &event);
	json_decref(root);
	watch->skipping = false;
	strbuf_reset(&watch->line);
	if (watch->line.size > LINE_KEPT_MAX)
		strbuf_release(&watch->line);
	return r;
}

int watch_feed(struct watch *watch, const char *bytes, size_t len)
{
	while (len) {
		const char *newline = memchr(bytes, '\n', len);
		size_t part = newline ? (size_t)(newline - bytes) : len;
		int r;

		if (watch->skipping || watch->line.len + part > watch->max_line) {
			watch->skipping = true;
			strbuf_reset(&watch->line);
		} else {
			strbuf_add(&watch->line, bytes, part);
		}
		r = strbuf_error(&watch->line);
		if (r == 0 && newline)
			r = end_line(watch);
		if (r)
			return r;
		part += newline != NULL;
		bytes += part;
		len -= part;
	}
	return 0;
}

bool watch_is_within_line(const struct watch *watch)
{
	return watch->skipping || watch->line.len;
}

int watch_end(struct watch *watch)
{
	return watch_is_within_line(watch) ? end_line(watch) : 0;
}
