// SPDX-License-Identifier: Apache-2.0
/*
 * The main thread waits for signals and regularly checks whether the repository has changed; a new
 * edition is read while the old one is being served, and replaces it only if it has models.
 */
#include "model-server/serve.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "model-server/model_api.h"
#include "modelling/daemon.h"
#include "modelling/model_command.h"
#include "net/server/http_server.h"
#include "net/server/web_options.h"

#define MICRO   1e6
#define POLL_MS 1000
/* Lines; all problems are counted. */
#define PROBLEMS_LOGGED 100

struct serve_config {
	struct settings settings;
	struct web_values web;
	struct security_values security;
	char *signing_key;
	uint64_t rescan_ns, max_error;
	bool pickles;
};

#define OWN(member) .offset = offsetof(struct serve_config, member)
static const struct option rows[] = {
	WEB_LISTEN_OPTION(struct serve_config, "127.0.0.1:8100"),
	WEB_CONNECTIONS_OPTION(struct serve_config, "512"),
	{ "models.rescan", NULL, OPTION_DURATION, OWN(rescan_ns), .min = NSEC_PER_SEC,
	  .max = 86400 * NSEC_PER_SEC, .default_text = "10s", .metavar = "DURATION",
	  .help = "How often the server checks the repository for changes. SIGHUP makes it read "
		  "the repository at once." },
	{ "models.max-error", NULL, OPTION_MICRO, OWN(max_error), .max = 1000000000,
	  .default_text = "0", .metavar = "PERCENT",
	  .help = "Limit on the expected error of a served model, relative to power: its published "
		  "error and the error added by a different machine. 0: no limit; models with "
		  "unknown errors are served, too." },
	{ "models.pickles", NULL, OPTION_BOOL, OWN(pickles), .default_text = "true",
	  .help = "Serve models that are Python pickles to clients that request an archive, as "
		  "upstream's estimator does. The server never loads them; a client that loads "
		  "them runs the code in them." },
	{ "models.signing-key", NULL, OPTION_STRING, OWN(signing_key), .default_text = "",
	  .metavar = "FILE", .may_be_empty = true,
	  .help = "Ed25519 private key (PEM), readable only by its owner, with which files are "
		  "signed in the second API." },
};
static const struct option_section sections[] = {
	{ rows, ARRAY_SIZE(rows), 0 },
	{ web_rows_of_options, WEB_OPTION_COUNT, offsetof(struct serve_config, web) },
	{ security_rows_of_options, SECURITY_OPTION_COUNT,
	  offsetof(struct serve_config, security) },
};

static int check(const struct option_values *values, struct diag *diag)
{
	const struct serve_config *config = (const struct serve_config *)(const void *)values;

	return web_options_check(&config->web, diag);
}

const struct option_set serve_options = {
	.program = &settings_program,
	.base = &settings_options,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct serve_config),
	.check = check,
};

struct serving {
	const struct serve_config *config;
	const char *root;
	struct signing_key *signing_key;
	struct model_api api;
	struct http_route routes[MODEL_API_ROUTES];
	struct http_server *server;
	uint64_t fingerprint, looked_ns;
};

/* ---- editions ---- */

static int read_edition(const struct serving *serving, struct edition **ret, struct diag *diag)
{
	struct repository *repository = NULL;
	int r = repository_open(serving->root, &repository, diag);

	if (r < 0 || !repository)
		return r;
	if (repository->entry_count == 0) {
		repository_free(repository);
		return diag_set(diag, -ENOENT,
				"%s: has no model; it must have PIPELINE/SOURCE/OUTPUT/GROUP/"
				"TRAINER_NODETYPE.zip or .json",
				serving->root);
	}
	*ret = edition_new(repository, serving->signing_key);
	if (!*ret)
		return diag_set(diag, -ENOMEM, "out of memory");
	edition_prepare(*ret);
	return 0;
}

