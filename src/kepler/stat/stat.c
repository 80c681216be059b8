// SPDX-License-Identifier: Apache-2.0
/*
 * The exit status is the command's, so that a script can put `kepler stat --` before any command; a
 * failure of the measurement itself is reported, and counts only where the command succeeded.
 */
#include "kepler/stat/stat.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/macro.h"
#include "config/config.h"
#include "kepler/stat/stat_run.h"
#include "options/operands.h"
#include "options/program.h"
#include "stat/stat_budget.h"

#define STATUS_OVER 125

enum idle_wanted { IDLE_EXCLUDE, IDLE_INCLUDE };

struct stat_config {
	struct config config;
	bool json, markdown;
	char *output, *budget;
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
	struct stat_source *source;
	struct stat_result result;
	struct strbuf command, text;
	FILE *output;
};

/* Before the command runs, which may take hours. 0 or -errno. */
static int open_output(struct measurement *of)
{
	int fd;

	if (!*of->own->output) {
		of->output = stderr;
		return 0;
	}
	fd = open(of->own->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd >= 0)
		of->output = fdopen(fd, "w");
	return of->output ? 0 : -errno;
}

static const char *output_name(const struct measurement *of)
{
	return *of->own->output ? of->own->output : "standard error";
}

static int write_output(struct measurement *of)
{
	const struct strbuf *text = &of->text;
	bool is_written = text->data && !text->failed &&
			  fwrite(text->data, 1, text->len, of->output) == text->len &&
			  fflush(of->output) == 0;

	if (is_written)
		return 0;
	(void)fprintf(stderr, "kepler: %s: the result could not be written: %s\n", output_name(of),
		      strerrordesc_np(errno ? errno : ENOMEM));
	return 1;
}

static void make_text(struct measurement *of)
{
	if (of->own->json) {
		strbuf_add_char(&of->text, '{');
		stat_json_members(&of->result, &of->text);
		strbuf_add_str(&of->text, "}\n");
	} else if (of->own->markdown) {
		stat_markdown(&of->result, &of->text);
	} else {
		stat_text(&of->result, &of->text);
	}
}

static int measure(struct measurement *of, char *const *argv)
{
	const struct stat_run run = {
		.source = of->source,
		.child = &of->child,
		.argv = argv,
		.interval_ns = of->own->config.monitor.interval_ns,
	};
	struct diag diag = { "" };
	int r, status;

	r = stat_run_measured(&run, &of->result, &diag);
	if (r != 0) {
		(void)fprintf(stderr, "kepler: %s\n", diag.text);
		return of->child.has_exited && of->child.status ? of->child.status : r;
	}
	make_text(of);
	r = write_output(of);
	status = stat_result_is_over(&of->result) ? STATUS_OVER : of->result.exit_status;
	return status ? status : r;
}

static int run(struct measurement *of, char *const *argv)
{
	struct diag diag = { "" };
	int r = open_output(of);

	if (r < 0) {
		(void)fprintf(stderr, "kepler: %s: %s\n", of->own->output, strerrordesc_np(-r));
		return 1;
	}
	r = stat_child_prepare(&of->child);
	if (r < 0)
		(void)fprintf(stderr, "kepler: cannot follow a command: %s\n", strerrordesc_np(-r));
	if (r == 0 && stat_source_open(&of->own->config, geteuid() == 0, &of->source, &diag) < 0) {
		(void)fprintf(stderr, "kepler: %s\n", diag.text);
		r = -EIO;
	}
	if (r < 0)
		return 1;
	for (char *const *word = argv; *word; word++)
		strbuf_addf(&of->command, "%s%s", word == argv ? "" : " ", *word);
	of->result = (struct stat_result){
		.command = of->command.data ? of->command.data : "",
		.with_idle = of->own->idle == IDLE_INCLUDE,
		.budget_joules = budget_of(of->own),
	};
	return measure(of, argv);
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
	stat_source_close(of.source);
	stat_child_release(&of.child);
	strbuf_release(&of.command);
	strbuf_release(&of.text);
	if (of.output && of.output != stderr)
		(void)fclose(of.output);
	options_release(&stat_options, &own.config.options);
	return status;
}
