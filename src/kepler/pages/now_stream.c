// SPDX-License-Identifier: Apache-2.0
/*
 * The newest snapshot is looked at after the wake for the next one was asked for: one that comes in
 * between is either seen now or wakes the server again. A reader that is slower than the intervals
 * gets the newest one when it is ready for it.
 */
#include "kepler/pages/now_stream.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/num.h"
#include "host/user_names.h"

struct now_stream {
	const struct now_stream_source *source;
	struct now_query query;
	struct viewer viewer;
	uint64_t sequence; /* of the snapshot that was answered last */
	struct strbuf line;
};

static int answer_from(const struct snapshot *snapshot, struct snapshot_holder *holder,
		       const struct now_query *of, const struct viewer *viewer, uint64_t now_ns,
		       struct strbuf *out)
{
	struct now_query query = *of;
	int r;

	if (viewer->sight == SIGHT_OWN) {
		query.shows = viewer_owns;
		query.userdata = viewer;
	}
	now_query_want(&query, holder, now_ns);
	if (query.view == VIEW_USER)
		query.users = user_names_read(USER_NAMES_FILE);
	r = now_page(snapshot, &query, out);
	user_names_free(query.users);
	return r;
}

int now_answer(struct snapshot_holder *holder, const struct now_query *query,
	       const struct viewer *viewer, uint64_t now_ns, struct strbuf *out)
{
	const struct snapshot *snapshot = snapshot_get(holder);
	int r = answer_from(snapshot, holder, query, viewer, now_ns, out);

	snapshot_put(holder, snapshot);
	return r;
}

/* Is it one that has not been answered, and may be? */
static bool is_due(struct now_stream *stream, const struct snapshot *snapshot, uint64_t now_ns)
{
	return snapshot && snapshot->sequence != stream->sequence &&
	       (stream->viewer.sight != SIGHT_OWN ||
		viewer_take_turn(stream->source->times, stream->viewer.uid, now_ns));
}

/* As http_response.next. */
static ssize_t next_line(void *owner, const void **ret)
{
	struct now_stream *stream = owner;
	struct snapshot_holder *holder = stream->source->holder;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	const struct snapshot *snapshot;
	int r = 0;

	snapshot_wake_ask(holder, stream->source->wake_fd);
	strbuf_reset(&stream->line);
	snapshot = snapshot_get(holder);
	if (is_due(stream, snapshot, now_ns)) {
		stream->sequence = snapshot->sequence;
		r = answer_from(snapshot, holder, &stream->query, &stream->viewer, now_ns,
				&stream->line);
	}
	snapshot_put(holder, snapshot);
	*ret = stream->line.data;
	return r < 0 ? r : (ssize_t)stream->line.len;
}

static void release(void *owner)
{
	struct now_stream *stream = owner;

	strbuf_release(&stream->line);
	free(stream);
}

int now_stream_begin(const struct now_stream_source *source, const struct now_query *query,
		     const struct viewer *viewer, uint64_t now_ns, struct http_response *response)
{
	struct now_stream *stream = calloc(1, sizeof(*stream));
	const struct snapshot *snapshot;
	int r;

	if (!stream)
		return -ENOMEM;
	*stream = (struct now_stream){ .source = source, .query = *query, .viewer = *viewer };
	snapshot = snapshot_get(source->holder);
	stream->sequence = snapshot ? snapshot->sequence : 0;
	r = answer_from(snapshot, source->holder, query, viewer, now_ns, &stream->line);
	snapshot_put(source->holder, snapshot);
	if (r < 0) {
		release(stream);
		return r;
	}
	*response = (struct http_response){
		.status = 200,
		.content_type = NOW_FOLLOW_TYPE,
		.body = stream->line.data,
		.len = stream->line.len,
		.release = release,
		.owner = stream,
		.next = next_line,
		.stream_ns = query->follow_s * NSEC_PER_SEC,
	};
	return 0;
}
