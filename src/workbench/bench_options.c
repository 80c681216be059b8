// SPDX-License-Identifier: Apache-2.0
#include "workbench/bench_options.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "modelling/option_checks.h"
#include "samples/metric_kind.h"
#include "training/validation.h"

#define OWN(member)               .offset = offsetof(struct bench_config, member)
#define CHECKED(member, function) OWN(member), .check = (function)

static const struct option_choice phases_by_name[] = {
	{ "next", PHASE_NONE },       { "stress", PHASE_STRESS },
	{ "collect", PHASE_COLLECT }, { "extract", PHASE_EXTRACT },
	{ "isolate", PHASE_ISOLATE }, { "train", PHASE_TRAIN },
	{ "report", PHASE_REPORT },   { 0 },
};
static const struct option_choice levels[] = { { "container", METRIC_CONTAINER },
					       { "process", METRIC_PROCESS },
					       { "vm", METRIC_VM },
					       { "node", METRIC_NODE },
					       { 0 } };
static const struct option rows[] = {
	TEXT_FLAG("output", OWN(output), "bench", "FOLDER",
		  "Folder for all files. Can also be given as an "
		  "operand."),
	TEXT_FLAG("benchmark", OWN(benchmark), "stress", "NAME",
		  "Name of the log of the stress run, NAME.json in the folder."),
	TEXT_FLAG("server", CHECKED(server, check_address), "http://localhost:9090", "URL",
		  "URL of the Prometheus server that scrapes Kepler on this machine."),
	TEXT_FLAG("exporter", CHECKED(exporter, check_address), "", "URL",
		  "URL of Kepler's own metrics, such as http://localhost:28282/metrics. They are "
		  "read "
		  "while the loads run, without Prometheus."),
	TEXT_FLAG("recording-dir", OWN(recordings), "", "FOLDER",
		  "Directory of a running Kepler's recordings (--record.dir). Rows are made from "
		  "them, "
		  "without Prometheus."),
	TEXT_FLAG("match", OWN(match), "", "MATCHERS",
		  "Label matchers for the series in Prometheus, in PromQL syntax without braces: "
		  "instance=\"node1:28282\"."),
	TEXT_FLAG("ca-file", OWN(ca_file), "", "FILE",
		  "CA certificates (PEM) for https. Empty: the system's "
		  "CA certificates."),
	SWITCH_FLAG("insecure", OWN(insecure), "Do not verify the server's certificate."),
	TEXT_FLAG(
		"token-file", OWN(token_file), "", "FILE",
		"File with a bearer token for Prometheus or for Kepler's metrics, readable only by "
		"its owner. Sent over https only."),
	TEXT_FLAG("user", OWN(user), "", "NAME",
		  "User name for basic authentication, over https only."),
	TEXT_FLAG("password-file", OWN(password_file), "", "FILE",
		  "File with the user's password, readable only by its owner."),
	{ "step", NULL, OPTION_DURATION, OWN(step_ns), .min = NSEC_PER_SEC,
	  .max = 3600 * NSEC_PER_SEC, .default_text = "3s", .metavar = "DURATION",
	  .only_flag = true,
	  .help = "Time between two points: the scrape interval of Prometheus." },
	{ "load", NULL, OPTION_STRINGS, OWN(loads),
	  .count_offset = offsetof(struct bench_config, load_count), .list_max = STRESS_LOADS_MAX,
	  .default_text = "cpu,branch,regs,l1cache,cache", .metavar = "LOAD", .only_flag = true,
	  .help = "Same as --load of stress." },
	TEXT_FLAG("instances", OWN(instances), "", "N,N", "As those of stress."),
	TEXT_FLAG("frequencies", OWN(frequencies), "", "MHZ,MHZ", "As those of stress."),
	{ "load-time", NULL, OPTION_DURATION, OWN(load_ns), .min = NSEC_PER_SEC,
	  .max = 3600 * NSEC_PER_SEC, .default_text = "20s", .metavar = "DURATION",
	  .only_flag = true, .help = "Run time of each load; same as --step of stress." },
	{ "pause", NULL, OPTION_DURATION, OWN(pause_ns), .max = 3600 * NSEC_PER_SEC,
	  .default_text = "5s", .metavar = "DURATION", .only_flag = true,
	  .help = "Time between two loads." },
	{ "idle", NULL, OPTION_DURATION, OWN(idle_ns), .max = 24 * 3600 * NSEC_PER_SEC,
	  .default_text = "1m40s", .metavar = "DURATION", .only_flag = true,
	  .help = "Idle time before the first load, in which idle power is measured." },
	{ "budget", NULL, OPTION_DURATION, OWN(budget_ns), .min = NSEC_PER_SEC,
	  .max = 30 * 24 * 3600 * NSEC_PER_SEC, .default_text = "5h", .metavar = "DURATION",
	  .only_flag = true,
	  .help = "Limit on the run time. A longer plan of loads is not "
		  "started." },
	TEXT_FLAG("stress-ng", OWN(program), "stress-ng", "PROGRAM",
		  "Name or path of the stress-ng "
		  "program."),
	TEXT_FLAG("sysfs", OWN(sysfs), "/sys", "FOLDER",
		  "Directory of sysfs, where frequencies are read and "
		  "set."),
	TEXT_FLAG("energy-source", OWN(source), "rapl-sysfs", "SOURCE",
		  "The meter that measured the power, such as rapl-sysfs or acpi."),
	{ "level", NULL, OPTION_ENUM, OWN(level), .choices = levels, .default_text = "container",
	  .metavar = "LEVEL", .only_flag = true,
	  .help = "Level whose counters are used as features; same as --level of extract." },
	TEXT_FLAG("feature-group", CHECKED(feature_group, check_feature_group), "", "NAME",
		  "Train only on the features of this group. Empty: all available features."),
	TEXT_FLAG("trainers", CHECKED(trainers, check_trainers), "", "NAMES",
		  "Same as --trainers of train-from-data."),
	{ "folds", NULL, OPTION_U32, OWN(folds), .min = FOLDS_MIN, .max = FOLDS_MAX,
	  .default_text = "10", .metavar = "COUNT", .only_flag = true,
	  .help = "Number of blocks of time into which rows are divided. Each block is held out "
		  "once." },
	{ "from", NULL, OPTION_ENUM, OWN(from), .choices = phases_by_name, .default_text = "next",
	  .metavar = "PHASE", .only_flag = true,
	  .help = "Repeat this phase and all later ones. next: start at the first phase without "
		  "its files." },
	SWITCH_FLAG("dry-run", OWN(dry_run), "Print the plan and its run time, and exit."),
};
static const struct option_section sections[] = { { rows, ARRAY_SIZE(rows), 0 } };

static int check(const struct option_values *values, struct diag *diag)
{
	const struct bench_config *config = (const struct bench_config *)(const void *)values;

	int r = 0;

	if (*config->exporter && *config->recordings)
		r = diag_add(diag, -EINVAL, "recording-dir: not together with exporter");
	if (!*config->benchmark || strchr(config->benchmark, '/'))
		r = diag_add(diag, -EINVAL, "benchmark: must be a name without a slash");
	if (config->step_ns % NSEC_PER_SEC)
		r = diag_add(diag, -EINVAL, "step: must be whole seconds");
	return r;
}

const struct option_set bench_options = {
	.program = &settings_program,
	.base = &settings_options,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct bench_config),
	.check = check,
};

const struct short_flag bench_short_flags[] = { { "-o", "output" },
						{ "-s", "server" },
						{ "-e", "energy-source" },
						{ "-fg", "feature-group" },
						{ NULL, NULL } };