static int load(struct serving *serving, struct diag *diag)
{
	uint64_t fingerprint = repository_fingerprint(serving->root);
	struct edition *edition = NULL;
	const struct repository *repository;
	int r = read_edition(serving, &edition, diag);

	serving->fingerprint = fingerprint;
	if (r < 0 || !edition)
		return r;
	repository = edition->repository;
	for (size_t i = 0; i < repository->problem_count && i < PROBLEMS_LOGGED; i++)
		log_warn("%s", repository->problems[i] ? repository->problems[i] : "out of memory");
	if (repository->problem_count > PROBLEMS_LOGGED)
		log_warn("%zu more problems; kepler-model repo verify lists them",
			 repository->problem_count - PROBLEMS_LOGGED);
	log_info("%s: %zu models in %zu pipelines, %zu problems", serving->root,
		 repository->entry_count, repository->pipeline_count, repository->problem_count);
	model_api_replace(&serving->api, edition);
	return 0;
}

static void reload(struct serving *serving)
{
	struct diag diag = { "" };

	if (web_options_reload(&serving->config->web, serving->server, &diag) < 0 ||
	    load(serving, &diag) < 0) {
		model_api_note_failure(&serving->api);
		log_error("keeping the previous models: %s", diag.text);
	}
}

static void look_for_changes(struct serving *serving, uint64_t now_ns)
{
	if (now_ns - serving->looked_ns < serving->config->rescan_ns)
		return;
	serving->looked_ns = now_ns;
	if (repository_fingerprint(serving->root) != serving->fingerprint)
		reload(serving);
}

/* ---- life ---- */

static int read_signing_key(struct serving *serving, struct diag *diag)
{
	const char *path = serving->config->signing_key;
	CLEANUP_FREE char *pem = NULL;
	int r;

	if (!*path)
		return 0;
	r = web_options_read_pem(path, true, &pem, diag);
	return r < 0 ? r : signing_key_parse(path, pem, strlen(pem), &serving->signing_key, diag);
}

static int start(void *userdata, struct diag *diag)
{
	struct serving *serving = userdata;
	const struct serve_config *config = serving->config;
	struct model_api *api = &serving->api;
	const struct http_options options = {
		.routes = serving->routes,
		.route_count = ARRAY_SIZE(serving->routes),
	};
	int r = read_signing_key(serving, diag);

	api->max_error = (double)config->max_error / MICRO / 100;
	api->refuses_pickles = !config->pickles;
	if (r == 0)
		r = load(serving, diag);
	if (r < 0)
		return r;
	model_api_routes(api, serving->routes);
	r = web_options_start(&config->web, &options, &serving->server, diag);
	if (r < 0)
		return r;
	web_options_say_addresses(serving->server);
	(void)pthread_mutex_lock(&api->lock);
	api->server = serving->server;
	(void)pthread_mutex_unlock(&api->lock);
	serving->looked_ns = clock_ns(CLOCK_MONOTONIC);
	return 0;
}

static void turn(void *userdata, uint64_t now_ns, bool wants_reload)
{
	if (wants_reload)
		reload(userdata);
	else
		look_for_changes(userdata, now_ns);
}

static void stop(void *userdata)
{
	struct serving *serving = userdata;

	http_server_stop(serving->server);
	model_api_replace(&serving->api, NULL);
	signing_key_free(serving->signing_key);
}

static int serve(void *userdata, const struct operands *operands, struct diag *diag)
{
	const struct serve_config *config = userdata;
	const struct daemon daemon = { .security = &config->security,
				       .start = start,
				       .turn = turn,
				       .stop = stop,
				       .turn_ms = POLL_MS };
	struct serving serving = { .config = config,
				   .root = operands->words[0],
				   .api = { .lock = PTHREAD_MUTEX_INITIALIZER } };

	return daemon_run(&daemon, &serving, diag);
}

int serve_main(int argc, char *const *argv, char *const *environ_)
{
	static const struct model_command command = {
		.set = &serve_options, .min = 1, .max = 1, .run = serve
	};

	return model_command_run(&command, argc, argv, environ_);
}
