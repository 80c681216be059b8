// SPDX-License-Identifier: Apache-2.0
#include "kepler/pages/pages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "explain/explain_desk.h"
#include "explain/explain_page.h"
#include "export/gzip_body.h"
#include "export/history_page.h"
#include "export/landing_page.h"
#include "export/namespace_view.h"
#include "export/now_page.h"
#include "export/prometheus.h"
#include "export/scrape_pace.h"
#include "export/send/receivers_page.h"
#include "export/unused_page.h"
#include "kepler/pages/now_stream.h"
#include "kepler/pages/stat_route.h"
#include "service/heartbeat.h"
#include "snapshot/snapshot.h"
#include "stat/stat_reading.h"

#define READY_INTERVALS 3
#define HUNG_RETRY_S    10
#define GZIP_MIN        2048
#define VIEWER_REFUSED                                                                             \
	"403: this user may not see the energy of this machine; --local.group and "                \
	"--local.everyone of the exporter decide\n"

static void answer_text(struct http_response *response, int status, const char *text)
{
	response->status = status;
	response->content_type = "text/plain; charset=utf-8";
	response->body = text;
	response->len = strlen(text);
}

/* Reports how long the loop has stood still and where; without memory, only that it does. */
static void answer_hung(struct http_response *response, const struct heartbeat_state *state)
{
	char *text = NULL;

	if (asprintf(&text, "the measuring loop has hung for %.0f s (limit %.0f s) at: %s\n",
		     (double)state->silence_ns / 1e9, (double)state->limit_ns / 1e9,
		     state->doing) < 0) {
		answer_text(response, 503, "the measuring loop hangs\n");
	} else {
		answer_text(response, 503, text);
		response->release = free;
		response->owner = text;
	}
	response->retry_after_s = HUNG_RETRY_S;
}

/* false: it has been answered that the page is not for this peer. */
static bool is_shown_all(const struct pages *pages, const struct http_request *request,
			 struct http_response *response)
{
	if (viewer_of(pages->viewing, request).sight == SIGHT_ALL)
		return true;
	answer_text(response, 403, VIEWER_REFUSED);
	return false;
}

static void handle_healthz(void *userdata, const struct http_request *request,
			   struct http_response *response)
{
	const struct pages *pages = userdata;
	const struct heartbeat_state state =
		heartbeat_look(pages->heartbeat, clock_ns(CLOCK_MONOTONIC));

	(void)request;
	if (state.alive)
		answer_text(response, 200, "ok\n");
	else
		answer_hung(response, &state);
}

/* The rows of one namespace alone. */
static void answer_namespace(struct pages *pages, const struct http_request *request,
			     struct http_response *response)
{
	if (namespace_view_is_name(request->namespace))
		page_cache_handle_namespace(pages->metrics, request->namespace, request, response);
	else
		answer_text(
			response, 400,
			"400: namespace: must be the name of a namespace of Kubernetes; system, "
			"kernel and unknown are Kepler's words for what is in none\n");
}

/* A page of metrics, which counts as a scrape, unless its body was not wanted. */
static void answer_metrics(struct pages *pages, const struct http_request *request,
			   struct http_response *response, uint64_t now_ns)
{
	const struct snapshot *snapshot = snapshot_get(pages->holder);
	uint64_t shown_ns = snapshot ? snapshot->monotonic_ns : 0;

	snapshot_put(pages->holder, snapshot); /* the page shows this one or a newer one */
	if (request->namespace)
		answer_namespace(pages, request, response);
	else
		page_cache_handle_metrics(pages->metrics, request, response);
	if (response->status == 200 && !request->head)
		scrape_pace_note(pages->pace, request->client, now_ns, shown_ns);
}

/* The snapshot of a loop that hangs is outdated: no answer is better than an old one. */
static void handle_metrics(void *userdata, const struct http_request *request,
			   struct http_response *response)
{
	struct pages *pages = userdata;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	const struct heartbeat_state state = heartbeat_look(pages->heartbeat, now_ns);

	if (!is_shown_all(pages, request, response))
		return;
	if (state.alive)
		answer_metrics(pages, request, response, now_ns);
	else
		answer_hung(response, &state);
}

static void handle_readyz(void *userdata, const struct http_request *request,
			  struct http_response *response)
{
	struct pages *pages = userdata;
	const struct snapshot *snapshot = snapshot_get(pages->holder);
	uint64_t limit_ns =
		READY_INTERVALS * __atomic_load_n(&pages->interval_ns, __ATOMIC_RELAXED);
	bool any = snapshot;
	bool ready = any && clock_ns(CLOCK_MONOTONIC) - snapshot->monotonic_ns <= limit_ns;

	(void)request;
	snapshot_put(pages->holder, snapshot);
	if (ready) {
		answer_text(response, 200, "ready\n");
		return;
	}
	answer_text(response, 503,
		    any ? "not ready: the last snapshot is older than three intervals\n"
			: "not ready: there is no snapshot yet\n");
	response->retry_after_s = 1;
}

