// SPDX-License-Identifier: Apache-2.0
#include "kepler/web.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "config/config.h"
#include "config/own_names.h"
#include "explain/explain_desk.h"
#include "explain/explain_page.h"
#include "export/landing_page.h"
#include "export/now_page.h"
#include "export/prometheus.h"
#include "export/scrape_pace.h"
#include "net/http_unix.h"
#include "net/server/http_server.h"
#include "net/server/web_options.h"
#include "service/heartbeat.h"
#include "service/name_finder.h"
#include "service/privileges.h"
#include "snapshot/snapshot.h"

#define READY_INTERVALS 3
#define HUNG_RETRY_S    10
#define STARVED_EVERY   (60 * NSEC_PER_SEC)

struct web {
	struct snapshot_holder *holder;
	struct name_finder *found_names;
	const struct heartbeat *heartbeat;
	struct page_cache *pages;
	struct scrape_pace *pace;
	struct http_server *server;
	bool tls;
	uint64_t interval_ns; /* atomic: the server's thread reads it */
	struct explain_desk *desk;
	struct http_route routes[6];
	char *names[OWN_NAMES + WEB_HOSTS_MAX]; /* that requests may be for */
	size_t name_count;
	struct http_own_names own;
	uint64_t accept_errors, starved_ns; /* when they were logged */
};

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

static void handle_healthz(void *userdata, const struct http_request *request,
			   struct http_response *response)
{
	const struct web *web = userdata;
	const struct heartbeat_state state =
		heartbeat_look(web->heartbeat, clock_ns(CLOCK_MONOTONIC));

	(void)request;
	if (state.alive)
		answer_text(response, 200, "ok\n");
	else
		answer_hung(response, &state);
}

/* A page of metrics, which counts as a scrape, unless its body was not wanted. */
static void answer_metrics(struct web *web, const struct http_request *request,
			   struct http_response *response, uint64_t now_ns)
{
	const struct snapshot *snapshot = snapshot_get(web->holder);
	uint64_t shown_ns = snapshot ? snapshot->monotonic_ns : 0;

	snapshot_put(web->holder, snapshot); /* the page shows this one or a newer one */
	page_cache_handle_metrics(web->pages, request, response);
	if (response->status == 200 && !request->head)
		scrape_pace_note(web->pace, request->client, now_ns, shown_ns);
}

/* The snapshot of a loop that hangs is outdated: no answer is better than an old one. */
static void handle_metrics(void *userdata, const struct http_request *request,
			   struct http_response *response)
{
	struct web *web = userdata;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	const struct heartbeat_state state = heartbeat_look(web->heartbeat, now_ns);

	if (state.alive)
		answer_metrics(web, request, response, now_ns);
	else
		answer_hung(response, &state);
}

static void handle_readyz(void *userdata, const struct http_request *request,
			  struct http_response *response)
{
	struct web *web = userdata;
	const struct snapshot *snapshot = snapshot_get(web->holder);
	uint64_t limit_ns = READY_INTERVALS * __atomic_load_n(&web->interval_ns, __ATOMIC_RELAXED);
	bool any = snapshot;
	bool ready = any && clock_ns(CLOCK_MONOTONIC) - snapshot->monotonic_ns <= limit_ns;

	(void)request;
	snapshot_put(web->holder, snapshot);
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
	struct web *web = userdata;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), due_ns = 0;
	const struct heartbeat_state state = heartbeat_look(web->heartbeat, now_ns);
	const struct snapshot *snapshot;

	if (!state.alive) {
		answer_hung(response, &state);
		return;
	}
	snapshot = snapshot_get(web->holder);
	if (snapshot)
		due_ns = snapshot->monotonic_ns +
			 __atomic_load_n(&web->interval_ns, __ATOMIC_RELAXED);
	snapshot_put(web->holder, snapshot);
	explain_page(web->desk, request, now_ns, due_ns, response);
}

static void release_page(void *owner)
{
	struct strbuf *page = owner;

	strbuf_release(page);
	free(page);
}

/* A page that is made for each request. */
static void answer_page(struct web *web, int (*make)(const struct snapshot *, struct strbuf *),
			const char *type, struct http_response *response)
{
	const struct snapshot *snapshot = snapshot_get(web->holder);
	struct strbuf *page = calloc(1, sizeof(*page));
	int r = page ? make(snapshot, page) : -ENOMEM;

	if (r == 0) {
		response->status = 200;
		response->content_type = type;
		response->body = page->data;
		response->len = page->len;
		response->release = release_page;
		response->owner = page;
	} else {
		if (page)
			release_page(page);
		answer_text(response, 503,
			    r == -ENODATA ? "nothing has been read yet\n" : "out of memory\n");
		response->retry_after_s = 1;
	}
	snapshot_put(web->holder, snapshot);
}

static void handle_root(void *userdata, const struct http_request *request,
			struct http_response *response)
{
	(void)request;
	answer_page(userdata, landing_page, LANDING_PAGE_TYPE, response);
}

static void handle_now(void *userdata, const struct http_request *request,
		       struct http_response *response)
{
	struct web *web = userdata;
	const struct heartbeat_state state =
		heartbeat_look(web->heartbeat, clock_ns(CLOCK_MONOTONIC));

	(void)request;
	if (!state.alive)
		answer_hung(response, &state);
	else
		answer_page(web, now_page, NOW_PAGE_TYPE, response);
}

struct start_request {
	const struct http_options *options;
	struct web *web;
	struct diag *diag;
	int result;
};

