// SPDX-License-Identifier: Apache-2.0
/*
 * The exit status is the command's, so that a script can put `kepler stat --` before any command; a
 * failure of the measurement itself is reported, and counts only where the command succeeded.
 */
#include "kepler/stat/stat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/macro.h"
#include "config/config.h"
#include "kepler/stat/stat_output.h"
#include "kepler/stat/stat_run.h"
#include "options/operands.h"
#include "options/program.h"
#include "stat/stat_budget.h"
#include "stat/stat_runs.h"

#define STATUS_OVER  125
#define BASELINE_MAX (4U << 20) /* bytes */

enum idle_wanted { IDLE_EXCLUDE, IDLE_INCLUDE };

struct stat_config {
	struct config config;
	bool json, markdown;
	char *output, *budget, *prepare, *save, *baseline, *phase_regex;
	uint32_t repeat, warmup;
	enum idle_wanted idle;
};

#define OWN(member) .offset = offsetof(struct stat_config, member)

static const struct option_choice idles[] = { { "exclude", IDLE_EXCLUDE },
					      { "include", IDLE_INCLUDE },
					      { 0 } };

static const struct option own_rows[] = {
	SWITCH_FLAG("json", OWN(json), "Print the result as JSON (docs/stat.md)."),
	SWITCH_FLAG("markdown", OWN(markdown),
		    "Print the result as a Markdown table, for the summary of a CI job."),
	TEXT_FLAG("output", OWN(output), "", "FILE",
		  "Write the result to FILE instead of standard error."),
	TEXT_FLAG("budget", OWN(budget), "", "ENERGY",
		  "Exit with status 125 if the command used more energy than this, with a unit: J, "
		  "kJ, MJ, Wh or kWh, as in 500J."),
	{ "repeat", NULL, OPTION_U32, OWN(repeat), .min = 1, .max = RUNS_MAX, .default_text = "1",
	  .metavar = "N", .only_flag = true,
	  .help = "Run the command N times, and print the mean, the deviation and the median. A "
		  "run "
		  "that fails is the last one." },
	{ "warmup", NULL, OPTION_U32, OWN(warmup), .max = RUNS_MAX, .default_text = "0",
	  .metavar = "N", .only_flag = true, .help = "Run it N times before, unmeasured." },
	TEXT_FLAG("prepare", OWN(prepare), "", "SCRIPT",
		  "Run SCRIPT with sh before each run, unmeasured."),
	TEXT_FLAG("save", OWN(save), "", "FILE",
		  "Also write the result to FILE as JSON, for --baseline."),
	TEXT_FLAG("baseline", OWN(baseline), "", "FILE",
		  "Compare the energy with the runs in FILE, which --save wrote, by Welch's test."),
	TEXT_FLAG("phase-regex", OWN(phase_regex), "", "REGEX",
		  "A line of the command's output or errors that matches this extended regular "
		  "expression begins a phase, whose energy is printed on a line of its own."),
	{ "idle", NULL, OPTION_ENUM, OWN(idle), .choices = idles, .default_text = "exclude",
	  .metavar = "include|exclude", .only_flag = true,
	  .help = "Whether the result includes idle energy: of the processes if idle.share "
		  "charges them, else of the whole machine while the command ran." },
};
static const struct option_section own_sections[] = { { own_rows, ARRAY_SIZE(own_rows), 0 } };

static double budget_of(const struct stat_config *own)
{
	double joules = 0;

	if (*own->budget)
		(void)stat_budget_parse(own->budget, &joules); /* check() has done so */
	return joules;
}

static int check(const struct option_values *values, struct diag *diag)
{
	const struct stat_config *own = (const struct stat_config *)(const void *)values;
	double joules;

	if (*own->budget && stat_budget_parse(own->budget, &joules) < 0)
		return diag_set(diag, -EINVAL,
				"budget: must be an energy above 0 with the unit J, kJ, MJ, Wh or "
				"kWh, as in 500J, not \"%.40s\"",
				own->budget);
	if (own->json && own->markdown)
		return diag_set(diag, -EINVAL, "json and markdown exclude each other");
	if (*own->phase_regex && own->repeat > 1)
		return diag_set(diag, -EINVAL, "phase-regex and repeat exclude each other");
	return config_check(values, diag);
}

