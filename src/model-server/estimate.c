// SPDX-License-Identifier: Apache-2.0
#include "model-server/estimate.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "model-server/estimate_request.h"
#include "model-server/estimator.h"
#include "model-server/socket_server.h"
#include "modelling/daemon.h"
#include "modelling/machine_file.h"
#include "modelling/model_command.h"
#include "net/http_unix.h"

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
	int listener;     /* -1: it does not listen */
	struct stat made; /* the socket's file */
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

/* If the new models cannot be read, the previous ones stay. */
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

static bool wait(void *userdata, int signal_fd)
{
	struct estimating *estimating = userdata;

	return socket_server_turn(estimating->server, signal_fd, TURN_MS);
}

static void turn(void *userdata, uint64_t now_ns, bool wants_reload)
{
	struct estimating *estimating = userdata;
	bool is_time = now_ns - estimating->looked_ns >= estimating->config->rescan_ns;

	if (is_time)
		estimating->looked_ns = now_ns;
	if (wants_reload ||
	    (is_time && repository_fingerprint(estimating->root) != estimating->fingerprint))
		reload(estimating);
}

static int start_listening(struct estimating *estimating, struct diag *diag)
{
	const struct estimate_config *config = estimating->config;
	struct socket_options options = {
		.request_max = ESTIMATE_REQUEST_MAX,
		.answer = answer,
		.refuse = refuse,
		.userdata = estimating,
	};
	mode_t mode = 0;
	int r = http_unix_parse_mode(config->socket_mode, &mode, diag);

	if (r == 0)
		r = http_unix_listen(config->socket, mode, &estimating->made, diag);
	if (r < 0)
		return r;
	options.listener = estimating->listener = r;
	estimating->server = socket_server_new(&options);
	if (!estimating->server)
		return diag_set(diag, -ENOMEM, "out of memory");
	log_info("listening on unix:%s", config->socket);
	estimating->looked_ns = clock_ns(CLOCK_MONOTONIC);
	return 0;
}

static int start(void *userdata, struct diag *diag)
{
	struct estimating *estimating = userdata;
	int r = machine_file_read(estimating->config->machine, &estimating->machine, diag);

	if (r == 0)
		r = load(estimating, diag);
	return r < 0 ? r : start_listening(estimating, diag);
}

static void stop(void *userdata)
{
	struct estimating *estimating = userdata;

	socket_server_free(estimating->server);
	if (estimating->listener >= 0) {
		http_unix_remove(estimating->config->socket, &estimating->made);
		(void)close(estimating->listener);
	}
	estimator_free(estimating->estimator);
}

static int estimate(void *userdata, const struct operands *operands, struct diag *diag)
{
	const struct estimate_config *config = userdata;
	const struct daemon daemon = { .security = &config->security,
				       .start = start,
				       .turn = turn,
				       .stop = stop,
				       .wait = wait };
	struct estimating estimating = { .config = config,
					 .root = operands->words[0],
					 .listener = -1 };

	return daemon_run(&daemon, &estimating, diag);
}

int estimate_main(int argc, char *const *argv, char *const *environ_)
{
	static const struct model_command command = {
		.set = &estimate_options, .min = 1, .max = 1, .run = estimate
	};

	return model_command_run(&command, argc, argv, environ_);
}