static void handle_explain(void *userdata, const struct http_request *request,
			   struct http_response *response)
{
	struct pages *pages = userdata;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), due_ns = 0;
	const struct heartbeat_state state = heartbeat_look(pages->heartbeat, now_ns);
	const struct snapshot *snapshot;

	if (!is_shown_all(pages, request, response))
		return;
	if (!state.alive) {
		answer_hung(response, &state);
		return;
	}
	snapshot = snapshot_get(pages->holder);
	if (snapshot)
		due_ns = snapshot->monotonic_ns +
			 __atomic_load_n(&pages->interval_ns, __ATOMIC_RELAXED);
	snapshot_put(pages->holder, snapshot);
	explain_page(pages->desk, request, now_ns, due_ns, response);
}

static void release_page(void *owner)
{
	struct strbuf *page = owner;

	strbuf_release(page);
	free(page);
}

/*
 * Compresses what is worth it, which bytes that stay on this machine are not; where memory is
 * short, the page stays as it is.
 */
static void compress(const struct pages *pages, const struct http_request *request,
		     struct strbuf *page, struct http_response *response)
{
	struct strbuf packed = STRBUF_INIT;

	if (pages->viewing || !request->accepts_gzip || page->len < GZIP_MIN ||
	    gzip_body(page->data, page->len, &packed) < 0) {
		strbuf_release(&packed);
		return;
	}
	strbuf_release(page);
	*page = packed;
	response->content_encoding = "gzip";
}

/* There is no page, for the reason @r. */
static void answer_none(struct http_response *response, int r)
{
	answer_text(response, 503,
		    r == -ENODATA ? "nothing has been read yet\n" : "out of memory\n");
	response->retry_after_s = 1;
}

/* Answers with a @page that was made for this request, with the result @r, and releases it. */
static void answer_made(const struct pages *pages, const struct http_request *request,
			struct http_response *response, struct strbuf *page, int r,
			const char *type)
{
	if (r == 0) {
		compress(pages, request, page, response);
		response->status = 200;
		response->content_type = type;
		response->body = page->data;
		response->len = page->len;
		response->release = release_page;
		response->owner = page;
		return;
	}
	if (page)
		release_page(page);
	answer_none(response, r);
}

static void handle_root(void *userdata, const struct http_request *request,
			struct http_response *response)
{
	struct pages *pages = userdata;
	const struct snapshot *snapshot;
	struct strbuf *page;

	if (!is_shown_all(pages, request, response))
		return;
	snapshot = snapshot_get(pages->holder);
	page = calloc(1, sizeof(*page));
	answer_made(pages, request, response, page, page ? landing_page(snapshot, page) : -ENOMEM,
		    LANDING_PAGE_TYPE);
	response->policy = LANDING_PAGE_POLICY;
	snapshot_put(pages->holder, snapshot);
}

static void answer_wrong(struct http_response *response, const struct diag *diag)
{
	char *text = NULL;

	if (asprintf(&text, "400: %s\n", diag->text) < 0) {
		answer_text(response, 503, "out of memory\n");
		return;
	}
	answer_text(response, 400, text);
	response->release = free;
	response->owner = text;
}

/* false: it has been answered that the peer may see nothing, or that the loop hangs. */
static bool is_served(struct pages *pages, const struct http_request *request, uint64_t now_ns,
		      struct viewer *ret, struct http_response *response)
{
	const struct heartbeat_state state = heartbeat_look(pages->heartbeat, now_ns);

	*ret = viewer_of(pages->viewing, request);
	if (ret->sight == SIGHT_NONE)
		answer_text(response, 403, VIEWER_REFUSED);
	else if (!state.alive)
		answer_hung(response, &state);
	return ret->sight != SIGHT_NONE && state.alive;
}

/* false: it has been answered that it is too early for a user that sees a part. */
static bool takes_turn(struct pages *pages, const struct viewer *viewer, uint64_t now_ns,
		       struct http_response *response)
{
	if (viewer->sight != SIGHT_OWN || viewer_take_turn(&pages->times, viewer->uid, now_ns))
		return true;
	answer_text(response, 429, "429: you are answered once per second\n");
	response->retry_after_s = 1;
	return false;
}

static void handle_now(void *userdata, const struct http_request *request,
		       struct http_response *response)
{
	struct pages *pages = userdata;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct strbuf *page;
	struct viewer viewer;
	struct now_query query;
	struct diag diag = { "" };
	int r;

	if (!is_served(pages, request, now_ns, &viewer, response))
		return;
	if (now_query_read(request, &query, &diag) < 0) {
		answer_wrong(response, &diag);
		return;
	}
	if (viewer.sight == SIGHT_OWN && query.view != LEVEL_PROCESS) {
		answer_text(response, 403,
			    "403: you can see your own processes only: level=process\n");
		return;
	}
	if (!takes_turn(pages, &viewer, now_ns, response))
		return;
	if (query.follow_s) {
		r = now_stream_begin(&pages->stream_source, &query, &viewer, now_ns, response);
		if (r < 0)
			answer_none(response, r);
		return;
	}
	page = calloc(1, sizeof(*page));
	answer_made(pages, request, response, page,
		    page ? now_answer(pages->holder, &query, &viewer, now_ns, page) : -ENOMEM,
		    NOW_PAGE_TYPE);
}

