/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of /api/v1/now that follow each other, one for each interval, as a client asks for with
 * follow=: it needs neither a connection nor a request for each, and costs nothing between them.
 */
#pragma once

#include "export/now_page.h"
#include "kepler/pages/viewer.h"
#include "net/server/http_handler.h"
#include "snapshot/snapshot.h"

/* Borrowed for the server's life. */
struct now_stream_source {
	struct snapshot_holder *holder;
	int wake_fd;                /* snapshot_wake_open_asked(): the server's, too */
	struct viewer_times *times; /* of users that see a part */
};

/*
 * The first answer for @query and @viewer, with those that follow. What the viewer may see is
 * decided already; its .shows and .userdata are set here. 0, or an error of now_page().
 */
int now_stream_begin(const struct now_stream_source *source, const struct now_query *query,
		     const struct viewer *viewer, uint64_t now_ns, struct http_response *response);
/* One answer: @query with what @viewer sees of it. As now_page(). */
int now_answer(struct snapshot_holder *holder, const struct now_query *query,
	       const struct viewer *viewer, uint64_t now_ns, struct strbuf *out);
