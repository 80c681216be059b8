// SPDX-License-Identifier: Apache-2.0
#include "kepler/top/top_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "engine/session.h"
#include "export/now_page.h"
#include "net/http_client.h"

#define CONNECT_MS 1000
#define ANSWER_MS  2000

_Static_assert((int)TOP_BY_WATTS == (int)NOW_BY_WATTS && (int)TOP_BY_NAME == (int)NOW_BY_NAME,
	       "orders are those of the page");

struct top_source {
	const struct config *config;
	struct http_client *client; /* NULL: it measures by itself */
	struct session session;
};

static int take_body(void *userdata, const char *bytes, size_t len)
{
	struct strbuf *body = userdata;

	strbuf_add(body, bytes, len);
	return strbuf_error(body);
}

/* Takes the reason from an answer that refuses: "403: this user …". */
static int refuse(const char *socket, const struct http_reply *reply, const struct strbuf *body,
		  struct diag *diag)
{
	const char *text = body->len ? body->data : "";
	char number[8];
	size_t skip;

	(void)snprintf(number, sizeof(number), "%d: ", reply->status);
	skip = strncmp(text, number, strlen(number)) == 0 ? strlen(number) : 0;
	return diag_set(diag, reply->status == 503 || reply->status == 429 ? -EAGAIN : -EACCES,
			"%s: %.*s", socket, (int)strcspn(text + skip, "\n"), text + skip);
}

static int ask(struct top_source *source, const char *target, struct strbuf *ret, struct diag *diag)
{
	char url[160];
	struct http_reply reply = { 0 };
	const struct http_request_options request = {
		.url = url,
		.accept = NOW_PAGE_TYPE,
		.connect_timeout_ms = CONNECT_MS,
		.timeout_ms = ANSWER_MS,
		.max_bytes = NOW_ANSWER_MAX,
	};
	int r;

	(void)snprintf(url, sizeof(url), "http://localhost%s", target);
	strbuf_reset(ret);
	r = http_client_get(source->client, &request, take_body, ret, &reply, diag);
	if (r < 0 &&
	    r != -ENOMEM) /* the library names a host and a port, which there are none of */
		return diag_set(diag, r, "no exporter responds at %s",
				source->config->local.socket);
	if (r < 0 || reply.status == 200)
		return r;
	return refuse(source->config->local.socket, &reply, ret, diag);
}

static int ask_exporter(struct top_source *source, enum level level, enum top_sort sort,
			uint32_t limit, struct strbuf *ret, struct diag *diag)
{
	char target[96];

	(void)snprintf(target, sizeof(target), NOW_PAGE_PATH "?level=%s&sort=%s&limit=%u",
		       level_info[level].name, top_sort_names[sort], limit);
	return ask(source, target, ret, diag);
}

static int make_page(struct top_source *source, enum level level, enum top_sort sort,
		     uint32_t limit, struct strbuf *ret)
{
	const struct now_query query = { .level = level,
					 .sort = (enum now_sort)sort,
					 .limit = limit };
	const struct snapshot *snapshot;
	int r;

	if (now_query_wants_rows(&query))
		snapshot_want_rows(source->session.holder, clock_ns(CLOCK_MONOTONIC));
	snapshot = snapshot_get(source->session.holder);
	strbuf_reset(ret);
	r = now_page(snapshot, &query, ret);
	snapshot_put(source->session.holder, snapshot);
	return r == -ENODATA ? -EAGAIN : r;
}

int top_source_fetch(struct top_source *source, enum level level, enum top_sort sort,
		     uint32_t limit, struct strbuf *ret, struct diag *diag)
{
	return source->client ? ask_exporter(source, level, sort, limit, ret, diag)
			      : make_page(source, level, sort, limit, ret);
}

bool top_source_measures(const struct top_source *source)
{
	return !source->client;
}

void top_source_measure(struct top_source *source)
{
	if (!source->client)
		(void)session_run_interval(&source->session); /* its state is in the reading */
}

int top_source_fd(const struct top_source *source)
{
	return source->client ? -1 : activity_fd(source->session.sources.activity);
}

void top_source_drain(struct top_source *source)
{
	if (!source->client)
		activity_drain(source->session.sources.activity);
}

/* 0 where an exporter answers, whatever it answers. */
static int open_exporter(struct top_source *source, struct diag *diag)
{
	const char *socket = source->config->local.socket;
	const struct http_client_options options = {
		.user_agent = "kepler-top", .unix_socket = socket, .cancel_fd = -1, .is_local = true
	};
	CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT;
	int r;

	if (!*socket)
		return diag_set(diag, -ENOENT, "local.socket is empty");
	if (access(socket, W_OK) < 0)
		return diag_set(diag, -errno, "%s: %s", socket, strerrordesc_np(errno));
	r = http_client_new(&options, &source->client, diag);
	if (r == 0)
		r = ask(source, "/healthz", &body, diag);
	if (r == -EAGAIN)
		return 0; /* it hangs, and may come back */
	if (r < 0) {
		http_client_free(source->client);
		source->client = NULL;
	}
	return r;
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

static int no_access(const struct diag *of_exporter, struct diag *diag)
{
	return diag_set(
		diag, -EACCES,
		"%s; ask an administrator to start kepler run with --local.everyone=own, or "
		"to add you to the group of --local.group, or measure as root: sudo kepler "
		"top",
		of_exporter->text);
}

int top_source_open(const struct config *config, bool may_measure, struct top_source **ret,
		    struct diag *diag)
{
	struct top_source *source = calloc(1, sizeof(*source));
	struct diag of_exporter = { "" };
	int r;

	if (!source)
		return diag_set(diag, -ENOMEM, "out of memory");
	source->config = config;
	source->session = (struct session)SESSION_INIT;
	r = open_exporter(source, &of_exporter);
	if (r < 0 && !may_measure)
		r = no_access(&of_exporter, diag);
	else if (r < 0)
		r = open_session(source, diag);
	if (r < 0) {
		top_source_close(source);
		return r;
	}
	*ret = source;
	return 0;
}

void top_source_close(struct top_source *source)
{
	if (!source)
		return;
	if (!source->client)
		(void)session_close(&source->session, 0);
	http_client_free(source->client);
	free(source);
}
