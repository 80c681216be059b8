// SPDX-License-Identifier: Apache-2.0
#include "trainers/offline_trainer.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "model-server/api_metrics.h"
#include "modelling/daemon.h"
#include "modelling/model_command.h"
#include "net/server/web_options.h"
#include "options/version.h"
#include "trainers/train_body.h"
#include "trainers/trainings.h"

#define ROUTES     3
#define TEXT_TYPE  "text/plain; charset=utf-8"
#define HOLD_MORE  (5 * NSEC_PER_SEC) /* beyond the deadline, for its answer */
#define BODIES     32                 /* at once; each may have TRAIN_BODY_MAX */
#define RETRY_S    30
#define FILE_BYTES (80ULL << 20)
#define MEBI       (1ULL << 20)

struct trainer_config {
	struct settings settings;
	struct web_values web;
	struct security_values security;
	char *models;
	uint64_t deadline_ns;
	uint32_t waiting, memory_mib;
	bool only_idle;
};

#define OWN(member) .offset = offsetof(struct trainer_config, member)

static int check_models(const char *text, struct diag *diag)
{
	return strlen(text) > TRAININGS_MODELS_MAX
		       ? diag_set(diag, -ENAMETOOLONG, "must have at most %d bytes",
				  TRAININGS_MODELS_MAX)
		       : 0;
}

static const struct option rows[] = {
	WEB_LISTEN_OPTION(struct trainer_config, "127.0.0.1:8102"),
	WEB_CONNECTIONS_OPTION(struct trainer_config, "512"),
	{ "train.deadline", NULL, OPTION_DURATION, OWN(deadline_ns), .min = NSEC_PER_SEC,
	  .max = 86400 * NSEC_PER_SEC, .default_text = "10m", .metavar = "DURATION",
	  .help = "Time limit for waiting and training, after which a request is answered with "
		  "status 503." },
	{ "train.queue", NULL, OPTION_U32, OWN(waiting), .min = 1, .max = TRAININGS_MAX / 2,
	  .default_text = "4", .metavar = "N",
	  .help = "Limit on waiting requests. Further requests are answered with status 429." },
	{ "train.memory", NULL, OPTION_U32, OWN(memory_mib), .min = 128, .max = 1048576,
	  .default_text = "4096", .metavar = "MIB",
	  .help = "Limit on the address space of a training, in MiB." },
	{ "train.models", NULL, OPTION_STRING, OWN(models), .default_text = "", .metavar = "DIR",
	  .may_be_empty = true, .check = check_models,
	  .help = "Models of total power for requests with TrainIsolator: a repository or a "
		  "pipeline, read for each request. Empty: such requests are refused." },
	{ "train.only-idle", NULL, OPTION_BOOL, OWN(only_idle), .default_text = "true",
	  .help = "Train only while CPUs are idle. On a machine that is always busy, training may "
		  "then miss its deadline." },
};
static const struct option_section sections[] = {
	{ rows, ARRAY_SIZE(rows), 0 },
	{ web_rows_of_options, WEB_OPTION_COUNT, offsetof(struct trainer_config, web) },
	{ security_rows_of_options, SECURITY_OPTION_COUNT,
	  offsetof(struct trainer_config, security) },
};

static int check(const struct option_values *values, struct diag *diag)
{
	const struct trainer_config *config = (const struct trainer_config *)(const void *)values;

	if (!*config->web.token_file)
		return diag_set(diag, -EINVAL,
				"web.token-file: must be given: a training needs a token, because "
				"it takes CPU time and memory of this machine");
	return web_options_check(&config->web, diag);
}

const struct option_set offline_trainer_options = {
	.program = &settings_program,
	.base = &settings_options,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct trainer_config),
	.check = check,
};

struct offline_trainer {
	const struct trainer_config *config;
	struct trainings trainings;
	struct http_route routes[ROUTES];
	struct http_server *server;
};

/* ---- pages ---- */

/* A refusal with everything that is wrong with the body. */
static void refuse_body(const struct diag *diag, struct http_response *response)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_add_str(&text, "400: ");
	diag_join(diag, "\n", &text);
	strbuf_add_char(&text, '\n');
	daemon_answer_page(response, 400, NULL, &text);
}

static void submit(struct offline_trainer *trainer, const struct http_request *request,
		   struct http_response *response)
{
	CLEANUP(strbuf_release) struct strbuf more = STRBUF_INIT;
	struct train_body body;
	struct diag diag = { .more = &more };