static void handle_history(void *userdata, const struct http_request *request,
			   struct http_response *response)
{
	struct pages *pages = userdata;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct history_window window;
	struct diag diag = { "" };
	struct viewer viewer;
	struct strbuf *page;
	int r = -ENOMEM;

	if (!is_served(pages, request, now_ns, &viewer, response))
		return;
	if (history_query_read(request, &window, &diag) < 0) {
		answer_wrong(response, &diag);
		return;
	}
	if (!takes_turn(pages, &viewer, now_ns, response))
		return;
	page = calloc(1, sizeof(*page));
	if (page)
		r = history_page(pages->history, &window, viewer.sight == SIGHT_OWN, page);
	answer_made(pages, request, response, page, r, HISTORY_PAGE_TYPE);
}

static void handle_stat(void *userdata, const struct http_request *request,
			struct http_response *response)
{
	struct pages *pages = userdata;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	const struct heartbeat_state state = heartbeat_look(pages->heartbeat, now_ns);
	const struct viewer viewer = viewer_of(pages->viewing, request);

	if (viewer.sight == SIGHT_NONE)
		answer_text(response, 403, VIEWER_REFUSED);
	else if (!state.alive)
		answer_hung(response, &state);
	else
		stat_route_answer(pages->stats, &viewer, &pages->times, request, response);
}

static void handle_findings(void *userdata, const struct http_request *request,
			    struct http_response *response)
{
	struct pages *pages = userdata;
	const struct snapshot *snapshot;
	struct viewer viewer;
	struct diag diag = { "" };
	struct strbuf *page;
	uint64_t least_ns;

	if (!is_shown_all(pages, request, response) ||
	    !is_served(pages, request, clock_ns(CLOCK_MONOTONIC), &viewer, response))
		return;
	if (unused_query_read(request, &least_ns, &diag) < 0) {
		answer_wrong(response, &diag);
		return;
	}
	snapshot = snapshot_get(pages->holder);
	page = calloc(1, sizeof(*page));
	answer_made(pages, request, response, page,
		    page ? unused_page(pages->unused, snapshot, least_ns, clock_ns(CLOCK_BOOTTIME),
				       page)
			 : -ENOMEM,
		    UNUSED_PAGE_TYPE);
	snapshot_put(pages->holder, snapshot);
}

static void handle_receivers(void *userdata, const struct http_request *request,
			     struct http_response *response)
{
	const struct pages *pages = userdata;
	struct strbuf *page;

	if (!is_shown_all(pages, request, response))
		return;
	page = calloc(1, sizeof(*page));
	answer_made(pages, request, response, page,
		    page ? receivers_page(pages->sends,
					  (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_MSEC), page)
			 : -ENOMEM,
		    RECEIVERS_PAGE_TYPE);
}

static void set_routes(struct pages *pages)
{
	const struct http_route routes[PAGES_ROUTES] = {
		{ "/", handle_root, pages },
		{ "/metrics", handle_metrics, pages, .by_namespace = true },
		{ "/healthz", handle_healthz, pages, .spare = true, .is_open = true },
		{ "/readyz", handle_readyz, pages, .spare = true, .is_open = true },
		{ EXPLAIN_PATH, handle_explain, pages, .spare = true, .prefix = true,
		  .local_only = true },
		{ EXPLAIN_API_PATH, handle_explain, pages, .spare = true, .prefix = true,
		  .local_only = true },
		{ NOW_PAGE_PATH, handle_now, pages },
		{ HISTORY_PAGE_PATH, handle_history, pages },
		{ UNUSED_PAGE_PATH, handle_findings, pages },
		{ RECEIVERS_PAGE_PATH, handle_receivers, pages, .local_only = true },
		{ STAT_PAGE_PATH, handle_stat, pages, .spare = true, .local_only = true },
	};

	memcpy(pages->routes, routes, sizeof(routes));
}

int pages_init(struct pages *pages, const struct exporter_program *program,
	       const struct viewing *viewing)
{
	*pages = (struct pages){
		.holder = program->holder,
		.heartbeat = program->heartbeat,
		.desk = program->desk,
		.history = program->history,
		.unused = program->unused,
		.stats = program->stats,
		.sends = program->sends,
		.pace = program->pace,
		.viewing = viewing,
		.interval_ns = program->config->monitor.interval_ns,
	};
	pages->stream_source = (struct now_stream_source){
		.holder = program->holder,
		.wake_fd = snapshot_wake_open_asked(program->holder),
		.times = &pages->times,
	};
	if (pages->stream_source.wake_fd < 0)
		return pages->stream_source.wake_fd;
	set_routes(pages);
	return page_cache_new(&prometheus_pages, program->holder, program->pages, &pages->metrics);
}

void pages_release(struct pages *pages)
{
	page_cache_free(pages->metrics);
	pages->metrics = NULL;
}

void pages_reconfigure(struct pages *pages, const struct config *config)
{
	__atomic_store_n(&pages->interval_ns, config->monitor.interval_ns, __ATOMIC_RELAXED);
	page_cache_set_options(pages->metrics, &config->pages);
}
