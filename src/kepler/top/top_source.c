// SPDX-License-Identifier: Apache-2.0
#include "kepler/top/top_source.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/macro.h"
#include "engine/session.h"
#include "export/now_page.h"
#include "host/user_names.h"
#include "kepler/top/top_feed.h"
#include "kepler/top/top_past.h"
#include "net/local_client.h"

_Static_assert((int)TOP_BY_WATTS == (int)NOW_BY_WATTS && (int)TOP_BY_NAME == (int)NOW_BY_NAME,
	       "orders are those of the page");

/* As long as keys may wait for the rows that they ask for. */
#define ANSWER_MS 500

struct top_source {
	const struct config *config;
	struct local_client *client; /* of an exporter; or NULL */
	struct top_feed *feed;       /* of an exporter that is followed; or NULL */
	struct top_past *past; /* of recordings; or NULL: without both it measures by itself */
	struct session session;
};

static int take_from_feed(struct top_feed *feed, const char *target, struct strbuf *ret,
			  struct diag *diag)
{
	struct pollfd ready = { .fd = top_feed_fd(feed), .events = POLLIN };

	top_feed_want(feed, target);
	(void)poll(&ready, 1, ANSWER_MS);
	return top_feed_take(feed, ret, diag);
}

static bool is_exporter(const struct top_source *source)
{
	return source->client || source->feed;
}

static int ask_exporter(struct top_source *source, unsigned view, enum top_sort sort,
			uint32_t limit, struct strbuf *ret, struct diag *diag)
{
	char target[96];

	(void)snprintf(target, sizeof(target), NOW_PAGE_PATH "?level=%s&sort=%s&limit=%u",
		       view_name(view), top_sort_names[sort], limit);
	if (source->feed)
		return take_from_feed(source->feed, target, ret, diag);
	return local_client_get(source->client, target, NOW_ANSWER_MAX, ret, NULL, diag);
}

/* Makes the answer from its own session, or from recordings. */
static int make_page(struct top_source *source, unsigned view, enum top_sort sort, uint32_t limit,
		     struct strbuf *ret)
{
	struct now_query query = { .view = view, .sort = (enum now_sort)sort, .limit = limit };
	const struct snapshot *snapshot;
	int r;

	strbuf_reset(ret);
	if (source->past)
		return top_past_fetch(source->past, &query, ret);
	now_query_want(&query, source->session.holder, clock_ns(CLOCK_MONOTONIC));
	if (view == VIEW_USER)
		query.users = user_names_read(USER_NAMES_FILE);
	snapshot = snapshot_get(source->session.holder);
	r = now_page(snapshot, &query, ret);
	snapshot_put(source->session.holder, snapshot);
	user_names_free(query.users);
	return r == -ENODATA ? -EAGAIN : r;
}

int top_source_fetch(struct top_source *source, unsigned view, enum top_sort sort, uint32_t limit,
		     struct strbuf *ret, struct diag *diag)
{
	return is_exporter(source) ? ask_exporter(source, view, sort, limit, ret, diag)
				   : make_page(source, view, sort, limit, ret);
}

bool top_source_measures(const struct top_source *source)
{
	return !is_exporter(source) && !source->past;
}

bool top_source_is_fed(const struct top_source *source)
{
	return source->feed;
}

bool top_source_is_past(const struct top_source *source)
{
	return source->past;
}

int top_source_move(struct top_source *source, int steps, struct diag *diag)
{
	return top_past_move(source->past, steps, diag);
}

void top_source_measure(struct top_source *source)
{
	if (top_source_measures(source))
		(void)session_run_interval(&source->session); /* its state is in the reading */
}

int top_source_fd(const struct top_source *source)
{
	if (source->feed)
		return top_feed_fd(source->feed);
	return top_source_measures(source) ? activity_fd(source->session.sources.activity) : -1;
}

bool top_source_drain(struct top_source *source)
{
	if (top_source_measures(source))
		activity_drain(source->session.sources.activity);
	return source->feed;
}

static int open_session(struct top_source *source, struct diag *diag)
{
	struct session *session = &source->session;
	int r = session_begin(session, source->config, false, diag);

	if (r == 0)
		r = session_open_processes(session, diag);
	if (r == 0)
		r = session_open_meters(session, diag);
	return r < 0 ? r : session_open_engine(session, diag);
}

int top_source_open(const struct config *config, bool may_measure, bool follows,
		    struct top_source **ret, struct diag *diag)
{
	struct top_source *source = calloc(1, sizeof(*source));
	struct diag of_exporter = { "" };
	int r;

	if (!source)
		return diag_set(diag, -ENOMEM, "out of memory");
	source->config = config;
	source->session = (struct session)SESSION_INIT;
	if (follows)
		r = top_feed_open(config->local.socket, &source->feed, &of_exporter);
	else
		r = local_client_open(config->local.socket, "kepler-top", &source->client,
				      &of_exporter);
	if (r < 0 && !may_measure)
		r = local_client_refused(&of_exporter, "top", diag);
	else if (r < 0)
		r = open_session(source, diag);
	if (r < 0) {
		top_source_close(source);
		return r;
	}
	*ret = source;
	return 0;
}

int top_source_open_past(const struct config *config, int64_t at_ms, struct top_source **ret,
			 struct diag *diag)
{
	struct top_source *source = calloc(1, sizeof(*source));
	int r;

	if (!source)
		return diag_set(diag, -ENOMEM, "out of memory");
	source->config = config;
	r = top_past_open(config, at_ms, &source->past, diag);
	if (r < 0)
		free(source);
	else
		*ret = source;
	return r;
}

void top_source_close(struct top_source *source)
{
	if (!source)
		return;
	if (top_source_measures(source))
		(void)session_close(&source->session, 0);
	top_past_close(source->past);
	local_client_close(source->client);
	top_feed_close(source->feed);
	free(source);
}