const struct option_set stat_options = {
	.program = &config_program,
	.base = &config_options,
	.sections = own_sections,
	.section_count = ARRAY_SIZE(own_sections),
	.size = sizeof(struct stat_config),
	.check = check,
};

struct measurement {
	const struct stat_config *own;
	struct stat_child child;
	struct stat_run run;
	struct stat_runs runs;
	struct stat_baseline baseline;
	struct stat_output output, saved;
	struct phase_pipes pipes;
	struct stat_phases phases;
	struct strbuf command;
};

static int read_baseline(struct measurement *of)
{
	CLEANUP_FREE char *text = NULL;
	struct diag diag = { "" };
	const char *name = of->own->baseline;
	size_t len;
	int r;

	if (!*name)
		return 0;
	of->baseline.name = name;
	r = read_file_alloc(name, BASELINE_MAX, &text, &len);
	if (r < 0)
		(void)diag_set(&diag, r, "%s", strerrordesc_np(-r));
	else
		r = stat_baseline_parse(text, len, &of->baseline, &diag);
	if (r < 0)
		(void)fprintf(stderr, "kepler: %s: %s\n", name, diag.text);
	return r < 0 ? 1 : 0;
}

/* Everything that can be wrong is found before the command runs. */
static int open_files(struct measurement *of)
{
	int r = read_baseline(of); /* which may be the file that is saved to */

	if (r == 0)
		r = stat_output_open(&of->output, of->own->output);
	if (r == 0 && *of->own->save)
		r = stat_output_open(&of->saved, of->own->save);
	return r;
}

static int write_saved(struct measurement *of)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	if (!of->saved.file)
		return 0;
	if (stat_runs_json(&of->runs, &of->baseline, &text) < 0)
		text.failed = true;
	return stat_output_write(&of->saved, &text);
}

static int write_result(struct measurement *of)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	int r;

	if (of->own->json)
		r = stat_runs_json(&of->runs, &of->baseline, &text);
	else if (of->own->markdown)
		r = stat_runs_markdown(&of->runs, &of->baseline, &text);
	else
		r = stat_runs_text(&of->runs, &of->baseline, &text);
	text.failed |= r < 0;
	r = stat_output_write(&of->output, &text);
	return write_saved(of) ? 1 : r;
}

static int tell(const struct diag *diag, int status)
{
	(void)fprintf(stderr, "kepler: %s\n", diag->text);
	return status;
}

/* The status of a script that fails is reported; it says nothing about the command. */
static int prepare(struct measurement *of)
{
	char shell[] = "sh", flag[] = "-c";
	char *const argv[] = { shell, flag, of->own->prepare, NULL };
	struct diag diag = { "" };
	int status;

	if (!*of->own->prepare)
		return 0;
	status = stat_run_unmeasured(&of->run, argv, &diag);
	if (status == 0)
		return 0;
	if (!diag.text[0])
		(void)diag_set(&diag, 1, "prepare: the script failed with status %d", status);
	return tell(&diag, 1);
}

static int warm_up(struct measurement *of)
{
	struct diag diag = { "" };
	int status = 0;

	for (uint32_t i = 0; status == 0 && i < of->own->warmup; i++) {
		status = prepare(of);
		if (status == 0)
			status = stat_run_unmeasured(&of->run, of->run.argv, &diag);
	}
	return status && diag.text[0] ? tell(&diag, status) : status;
}

