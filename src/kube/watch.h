/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A watch: JSON events, one a line, {"type":"ADDED","object":{…}}. Pure.
 *
 * The end of a watch that is too old (410) comes in two forms: as the status of the answer with
 * a Status object as its body, and as an ERROR event that holds one within a stream that began with
 * 200. Both become WATCH_ERROR with the code. A line that is too long is skipped to its end; one
 * that is not an event is reported as WATCH_BAD. The others are processed.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

enum watch_type { WATCH_PUT, WATCH_DELETED, WATCH_BOOKMARK, WATCH_ERROR, WATCH_BAD };

struct watch_event {
	enum watch_type type;
	const json_t *object;         /* PUT, DELETED; else NULL */
	const char *resource_version; /* of the object; "" none */
	int code;                     /* ERROR: a status such as 410, 0 unknown */
	const char *message;          /* ERROR: "" none */
};

/* Valid during the call. A result other than 0 ends the feeding with it. */
typedef int watch_event_fn(void *userdata, const struct watch_event *event);

struct watch {
	size_t max_line;
	watch_event_fn *event;
	void *userdata;
	/* ---- its own ---- */
	struct strbuf line;
	bool skipping;
	uint64_t events; /* that were reported */
};

void watch_init(struct watch *watch, size_t max_line, watch_event_fn *event, void *userdata);
void watch_release(struct watch *watch);
/* 0, -ENOMEM, or what @event says. */
int watch_feed(struct watch *watch, const char *bytes, size_t len);
/* Returns true if a line has begun that has not ended. */
bool watch_is_within_line(const struct watch *watch);
/* The last line, where no newline ended it: an answer that is one Status, or a cut event. */
int watch_end(struct watch *watch);
