// SPDX-License-Identifier: Apache-2.0
#include "kepler/pages/web.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "config/config.h"
#include "config/own_names.h"
#include "kepler/pages/pages.h"
#include "kube/review/kube_review.h"
#include "net/http_unix.h"
#include "net/server/http_listen.h"
#include "net/server/http_server.h"
#include "net/server/http_vsock.h"
#include "net/server/web_options.h"
#include "service/name_finder.h"
#include "service/privileges.h"

#define STARVED_EVERY (60 * NSEC_PER_SEC)

struct web {
	struct kube_review *review; /* NULL: the API server is not asked; first, for its health */
	char review_error[256];     /* that was logged; "" it answers */
	struct pages pages;
	struct name_finder *found_names;
	struct http_server *server;
	bool has_security;
	bool has_users;                         /* the web configuration in force */
	char *names[OWN_NAMES + WEB_HOSTS_MAX]; /* that requests may be for */
	size_t name_count;
	struct http_own_names own;
	uint64_t accept_errors, starved_ns; /* when they were logged */
};

struct start_request {
	struct http_options *options;
	const struct config *config;
	struct web *web;
	struct diag *diag;
	int result;
};

static int start_review(const struct start_request *request)
{
	const struct config *config = request->config;
	const struct kube_review_options options = { .kube = &config->kube,
						     .audience = config->web_auth_audience };
	struct diag why = { "" };
	int r;

	if (config->web_auth != WEB_AUTH_KUBERNETES)
		return 0;
	r = kube_review_start(&options, &request->web->review, &why);
	if (r < 0)
		return diag_set(request->diag, r, "web.auth: %s", why.text);
	request->options->reviewer =
		(struct http_reviewer){ kube_review_ask, request->web->review };
	return 0;
}

/* Neither the server's thread nor the one that asks about its clients holds capabilities. */
static void start_listening(void *userdata)
{
	struct start_request *request = userdata;

	request->result = start_review(request);
	if (request->result < 0)
		return;
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
		.routes = web->pages.routes,
		.route_count = PAGES_ROUTES,
		.wake_fd = web->pages.stream_source.wake_fd,
		.auth = config->auth,
		.security = config->web_security,
	};
	struct start_request request = { &options, config, web, diag, 0 };
	int r = web_options_apply(&config->web, &options, diag);

	if (r == 0)
		r = privileges_call_without(start_listening, &request);
	web_options_release(&options);
	if (r < 0)
		return diag->text[0] ? r
				     : diag_set(diag, r, "cannot start a thread: %s",
						strerrordesc_np(-r));
	if (request.result < 0)
		return request.result;
	if (config->web_security && config->web_security->remark[0])
		log_warn("%s: %s", config->web.config_file, config->web_security->remark);
	web->has_security = config->web_security;
	web->has_users = web->has_security && config->web_security->config->user_count;
	config->auth = NULL; /* the server's now */
	config->web_security = NULL;
	return 0;
}

static void stop(void *exporter)
{
	struct web *web = exporter;

	http_server_stop(web->server);
	kube_review_stop(web->review);
	pages_release(&web->pages);
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
		       http_unix_path(address) || http_vsock_is(address) ? "%s"
		       : http_server_has_tls(web->server)                ? "https://%s/metrics"
									 : "http://%s/metrics",
		       address);
}

/* Tokens of accounts are worth more than what this server shows. */
static void warn_clear_text(const struct web *web, const struct config *config)
{
	if (web->review && !http_server_has_tls(web->server) &&
	    http_listen_is_open((const char *const *)config->web.listen, config->web.listen_count))
		log_warn("web.auth: without TLS the tokens of clients cross the network in clear "
			 "text; web.tls-certificate or web.config-file sets it up");
}

static int start(const struct exporter_program *program, void **ret, struct diag *diag)
{
	struct config *config = program->config;
	struct web *web = calloc(1, sizeof(*web));
	int r;

	if (!web)
		return diag_set(diag, -ENOMEM, "out of memory");
	web->found_names = program->names;
	r = pages_init(&web->pages, program, NULL);
	if (r < 0)
		(void)diag_set(diag, r, "%s", strerrordesc_np(-r));
	collect_names(web, config);
	if (r == 0)
		r = start_server(web, config, diag);
	if (r < 0) {
		stop(web);
		return r;
	}
	page_cache_set_http(web->pages.metrics, web->server);
	warn_clear_text(web, config);
	*ret = web;
	return 0;
}

/* Errors in the file were found when it was read; here only a thread may be missing. */
static void take_security(struct web *web, struct config *config)
{
	struct diag diag = { "" };
	bool has_users = config->web_security->config->user_count;

	if (config->web_security->remark[0])
		log_warn("%s: %s", config->web.config_file, config->web_security->remark);
	if (http_server_set_security(web->server, config->web_security, &diag) < 0) {
		log_error("%s: %s; the earlier one is kept", config->web.config_file, diag.text);
		return;
	}
	config->web_security = NULL; /* the server's now */
	if (web->has_users && !has_users && !*config->web.token_file && !web->review)
		log_warn("%s: basic_auth_users was removed: from now on every client that can "
			 "connect may read all pages",
			 config->web.config_file);
	web->has_users = has_users;
}

static void reconfigure(void *exporter, struct config *config)
{
	struct web *web = exporter;

	if (config->auth)
		http_server_set_auth(web->server, TAKE_PTR(config->auth));
	if (config->web_security && web->has_security)
		take_security(web, config);
	pages_reconfigure(&web->pages, config);
}

static void tell_refused(struct web *web)
{
	const char *name;

	while ((name = http_server_take_refused(web->server)))
		log_warn("HTTP requests for %s are refused with status 421, because it is not a "
			 "name of this machine; --web.allowed-hosts=%s allows them",
			 name, name);
}

/* Logs whether the API server answers questions about clients, once for each change. */
static void tell_review(struct web *web)
{
	struct kube_review_stats stats;

	if (!web->review)
		return;
	kube_review_get_stats(web->review, &stats);
	if (strcmp(stats.last_error, web->review_error) == 0)
		return;
	if (stats.last_error[0])
		log_warn(
			"clients of the web server whose tokens are not known yet are refused with "
			"status 503: %s",
			stats.last_error);
	else
		log_info("the API server decides about clients of the web server again");
	memcpy(web->review_error, stats.last_error, sizeof(web->review_error));
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
	tell_review(web);
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
	.health = &kube_review_health_part,
};