	/* Invalid bodies are refused at once; the worker reads the body again. */
	if (train_body_read(request->body, request->body_len, &body, &diag) < 0) {
		refuse_body(&diag, response);
		return;
	}
	*request->ticket = trainings_submit(&trainer->trainings, request->body, request->body_len,
					    clock_ns(CLOCK_MONOTONIC), &diag);
	if (*request->ticket)
		return;
	if (diag.text[0])
		daemon_answer_text(response, 503, "503: out of memory\n");
	else
		daemon_answer_text(response, 429, "429: too many requests to train wait already\n");
	response->retry_after_s = RETRY_S;
}

static void handle_train(void *userdata, const struct http_request *request,
			 struct http_response *response)
{
	struct offline_trainer *trainer = userdata;
	char *answer = NULL;
	size_t len = 0;
	int status;

	if (!*request->ticket) {
		submit(trainer, request, response);
		return;
	}
	status = trainings_take(&trainer->trainings, *request->ticket, clock_ns(CLOCK_MONOTONIC),
				&answer, &len);
	if (status == 0)
		return;
	if (!answer) {
		daemon_answer_text(response, 503,
				   "503: the training was lost, or memory is short\n");
		return;
	}
	*response = (struct http_response){
		.status = status,
		.content_type = status == 200 ? "application/zip" : TEXT_TYPE,
		.file_name = status == 200 ? "pipeline.zip" : NULL,
		.body = answer,
		.len = len,
		.release = free,
		.owner = answer,
	};
}

static void handle_metrics(void *userdata, const struct http_request *request,
			   struct http_response *response)
{
	struct offline_trainer *trainer = userdata;
	struct strbuf page = STRBUF_INIT;
	struct http_stats stats;

	(void)request;
	trainings_print_metrics(&trainer->trainings, &page);
	http_server_get_stats(trainer->server, &stats);
	strbuf_addf(&page,
		    "# HELP kepler_model_trainer_unauthorized_total Requests without a valid "
		    "token.\n# TYPE kepler_model_trainer_unauthorized_total "
		    "counter\nkepler_model_trainer_unauthorized_total %llu\n",
		    (unsigned long long)stats.unauthorized);
	daemon_answer_page(response, 200, API_METRICS_TYPE, &page);
}

/* ---- life ---- */

static int start(void *userdata, struct diag *diag)
{
	struct offline_trainer *trainer = userdata;
	const struct trainer_config *config = trainer->config;
	const struct http_route routes[ROUTES] = {
		{ "/train", handle_train, trainer, .post_max = TRAIN_BODY_MAX,
		  .hold_ns = config->deadline_ns + HOLD_MORE },
		{ "/metrics", handle_metrics, trainer, .spare = true },
		{ "/healthz", daemon_handle_healthz, trainer, .spare = true, .is_open = true },
	};
	const struct http_options options = {
		.routes = trainer->routes,
		.route_count = ROUTES,
		.max_bodies = BODIES,
	};
	const struct trainings_limits limits = {
		.waiting = config->waiting,
		.deadline_ns = config->deadline_ns,
		.models = config->models,
		.worker = { .memory_bytes = config->memory_mib * MEBI,
			    .cpu_s = config->deadline_ns / NSEC_PER_SEC + 1,
			    .file_bytes = FILE_BYTES,
			    .only_idle = config->only_idle },
	};
	int r;

	trainings_init(&trainer->trainings, &limits);
	memcpy(trainer->routes, routes, sizeof(routes));
	r = web_options_start(&config->web, &options, &trainer->server, diag);
	if (r == 0)
		web_options_say_addresses(trainer->server);
	return r;
}

static void turn(void *userdata, uint64_t now_ns, bool reload)
{
	struct offline_trainer *trainer = userdata;
	struct diag diag = { "" };

	if (reload && web_options_reload(&trainer->config->web, trainer->server, &diag) < 0)
		log_error("keeping the previous tokens: %s", diag.text);
	trainings_turn(&trainer->trainings, now_ns);
}

static void stop(void *userdata)
{
	struct offline_trainer *trainer = userdata;

	http_server_stop(trainer->server);
	trainings_release(&trainer->trainings);
}

static int run(void *userdata, const struct operands *operands, struct diag *diag)
{
	const struct trainer_config *config = userdata;
	const struct daemon daemon = { .security = &config->security,
				       .start = start,
				       .turn = turn,
				       .stop = stop,
				       .turn_ms = TRAININGS_TURN_MS };
	struct offline_trainer trainer = { .config = config };

	(void)operands;
	return daemon_run(&daemon, &trainer, diag);
}

int offline_trainer_main(int argc, char *const *argv, char *const *environ_)
{
	static const struct model_command command = { .set = &offline_trainer_options, .run = run };

	return model_command_run(&command, argc, argv, environ_);
}
