// SPDX-License-Identifier: Apache-2.0
#include "modelling/collect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/secret_file.h"
#include "modelling/data_path.h"
#include "modelling/model_command.h"
#include "modelling/option_checks.h"
#include "modelling/times.h"
#include "options/program.h"
#include "samples/collection.h"
#include "samples/metric_kind.h"
#include "samples/prometheus_query.h"

#define METRICS_LIST_MAX 64
#define BAR_WIDTH        30

struct collect_config {
	struct settings settings;
	char *server, *input, *output, *interval, *start_time, *end_time, *step, *prefix, *match;
	char *ca_file, *token_file, *user, *password_file, *data_path;
	char *thirdparty[METRICS_LIST_MAX];
	size_t thirdparty_count;
	bool insecure;
	uint64_t timeout_ns;
};

#define OWN(member)               .offset = offsetof(struct collect_config, member)
#define CHECKED(member, function) OWN(member), .check = (function)

static const struct option rows[] = {
	TEXT_FLAG("server", CHECKED(server, check_address), "http://localhost:9090", "URL",
		  "URL of a Prometheus-compatible server."),
	TEXT_FLAG("output", OWN(output), "output.json", "FILE",
		  "The file to write. Can also be given as an operand."),
	TEXT_FLAG("input", OWN(input), "", "FILE",
		  "A log of \"kepler-model stress\", or any JSON file with startTimeUTC and "
		  "endTimeUTC, which gives the period to collect."),
	TEXT_FLAG("start-time", CHECKED(start_time, check_time), "", "TIME",
		  "Start of the period: 2026-11-24T13:00:00Z, or seconds since 1970."),
	TEXT_FLAG("end-time", CHECKED(end_time, check_time), "", "TIME",
		  "End of the period. Empty: now."),
	TEXT_FLAG("interval", CHECKED(interval, check_seconds), "300", "DURATION",
		  "Length of the period if it has no start time: seconds, or a duration such as "
		  "5m."),
	TEXT_FLAG("step", CHECKED(step, check_step), "3", "DURATION",
		  "Time between two points, in seconds or as a duration such as 3s. Use the scrape "
		  "interval: shorter steps repeat points."),
	TEXT_FLAG("metric-prefix", OWN(prefix), "kepler_", "TEXT", "Prefix of metric names."),
	{ "thirdparty-metrics", NULL, OPTION_STRINGS, OWN(thirdparty),
	  .count_offset = offsetof(struct collect_config, thirdparty_count),
	  .list_max = METRICS_LIST_MAX, .default_text = "", .metavar = "METRIC", .only_flag = true,
	  .help = "Another metric to collect." },
	TEXT_FLAG("match", OWN(match), "", "MATCHERS",
		  "Label matchers in PromQL syntax, without the braces: "
		  "instance=\"node1:28282\"."),
	TEXT_FLAG("data-path", OWN(data_path), "", "FOLDER",
		  "Base directory for relative file names."),
	TEXT_FLAG("ca-file", OWN(ca_file), "", "FILE",
		  "CA certificates (PEM) for https. Empty: the system's CA certificates."),
	SWITCH_FLAG("insecure", OWN(insecure), "Do not verify the server's certificate."),
	TEXT_FLAG("token-file", OWN(token_file), "", "FILE",
		  "File with a bearer token, readable only by its owner. Sent over https only."),
	TEXT_FLAG("user", OWN(user), "", "NAME",
		  "User name for basic authentication, over https only."),
	TEXT_FLAG("password-file", OWN(password_file), "", "FILE",
		  "File with the user's password, readable only by its owner."),
	{ "timeout", NULL, OPTION_DURATION, OWN(timeout_ns), .min = NSEC_PER_SEC,
	  .max = 3600 * NSEC_PER_SEC, .default_text = "1m", .metavar = "DURATION",
	  .only_flag = true, .help = "Time limit for one response." },
};
static const struct option_section sections[] = { { rows, ARRAY_SIZE(rows), 0 } };

const struct option_set collect_command_options = {
	.program = &settings_program,
	.base = &settings_options,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct collect_config),
};

static const struct short_flag shorts[] = { { "-i", "input" },
					    { "-o", "output" },
					    { "-s", "server" },
					    { "-tm", "thirdparty-metrics" },
					    { NULL, NULL } };

static int find_times(const struct collect_config *config, struct collect_plan *plan,
		      struct diag *diag)
{
	int64_t now_us = (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_USEC), interval_us = 0;
	char input[DATA_PATH_SIZE];

	(void)seconds_parse(config->step, &plan->step_us);
	(void)seconds_parse(config->interval, &interval_us);
	if (*config->input)
		return times_of_log(data_path_of(config->data_path, config->input, input),
				    &plan->start_us, &plan->end_us, diag);
	plan->end_us = now_us;
	if (*config->end_time)
		(void)time_parse(config->end_time, &plan->end_us);
	plan->start_us = plan->end_us - interval_us;
	if (*config->start_time)
		(void)time_parse(config->start_time, &plan->start_us);
	/* In whole milliseconds, Prometheus' resolution. */
	plan->start_us -= plan->start_us % 1000;
	if (plan->start_us < 0 || plan->start_us >= plan->end_us)
		return diag_set(diag, -EINVAL, "the time must end after it begins");
	return 0;
}

