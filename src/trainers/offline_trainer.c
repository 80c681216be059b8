// SPDX-License-Identifier: Apache-2.0
#include "trainers/offline_trainer.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "model-server/api_metrics.h"
#include "modelling/security_options.h"
#include "modelling/settings.h"
#include "net/web_options.h"
#include "options/layers.h"
#include "options/version.h"
#include "service/notify.h"
#include "service/signals.h"
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
	struct notify *notify;
};

/* ---- pages ---- */

static void answer_text(struct http_response *response, int status, const char *text)
{
	*response = (struct http_response){
		.status = status, .content_type = TEXT_TYPE, .body = text, .len = strlen(text)
	};
}

/* A refusal with everything that is wrong with the body. */
static void refuse_body(const struct diag *diag, struct http_response *response)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_add_str(&text, "400: ");
	diag_join(diag, "\n", &text);
	strbuf_add_char(&text, '\n');
	if (strbuf_error(&text) < 0) {
		strbuf_release(&text);
		answer_text(response, 503, "503: out of memory\n");
		return;
	}
	*response = (struct http_response){ .status = 400,
					    .content_type = TEXT_TYPE,
					    .body = text.data,
					    .len = text.len,
					    .release = free,
					    .owner = text.data };
}

static void submit(struct offline_trainer *trainer, const struct http_request *request,
		   struct http_response *response)
{
	CLEANUP(strbuf_release) struct strbuf more = STRBUF_INIT;
	struct train_body body;
	struct diag diag = { .more = &more };

	/* What is plainly wrong waits for nothing; the body is read again where it is trained. */
	if (train_body_read(request->body, request->body_len, &body, &diag) < 0) {
		refuse_body(&diag, response);
		return;
	}
	*request->ticket = trainings_submit(&trainer->trainings, request->body, request->body_len,
					    clock_ns(CLOCK_MONOTONIC), &diag);
	if (*request->ticket)
		return;
	if (diag.text[0])
		answer_text(response, 503, "503: out of memory\n");
	else
		answer_text(response, 429, "429: too many requests to train wait already\n");
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
		answer_text(response, 503, "503: the training was lost, or there is no memory\n");
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
	if (strbuf_error(&page) < 0) {
		strbuf_release(&page);
		answer_text(response, 503, "503: out of memory\n");
		return;
	}
	*response = (struct http_response){ .status = 200,
					    .content_type = API_METRICS_TYPE,
					    .body = page.data,
					    .len = page.len,
					    .release = free,
					    .owner = page.data };
}

static void handle_healthz(void *userdata, const struct http_request *request,
			   struct http_response *response)
{
	(void)userdata;
	(void)request;
	answer_text(response, 200, "ok\n");
}

/* ---- life ---- */

static int start(struct offline_trainer *trainer, struct diag *diag)
{
	const struct trainer_config *config = trainer->config;
	const struct http_route routes[ROUTES] = {
		{ "/train", handle_train, trainer, .post_max = TRAIN_BODY_MAX,
		  .hold_ns = config->deadline_ns + HOLD_MORE },
		{ "/metrics", handle_metrics, trainer, .spare = true },
		{ "/healthz", handle_healthz, trainer, .spare = true, .is_open = true },
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

	trainings_init(&trainer->trainings, &limits);
	memcpy(trainer->routes, routes, sizeof(routes));
	return web_options_start(&config->web, &options, &trainer->server, diag);
}

static void reload(struct offline_trainer *trainer)
{
	struct diag diag = { "" };

	notify_reloading(trainer->notify, clock_ns(CLOCK_MONOTONIC));
	if (web_options_reload(&trainer->config->web, trainer->server, &diag) < 0)
		log_error("keeping the previous tokens: %s", diag.text);
	notify_ready(trainer->notify, NULL);
}

static void wait_for_signals(struct offline_trainer *trainer, int signal_fd)
{
	unsigned wishes = 0;

	notify_ready(trainer->notify, NULL);
	while (!(wishes & SIGNAL_STOP)) {
		struct pollfd waits = { .fd = signal_fd, .events = POLLIN };
		uint64_t now_ns;

		(void)poll(&waits, 1, TRAININGS_TURN_MS);
		wishes = signals_take(signal_fd);
		now_ns = clock_ns(CLOCK_MONOTONIC);
		notify_watchdog(trainer->notify, now_ns);
		if (wishes & SIGNAL_RELOAD)
			reload(trainer);
		trainings_turn(&trainer->trainings, now_ns);
	}
	notify_stopping(trainer->notify);
}

static int run(const struct trainer_config *config, struct diag *diag)
{
	struct offline_trainer trainer = { .config = config };
	int signal_fd = signals_open();
	int r = signal_fd < 0 ? diag_set(diag, signal_fd, "cannot take signals: %s",
					 strerrordesc_np(-signal_fd))
			      : start(&trainer, diag);

	if (r == 0) {
		trainer.notify = notify_open();
		web_options_say_addresses(&config->web, trainer.server);
		wait_for_signals(&trainer, signal_fd);
	}
	http_server_stop(trainer.server);
	trainings_release(&trainer.trainings);
	notify_close(trainer.notify);
	if (signal_fd >= 0)
		(void)close(signal_fd);
	return r;
}

int offline_trainer_main(int argc, char *const *argv, char *const *environ_)
{
	struct trainer_config config = { .models = NULL };
	struct operands operands;
	struct diag diag = { "" };
	int status = settings_load(&offline_trainer_options, argc, argv, environ_, 0, 0,
				   &config.settings, &operands);

	if (status != 0)
		return status;
	if (security_enter(&config.security, &diag) < 0 || run(&config, &diag) < 0)
		status = settings_fail(&diag);
	operands_release(&operands);
	options_release(&offline_trainer_options, &config.settings.options);
	return status;
}
