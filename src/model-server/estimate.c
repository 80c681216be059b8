// SPDX-License-Identifier: Apache-2.0
#include "model-server/estimate.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "model-server/estimate_request.h"
#include "model-server/estimator.h"
#include "model-server/socket_server.h"
#include "modelling/machine_file.h"
#include "modelling/security_options.h"
#include "modelling/settings.h"
#include "net/http_unix.h"
#include "options/layers.h"
#include "service/notify.h"
#include "service/signals.h"

#define TURN_MS 1000

struct estimate_config {
	struct settings settings;
	char *socket, *socket_mode, *machine;
	uint64_t rescan_ns;
	struct security_values security;
};

#define OWN(member) .offset = offsetof(struct estimate_config, member)

static int check_mode(const char *text, struct diag *diag)
{
	mode_t mode;

	return http_unix_parse_mode(text, &mode, diag);
}

static const struct option rows[] = {
	{ "socket", NULL, OPTION_STRING, OWN(socket), .default_text = "/tmp/estimator.sock",
	  .metavar = "PATH", .check = http_unix_check,
	  .help = "The unix socket on which requests are answered, in an existing directory." },
	{ "socket-mode", NULL, OPTION_STRING, OWN(socket_mode), .default_text = "0660",
	  .metavar = "MODE", .check = check_mode,
	  .help = "Its mode, in octal; write permission allows a process to connect." },
	{ "machine-spec", NULL, OPTION_STRING, OWN(machine), .default_text = "", .metavar = "FILE",
	  .may_be_empty = true,
	  .help = "The machine that models are chosen for, as a JSON object of processor, cores, "
		  "chips, memory and frequency. By default it is this machine." },
	{ "models.rescan", NULL, OPTION_DURATION, OWN(rescan_ns), .min = NSEC_PER_SEC,
	  .max = 86400 * NSEC_PER_SEC, .default_text = "10s", .metavar = "DURATION",
	  .help = "How often the estimator looks whether the repository has changed. SIGHUP makes "
		  "it read the repository at once." },
};
static const struct option_section sections[] = {
	{ rows, ARRAY_SIZE(rows), 0 },
	{ security_rows_of_options, SECURITY_OPTION_COUNT,
	  offsetof(struct estimate_config, security) },
};

const struct option_set estimate_options = {
	.program = &settings_program,
	.base = &settings_options,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct estimate_config),
};

struct estimating {
	const struct estimate_config *config;
	const char *root;
	struct machine_spec machine;
	struct estimator *estimator;
	struct socket_server *server;
	struct notify *notify;
	uint64_t fingerprint, looked_ns;
};

static void answer(void *userdata, const char *request, size_t size, struct strbuf *out)
{
	const struct estimating *estimating = userdata;

	(void)estimator_answer(estimating->estimator, request, size, out);
}

static void refuse(void *userdata, const char *why, struct strbuf *out)
{
	(void)userdata;
	estimator_refuse(why, out);
}

/* The models that were read before stay where the new ones cannot be read. */
static int load(struct estimating *estimating, struct diag *diag)
{
	struct repository *repository = NULL;
	struct estimator *estimator;
	int r;

	estimating->fingerprint = repository_fingerprint(estimating->root);
	r = repository_open(estimating->root, &repository, diag);
	if (r < 0)
		return r;
	if (!repository->entry_count) {
		repository_free(repository);
		return diag_set(diag, -ENOENT, "%s: has no model", estimating->root);
	}
	log_info("%s: %zu models in %zu pipelines, %zu problems", estimating->root,
		 repository->entry_count, repository->pipeline_count, repository->problem_count);
	estimator = estimator_new(repository, &estimating->machine);
	if (!estimator)
		return diag_set(diag, -ENOMEM, "out of memory");
	estimator_free(estimating->estimator);
	estimating->estimator = estimator;
	return 0;
}

static void reload(struct estimating *estimating)
{
	struct diag diag = { "" };

	if (load(estimating, &diag) < 0)
		log_error("keeping the previous models: %s", diag.text);
}

static void look_for_changes(struct estimating *estimating)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	notify_watchdog(estimating->notify, now_ns);
	if (now_ns - estimating->looked_ns < estimating->config->rescan_ns)
		return;
	estimating->looked_ns = now_ns;
	if (repository_fingerprint(estimating->root) != estimating->fingerprint)
		reload(estimating);
}

static void serve(struct estimating *estimating, int signal_fd)
{
	unsigned wishes = 0;

	estimating->looked_ns = clock_ns(CLOCK_MONOTONIC);
	notify_ready(estimating->notify, NULL);
	while (!(wishes & SIGNAL_STOP)) {
		wishes = socket_server_turn(estimating->server, signal_fd, TURN_MS)
				 ? signals_take(signal_fd)
				 : 0;
		if (wishes & SIGNAL_RELOAD)
			reload(estimating);
		look_for_changes(estimating);
	}
	notify_stopping(estimating->notify);
}

/* Listens, and serves until a signal asks for the end. */
static int listen_and_serve(struct estimating *estimating, int signal_fd, struct diag *diag)
{
	const struct estimate_config *config = estimating->config;
	struct stat made;
	mode_t mode = 0;
	int r = http_unix_parse_mode(config->socket_mode, &mode, diag);
	int listener = r < 0 ? r : http_unix_listen(config->socket, mode, &made, diag);
	const struct socket_options options = {
		.listener = listener,
		.request_max = ESTIMATE_REQUEST_MAX,
		.answer = answer,
		.refuse = refuse,
		.userdata = estimating,
	};

	if (listener < 0)
		return listener;
	estimating->server = socket_server_new(&options);
	if (estimating->server) {
		log_info("listening on unix:%s", config->socket);
		serve(estimating, signal_fd);
	} else {
		r = diag_set(diag, -ENOMEM, "out of memory");
	}
	socket_server_free(estimating->server);
	http_unix_remove(config->socket, &made);
	(void)close(listener);
	return r;
}

static int estimate(const struct estimate_config *config, const char *root, struct diag *diag)
{
	struct estimating estimating = { .config = config, .root = root };
	int signal_fd = signals_open();
	int r = 0;

	if (signal_fd < 0)
		return diag_set(diag, signal_fd, "cannot take signals: %s",
				strerrordesc_np(-signal_fd));
	if (*config->machine)
		r = machine_file_read(config->machine, &estimating.machine, diag);
	else
		machine_file_discover(&estimating.machine);
	if (r == 0)
		r = load(&estimating, diag);
	if (r == 0) {
		estimating.notify = notify_open();
		r = listen_and_serve(&estimating, signal_fd, diag);
	}
	notify_close(estimating.notify);
	estimator_free(estimating.estimator);
	(void)close(signal_fd);
	return r;
}

int estimate_main(int argc, char *const *argv, char *const *environ_)
{
	struct estimate_config config = { 0 };
	struct operands operands;
	struct diag diag = { "" };
	int status = settings_load(&estimate_options, argc, argv, environ_, 1, 1, &config.settings,
				   &operands);

	if (status != 0)
		return status;
	if (security_enter(&config.security, &diag) < 0 ||
	    estimate(&config, operands.words[0], &diag) < 0)
		status = settings_fail(&diag);
	operands_release(&operands);
	options_release(&estimate_options, &config.settings.options);
	return status;
}
