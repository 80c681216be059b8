// SPDX-License-Identifier: Apache-2.0
#include "kepler-model/online_options.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "kepler-model/times.h"
#include "model/feature.h"
#include "net/http_listen.h"
#include "options/layers.h"
#include "training/running_fit.h"

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
	{ "web.listen-address", NULL, OPTION_STRINGS, OWN(listen),
	  .count_offset = offsetof(struct online_config, listen_count),
	  .list_max = ONLINE_LISTEN_MAX, .default_text = "127.0.0.1:8103", .metavar = "ADDRESS",
	  .check = http_listen_check,
	  .help = "Where /metrics and /healthz are: HOST:PORT, [IPV6]:PORT, :PORT for all "
		  "addresses, or unix:PATH." },
	TEXT("web.token-file", web_tokens, "FILE",
	     "A file with a token in each line, which only its owner may read. With it clients of "
	     "/metrics have to send one of them (Authorization: Bearer TOKEN)."),
	{ "server", NULL, OPTION_STRING, OWN(server), .default_text = "http://localhost:9090",
	  .metavar = "URL", .help = "The Prometheus, or what speaks its API." },
	TEXT("match", match, "MATCHERS",
	     "What series have to match, as PromQL has it between braces: job=\"kepler\"."),
	{ "step", NULL, OPTION_STRING, OWN(step), .default_text = "3", .metavar = "DURATION",
	  .help = "Time between two points: seconds, or 3s. As long as the scrape interval." },
	TEXT("ca-file", ca_file, "FILE", "Authorities (PEM) for https. Empty: the system's."),
	TEXT("token-file", token_file, "FILE",
	     "A file with a bearer token for the Prometheus, which only its owner may read. Over "
	     "https only."),
	TEXT("user", user, "NAME", "User for basic authentication. Over https only."),
	TEXT("password-file", password_file, "FILE",
	     "A file with the user's password, which only its owner may read."),
	{ "insecure", NULL, OPTION_BOOL, OWN(insecure), .default_text = "false",
	  .help = "Do not verify the server's certificate." },
	TIME("timeout", timeout_ns, "1m", NSEC_PER_SEC, "How long one answer may take."),
	{ "state-dir", NULL, OPTION_STRING, OWN(state_dir),
	  .default_text = "/var/lib/kepler-online-trainer", .metavar = "FOLDER",
	  .help = "An existing folder for what was learned, and for files of the work under way." },
	TEXT("machines", machines, "FILE",
	     "Which machine each node is: a JSON object with the node's instance, or * for all "
	     "others, and its processor, cores, chips, memory and frequency. Nodes that are not in "
	     "it are left out. Empty: all nodes are machines like this one."),
	{ "pipeline-name", NULL, OPTION_STRING, OWN(pipeline), .default_text = "online",
	  .metavar = "NAME", .help = "The pipeline of the repository that models are put into." },
	{ "energy-source", NULL, OPTION_STRING, OWN(source), .default_text = "rapl-sysfs",
	  .metavar = "SOURCE", .help = "What measured the power." },
	{ "feature-group", NULL, OPTION_STRING, OWN(group), .default_text = "BPFOnly",
	  .metavar = "NAME",
	  .help = "The features that models are trained on: BPFOnly, CounterOnly, Basic and the "
		  "like. All nodes must have them." },
	{ "trainers", NULL, OPTION_STRING, OWN(trainers), .default_text = "BlendedTrees",
	  .metavar = "NAMES",
	  .help = "Ways to train, separated by commas, beside the line over all rows." },
	TIME("interval", interval_ns, "5m", NSEC_PER_SEC, "How often new points are asked for."),
	TIME("history", history_ns, "1h", NSEC_PER_SEC,
	     "How far back points are asked for at first, and at most after a pause."),
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
	const struct feature_group *group = feature_group_find(config->group);
	int64_t us;

	if (strncmp(config->server, "http://", 7) != 0 &&
	    strncmp(config->server, "https://", 8) != 0)
		return diag_set(diag, -EINVAL, "server: must begin with http:// or https://");
	if (!group)
		return diag_set(
			diag, -EINVAL,
			"feature-group: no group of that name, such as BPFOnly, CounterOnly "
			"or Basic");
	if (seconds_parse(config->step, &us) < 0 || us < 1000)
		return diag_set(diag, -EINVAL, "step: must be seconds, or such as 3s");
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
