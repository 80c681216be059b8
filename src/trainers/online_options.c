// SPDX-License-Identifier: Apache-2.0
#include "trainers/online_options.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "modelling/option_checks.h"

#define OWN(member) .offset = offsetof(struct online_config, member)
#define TEXT(option, member, variable, text)                                                       \
	{                                                                                          \
		option, NULL, OPTION_STRING, OWN(member), .default_text = "", .metavar = variable, \
							  .may_be_empty = true, .help = text       \
	}
#define TIME(option, member, usual, least, text)                                                   \
	{                                                                                          \
		option, NULL, OPTION_DURATION, OWN(member),                                        \
			.min = (least), .max = 30 * 86400 * NSEC_PER_SEC, .default_text = usual,   \
			.metavar = "DURATION", .help = text                                        \
	}

static const struct option rows[] = {
	{ "server", NULL, OPTION_STRING, OWN(server), .check = check_address,
	  .default_text = "http://localhost:9090", .metavar = "URL",
	  .help = "URL of a Prometheus-compatible server." },
	TEXT("match", match, "MATCHERS",
	     "Label matchers in PromQL syntax, without the braces: job=\"kepler\"."),
	{ "step", NULL, OPTION_STRING, OWN(step), .check = check_step, .default_text = "3",
	  .metavar = "DURATION",
	  .help = "Time between two points, in seconds or as a duration such as 3s. Use the scrape "
		  "interval." },
	TEXT("ca-file", ca_file, "FILE",
	     "CA certificates (PEM) for https. Empty: the system's CA "
	     "certificates."),
	TEXT("token-file", token_file, "FILE",
	     "File with a bearer token for Prometheus, readable only by its owner. Sent over https "
	     "only."),
	TEXT("user", user, "NAME", "User name for basic authentication, over https only."),
	TEXT("password-file", password_file, "FILE",
	     "File with the user's password, readable only by its owner."),
	{ "insecure", NULL, OPTION_BOOL, OWN(insecure), .default_text = "false",
	  .help = "Do not verify the server's certificate." },
	TIME("timeout", timeout_ns, "1m", NSEC_PER_SEC, "Time limit for one response."),
	{ "state-dir", NULL, OPTION_STRING, OWN(state_dir),
	  .default_text = "/var/lib/kepler-online-trainer", .metavar = "FOLDER",
	  .help = "An existing folder for the learned state and for temporary files." },
	TEXT("machines", machines, "FILE",
	     "Machine of each node: a JSON object that maps each node's instance, or * for all "
	     "others, to its processor, cores, chips, memory and frequency. Nodes without an entry "
	     "are left out. Empty: all nodes are machines like this one."),
	{ "pipeline-name", NULL, OPTION_STRING, OWN(pipeline), .default_text = "online",
	  .metavar = "NAME", .help = "Pipeline of the repository that models are added to." },
	{ "energy-source", NULL, OPTION_STRING, OWN(source), .default_text = "rapl-sysfs",
	  .metavar = "SOURCE", .help = "The meter that measured the power." },
	{ "feature-group", NULL, OPTION_STRING, OWN(group), .check = check_feature_group,
	  .default_text = "BPFOnly", .metavar = "NAME",
	  .help = "Feature group to train on, such as BPFOnly, CounterOnly or Basic. All nodes "
		  "must have its features." },
	{ "trainers", NULL, OPTION_STRING, OWN(trainers), .check = check_trainers,
	  .default_text = "BlendedTrees", .metavar = "NAMES",
	  .help = "Trainers, separated by commas, in addition to LinearRegressionTrainer." },
	TIME("interval", interval_ns, "5m", NSEC_PER_SEC, "How often new points are collected."),
	TIME("history", history_ns, "1h", NSEC_PER_SEC,
	     "How far back points are collected at first, and at most after a pause."),
	TIME("retrain", retrain_ns, "1h", NSEC_PER_SEC,
	     "How often a model is trained again; when the model in use no longer fits, with each "
	     "new block of rows."),
	TIME("deadline", deadline_ns, "30m", NSEC_PER_SEC,
	     "How long one collection, extraction or training may take."),
	{ "memory", NULL, OPTION_U32, OWN(memory_mib), .min = 128, .max = 1048576,
	  .default_text = "4096", .metavar = "MIB",
	  .help = "Limit on the address space of each of them, in MiB." },
	{ "only-idle", NULL, OPTION_BOOL, OWN(only_idle), .default_text = "true",
	  .help = "Run them only while CPUs are idle. On a machine that is always busy they may "
		  "then never end in time." },
	WEB_LISTEN_OPTION(struct online_config, "127.0.0.1:8103"),
	WEB_CONNECTIONS_OPTION(struct online_config, "512"),
};
static const struct option_section sections[] = {
	{ rows, ARRAY_SIZE(rows), 0 },
	{ web_rows_of_options, WEB_OPTION_COUNT, offsetof(struct online_config, web) },
	{ security_rows_of_options, SECURITY_OPTION_COUNT,
	  offsetof(struct online_config, security) },
};

static int check(const struct option_values *values, struct diag *diag)
{
	const struct online_config *config = (const struct online_config *)(const void *)values;

	return web_options_check(&config->web, diag);
}

const struct option_set online_options = {
	.program = &settings_program,
	.base = &settings_options,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct online_config),
	.check = check,
};