/* Adds a run. 0, or the status to exit with if there is no result of it. */
static int measure_once(struct measurement *of)
{
	struct stat_result result = {
		.command = of->command.data ? of->command.data : "",
		.with_idle = of->own->idle == IDLE_INCLUDE,
		.budget_joules = budget_of(of->own),
	};
	struct diag diag = { "" };
	int r = prepare(of);

	if (r != 0)
		return r;
	r = stat_run_measured(&of->run, &result, &diag);
	if (r != 0)
		return tell(&diag, result.exit_status ? result.exit_status : r);
	if (stat_runs_add(&of->runs, &result) < 0)
		return tell(&(struct diag){ "out of memory" }, 1);
	return 0;
}

/* A run that fails is the last one: a signal to end has ended it, or it would spoil the mean. */
static int measure(struct measurement *of)
{
	int status = warm_up(of), r;

	for (uint32_t i = 0; status == 0 && i < of->own->repeat; i++) {
		status = measure_once(of);
		if (status != 0 && !of->runs.count)
			return status;
		if (status == 0)
			status = of->runs.mean.exit_status;
	}
	if (!of->runs.count)
		return status;
	r = write_result(of);
	if (stat_result_is_over(&of->runs.mean))
		return STATUS_OVER;
	return status ? status : r;
}

static int run(struct measurement *of, char *const *argv)
{
	struct diag diag = { "" };
	int r = open_files(of);

	if (r != 0)
		return r;
	r = stat_child_prepare(&of->child);
	if (r < 0) {
		(void)diag_set(&diag, r, "cannot follow a command: %s", strerrordesc_np(-r));
		return tell(&diag, 1);
	}
	of->run = (struct stat_run){
		.child = &of->child,
		.argv = argv,
		.interval_ns = of->own->config.monitor.interval_ns,
		.with_idle = of->own->idle == IDLE_INCLUDE,
	};
	if (*of->own->phase_regex) {
		of->run.pipes = &of->pipes;
		of->runs.phases = of->run.phases = &of->phases;
		if (phase_pipes_init(&of->pipes, of->own->phase_regex, &diag) < 0)
			return tell(&diag, PROGRAM_USAGE);
	}
	if (stat_source_open(&of->own->config, geteuid() == 0, &of->run.source, &diag) < 0)
		return tell(&diag, 1);
	for (char *const *word = argv; *word; word++)
		strbuf_addf(&of->command, "%s%s", word == argv ? "" : " ", *word);
	return measure(of);
}

static void release(struct measurement *of)
{
	stat_source_close(of->run.source);
	stat_child_release(&of->child);
	stat_runs_release(&of->runs);
	phase_pipes_release(&of->pipes);
	stat_output_close(&of->output);
	stat_output_close(&of->saved);
	strbuf_release(&of->command);
	free(of->baseline.joules);
}

/*
 * The command begins behind "--", or with the first word that is not an option. Returns its
 * place in @argv, or -1.
 */
static int find_command(int argc, char *const *argv)
{
	CLEANUP(operands_release) struct operands operands = { .count = 0 };
	int end = 0;

	while (end < argc && strcmp(argv[end], "--") != 0)
		end++;
	if (operands_sort(&stat_options, NULL, end, argv, &operands, NULL) < 0)
		return -1;
	for (int i = 0; operands.count && i < end; i++) {
		if (argv[i] == operands.words[0])
			return i;
	}
	return end + 1 < argc ? end + 1 : -1;
}

int stat_main(int argc, char *const *argv, char *const *environ_)
{
	int at = find_command(argc, argv), status;
	struct option_args args = { .argv = argv, .environ_ = environ_ };
	struct stat_config own = { .json = false };
	struct measurement of = { .own = &own, .child = { .signal_fd = -1 } };

	if (at < 0)
		return PROGRAM_WRONG_WORDS;
	args.argc = at > 0 && strcmp(argv[at - 1], "--") == 0 ? at - 1 : at;
	if (options_load_or_print(&stat_options, &args, &own.config.options, stderr) < 0)
		return PROGRAM_USAGE;
	log_setup(LOG_LEVEL_ERROR, own.config.log.format);
	status = run(&of, argv + at);
	release(&of);
	options_release(&stat_options, &own.config.options);
	return status;
}