static bool wants(void *userdata, const char *name)
{
	const struct collect_config *config = userdata;

	for (size_t i = 0; i < config->thirdparty_count; i++) {
		if (strcmp(config->thirdparty[i], name) == 0)
			return true;
	}
	return strncmp(name, config->prefix, strlen(config->prefix)) == 0 &&
	       (strncmp(config->prefix, "kepler_", 7) != 0 || metric_is_collected(name));
}

/* A run: its inputs, and its result. */
struct session {
	struct collect_config *config;
	struct prometheus *prometheus;
	struct collect_plan plan;
	bool on_terminal, has_bar;
};

static int session_query(void *userdata, const struct collect_range *range,
			 const struct series_sink *sink, struct diag *diag)
{
	struct session *session = userdata;

	return prometheus_range(session->prometheus, range, sink, diag);
}

static int session_wait(void *userdata, unsigned seconds)
{
	(void)userdata;
	(void)fprintf(stderr, "kepler-model collect: no response; retrying in %u s\n", seconds);
	(void)sleep(seconds);
	return 0;
}

static void session_progress(void *userdata, const char *metric, double done)
{
	struct session *session = userdata;
	char bar[BAR_WIDTH + 1];

	if (!session->on_terminal)
		return;
	for (int i = 0; i < BAR_WIDTH; i++)
		bar[i] = i < (int)(done * BAR_WIDTH) ? '#' : '.';
	bar[BAR_WIDTH] = '\0';
	(void)fprintf(stderr, "\r\033[K[%s] %3.0f %% %.48s", bar, done * 100, metric);
	session->has_bar = true;
}

static int make_plan(struct session *session, const char *path, char **ret_source,
		     struct diag *diag)
{
	struct collect_config *config = session->config;
	int r = collection_find_plan(path, &session->plan, ret_source, diag);

	if (r == 1 && strcmp(*ret_source, config->server) != 0)
		return diag_set(
			diag, -EINVAL,
			"%s.progress: of %s, not of %s; remove it and %s.part to start again", path,
			*ret_source, config->server, path);
	if (r != 0)
		return r < 0 ? r : 0;
	session->plan.source = config->server;
	r = find_times(config, &session->plan, diag);
	if (r == 0)
		r = prometheus_metrics(session->prometheus, session->plan.start_us,
				       session->plan.end_us, wants, config, &session->plan.metrics,
				       &session->plan.metric_count, diag);
	if (r == 0 && session->plan.metric_count == 0)
		return diag_set(diag, -ENODATA,
				"%s: no metric there begins with %s in that time: does it scrape "
				"Kepler?",
				config->server, config->prefix);
	return r;
}

static void print_result(const struct session *session, const char *path,
			 const struct collect_result *result)
{
	char start[32], end[32];

	time_format(session->plan.start_us, start, sizeof(start));
	time_format(session->plan.end_us, end, sizeof(end));
	(void)fprintf(
		stderr,
		"kepler-model collect: %s: %s to %s: %zu metrics, %llu series, %llu points in "
		"%llu queries%s\n",
		path, start, end, session->plan.metric_count, (unsigned long long)result->series,
		(unsigned long long)result->points, (unsigned long long)result->queries,
		result->was_resumed ? " since it was continued" : "");
	if (result->outside)
		(void)fprintf(stderr,
			      "kepler-model collect: %llu points outside the requested time are "
			      "left out\n",
			      (unsigned long long)result->outside);
}

static int collect(struct session *session, const char *path, struct diag *diag)
{
	const struct collect_hooks hooks = { session_query, session_wait, session_progress,
					     session };
	CLEANUP_FREE char *source = NULL;
	struct collect_result result = { 0 };
	int r = make_plan(session, path, &source, diag);

	if (r == 0)
		r = collection_run(path, &session->plan, &hooks, &result, diag);
	if (session->has_bar)
		(void)fputs("\r\033[K", stderr);
	if (r == 0)
		print_result(session, path, &result);
	free(session->plan.metrics);
	return r;
}

static int run(void *userdata, const struct operands *operands, struct diag *diag)
{
	struct collect_config *config = userdata;
	const char *path = operands->count ? operands->words[0] : config->output;
	CLEANUP_FREE char *token = NULL;
	CLEANUP_FREE char *password = NULL;
	struct session session = { .config = config, .on_terminal = isatty(STDERR_FILENO) };
	struct prometheus_options options;
	char buf[DATA_PATH_SIZE];
	int r = secret_file_read(config->token_file, &token, diag);

	if (r == 0)
		r = secret_file_read(config->password_file, &password, diag);
	if (r < 0)
		return r;
	options = (struct prometheus_options){
		.url = config->server,
		.ca_file = config->ca_file,
		.bearer_token = token,
		.user = config->user,
		.password = password,
		.matchers = config->match,
		.insecure = config->insecure,
		.timeout_ms = config->timeout_ns / NSEC_PER_MSEC,
	};
	r = prometheus_new(&options, &session.prometheus, diag);
	if (r == 0)
		r = collect(&session, data_path_of(config->data_path, path, buf), diag);
	prometheus_free(session.prometheus);
	return r;
}

int collect_main(int argc, char *const *argv, char *const *environ_)
{
	static const struct model_command command = { .name = "collect",
						      .set = &collect_command_options,
						      .shorts = shorts,
						      .max = 1,
						      .run = run };

	return model_command_run(&command, argc, argv, environ_);
}