static void start_listening(void *userdata)
{
	struct start_request *request = userdata;

	request->result = http_server_start(request->options, &request->web->server, request->diag);
}

/* On -ENOMEM the name is left out: requests for it are refused. */
static void add_name(void *userdata, const char *name)
{
	struct web *web = userdata;
	char *copy = *name ? strdup(name) : NULL;

	if (copy)
		web->names[web->name_count++] = copy;
}

static void collect_names(struct web *web, const struct config *config)
{
	own_names_each(config, add_name, web);
	own_names_collect(config, &web->own);
	for (size_t i = 0; i < config->web.allowed_hosts_count; i++)
		add_name(web, config->web.allowed_hosts[i]);
}

/* Takes the tokens of @config. */
static int start_server(struct web *web, struct config *config, struct diag *diag)
{
	struct http_options options = {
		.hosts = { (const char *const *)web->names, web->name_count, &web->own },
		.routes = web->routes,
		.route_count = ARRAY_SIZE(web->routes),
		.auth = config->auth,
	};
	struct start_request request = { &options, web, diag, 0 };
	int r = web_options_apply(&config->web, &options, diag);

	if (r == 0)
		r = privileges_call_without(start_listening, &request);
	web_options_release(&options);
	if (r < 0)
		return diag->text[0] ? r
				     : diag_set(diag, r, "cannot start a thread: %s",
						strerrordesc_np(-r));
	if (request.result == 0)
		config->auth = NULL; /* the server's now */
	return request.result;
}

static void stop(void *exporter)
{
	struct web *web = exporter;

	http_server_stop(web->server);
	page_cache_free(web->pages);
	for (size_t i = 0; i < web->name_count; i++)
		free(web->names[i]);
	free(web);
}

/* "http://127.0.0.1:28282/metrics" of the first listener. */
static void describe(const void *exporter, char *buf, size_t size)
{
	const struct web *web = exporter;
	char address[128] = "";

	(void)http_server_address(web->server, 0, address, sizeof(address));
	(void)snprintf(buf, size,
		       http_unix_path(address) ? "%s"
		       : web->tls              ? "https://%s/metrics"
					       : "http://%s/metrics",
		       address);
}

static void set_routes(struct web *web)
{
	web->routes[0] = (struct http_route){ "/", handle_root, web };
	web->routes[1] = (struct http_route){ "/metrics", handle_metrics, web };
	web->routes[2] = (struct http_route){ "/healthz", handle_healthz, web, .spare = true,
					      .is_open = true };
	web->routes[3] = (struct http_route){ "/readyz", handle_readyz, web, .spare = true,
					      .is_open = true };
	web->routes[4] = (struct http_route){ EXPLAIN_PATH,  handle_explain, web,
					      .spare = true, .prefix = true, .local_only = true };
	web->routes[5] = (struct http_route){ NOW_PAGE_PATH, handle_now, web };
}

static int start(const struct exporter_program *program, void **ret, struct diag *diag)
{
	struct config *config = program->config;
	struct web *web = calloc(1, sizeof(*web));
	int r;

	if (!web)
		return diag_set(diag, -ENOMEM, "out of memory");
	web->holder = program->holder;
	web->heartbeat = program->heartbeat;
	web->desk = program->desk;
	web->pace = program->pace;
	web->found_names = program->names;
	web->tls = *config->web.certificate;
	web->interval_ns = config->monitor.interval_ns;
	r = page_cache_new(&prometheus_pages, program->holder, &config->pages, &web->pages);
	if (r < 0) {
		free(web);
		return diag_set(diag, r, "out of memory");
	}
	set_routes(web);
	collect_names(web, config);
	r = start_server(web, config, diag);
	if (r < 0) {
		stop(web);
		return r;
	}
	page_cache_set_http(web->pages, web->server);
	*ret = web;
	return 0;
}

static void reconfigure(void *exporter, struct config *config)
{
	struct web *web = exporter;

	if (config->auth)
		http_server_set_auth(web->server, TAKE_PTR(config->auth));
	__atomic_store_n(&web->interval_ns, config->monitor.interval_ns, __ATOMIC_RELAXED);
	page_cache_set_options(web->pages, &config->pages);
}

static void tell_refused(struct web *web)
{
	const char *name;

	while ((name = http_server_take_refused(web->server)))
		log_warn("HTTP requests for %s are refused with status 421, because it is not a "
			 "name of this machine; --web.allowed-hosts=%s allows them",
			 name, name);
}

/* Cuts connections that exceeded their deadline, and logs what requires action. */
static void turn(void *exporter, uint64_t now_ns)
{
	struct web *web = exporter;
	struct http_stats stats;
	const char *name;

	while ((name = name_finder_next(web->found_names)))
		(void)http_own_names_add_found(&web->own, name);
	http_server_sweep(web->server, now_ns);
	tell_refused(web);
	http_server_get_stats(web->server, &stats);
	if (stats.accept_errors == web->accept_errors ||
	    (web->starved_ns && now_ns - web->starved_ns < STARVED_EVERY))
		return;
	log_warn("HTTP connections are waiting: too many open files; raise the limit: "
		 "LimitNOFILE=, ulimit -n");
	web->accept_errors = stats.accept_errors;
	web->starved_ns = now_ns;
}

const struct exporter_ops web_exporter = {
	.start = start,
	.reconfigure = reconfigure,
	.turn = turn,
	.describe = describe,
	.stop = stop,
};
