// SPDX-License-Identifier: Apache-2.0
/*
 * The command line: which command, and what help says. Each command is a function in a file of its
 * own.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/strbuf.h"
#include "kepler/config.h"
#include "kepler/config_command.h"
#include "kepler/doctor.h"
#include "kepler/monitor.h"
#include "kepler/version.h"
#include "options/render.h"

static int version_main(int argc, char *const *argv, char *const *environ_)
{
	(void)argc, (void)argv, (void)environ_;
	(void)printf("kepler %s%s%s\n", KEPLER_VERSION, KEPLER_REVISION[0] ? " " : "",
		     KEPLER_REVISION);
	return 0;
}

static const char usage_text[] =
	"Whose joules were these? Energy per process and service, as Prometheus metrics.\n"
	"\n"
	"usage: kepler [run] [OPTION]...    measure and serve\n"
	"       kepler doctor [--json]      what this machine has, what is missing, and how to get "
	"it\n"
	"       kepler config COMMAND       the configuration:\n";

static int print(struct strbuf *text)
{
	int status =
		strbuf_error(text) == 0 && fwrite(text->data, 1, text->len, stdout) == text->len
			? 0
			: 1;

	strbuf_release(text);
	return status;
}

static int help_main(int argc, char *const *argv, char *const *environ_)
{
	struct strbuf out = STRBUF_INIT;

	(void)argc, (void)argv, (void)environ_;
	strbuf_add_str(&out, usage_text);
	strbuf_add_str(&out, config_command_usage());
	strbuf_add_char(&out, '\n');
	options_help(&config_options, &out);
	return print(&out);
}

static const struct command {
	const char *name;
	int (*main)(int argc, char *const *argv, char *const *environ_);
	const char *what;                 /* it does, for its own --help; NULL: it has none */
	const struct option_set *options; /* that it takes */
} commands[] = {
	{ "run", monitor_main, "Measures and serves.", &config_options },
	{ "doctor", doctor_main,
	  "Says what this machine has, what is missing, and how to get it. Takes the options of "
	  "run\n"
	  "(kepler --help), and:",
	  &doctor_options },
	{ "config", config_command_main, NULL, NULL },
	{ "version", version_main, NULL, NULL },
	{ "--version", version_main, NULL, NULL },
	{ "help", help_main, NULL, NULL },
	{ "--help", help_main, NULL, NULL },
	{ "-h", help_main, NULL, NULL },
};

static int command_help(const struct command *command)
{
	struct strbuf out = STRBUF_INIT;

	strbuf_addf(&out, "usage: kepler %s [OPTION]...\n\n%s\n\n", command->name, command->what);
	options_help(command->options, &out);
	return print(&out);
}

static int run_command(const struct command *command, int argc, char *const *argv)
{
	bool wants_help = false;

	for (int i = 0; i < argc; i++)
		wants_help |= strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
	return wants_help && command->what ? command_help(command)
					   : command->main(argc, argv, environ);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return monitor_main(0, argv + 1, environ);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(argv[1], commands[i].name) == 0)
			return run_command(&commands[i], argc - 2, argv + 2);
	}
	if (argv[1][0] == '-') /* flags without a command are flags of run */
		return monitor_main(argc - 1, argv + 1, environ);
	(void)fprintf(
		stderr,
		"kepler: \"%s\": no such command; one of run, doctor, config, version, help\n",
		argv[1]);
	return 2;
}
