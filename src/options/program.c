// SPDX-License-Identifier: Apache-2.0
#include "options/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/strbuf.h"
#include "base/wrap.h"
#include "options/completion.h"
#include "options/render.h"
#include "options/spelling.h"
#include "options/version.h"

static int put(const struct program *program, const struct strbuf *text, FILE *out, FILE *err)
{
	if (strbuf_error(text) == 0 && fwrite(text->data, 1, text->len, out) == text->len &&
	    fflush(out) == 0)
		return EXIT_SUCCESS;
	(void)fprintf(err, "%s: standard output: %s\n", program->name,
		      strbuf_error(text) < 0 ? "out of memory" : strerrordesc_np(errno));
	return EXIT_FAILURE;
}

static int print_version(const struct program *program, FILE *out, FILE *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	strbuf_addf(&text, "%s %s%s%s\n", program->name, KEPLER_VERSION,
		    KEPLER_REVISION[0] ? " " : "", KEPLER_REVISION);
	return put(program, &text, out, err);
}

static int print_completion(const struct program *program, FILE *out, FILE *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	completion_write(program, &text);
	return put(program, &text, out, err);
}

static void add_usage(const struct program *program, struct strbuf *out)
{
	static const char help[] = "help [COMMAND]";
	size_t width = strlen(help);

	for (size_t i = 0; i < program->count; i++) {
		size_t len = strlen(program->commands[i].synopsis);

		width = len > width ? len : width;
	}
	for (size_t i = 0; i < program->count; i++) {
		const struct command *command = &program->commands[i];

		strbuf_addf(out, "%s %s %-*s    %s\n%s", i ? "      " : "usage:", program->name,
			    (int)width, command->synopsis, command->summary,
			    command->more ? command->more : "");
	}
	if (program->count == 0)
		strbuf_addf(out, "usage: %s --help | --version\n", program->name);
	else
		strbuf_addf(out,
			    "       %s %-*s    %s\n"
			    "       %s %-*s    %s\n"
			    "       %s --version\n",
			    program->name, (int)width, help, "what a command does, and its options",
			    program->name, (int)width, "completion",
			    "a script for bash that completes all this", program->name);
}

static int print_help(const struct program *program, FILE *out, FILE *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	strbuf_addf(&text, "%s\n\n", program->about);
	add_usage(program, &text);
	if (program->unnamed) {
		strbuf_add_char(&text, '\n');
		options_help(program->unnamed->options, &text);
	}
	return put(program, &text, out, err);
}

/* "rule measure FILE [OPTION]..." */
static void add_synopsis(const struct program *program, const struct command *command,
			 struct strbuf *out)
{
	strbuf_addf(out, "%s %s%s%s%s", program->name, command->name, command->operands ? " " : "",
		    command->operands ? command->operands : "",
		    command->options ? " [OPTION]..." : "");
}

static int print_command_help(const struct program *program, const struct command *command,
			      FILE *out, FILE *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	strbuf_add_str(&text, "usage: ");
	add_synopsis(program, command, &text);
	strbuf_add_str(&text, "\n\n");
	wrap_text(&text, command->what, 0, 0, OPTIONS_HELP_WIDTH);
	strbuf_add_str(&text, "\n\n");
	if (command->more)
		strbuf_addf(&text, "%s%s", command->more, command->options ? "\n" : "");
	if (command->options)
		options_help(command->options, &text);
	return put(program, &text, out, err);
}

static bool is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static bool is_version(const char *word)
{
	return strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0 ||
	       strcmp(word, "version") == 0;
}

static bool wants_help(const struct command *command, int argc, char *const *argv)
{
	for (int i = 0; i < argc && command->what; i++) {
		if (is_help(argv[i]))
			return true;
	}
	return false;
}

/* @word is not a command, or it is a flag and the program takes none. */
static int refuse(const struct program *program, const char *word, FILE *err)
{
	static const char *const common[] = { "version", "help", "completion", "--version",
					      "--help" };
	struct spelling_nearest best = spelling_begin(word);
	char shown[128];

	(void)option_printable(shown, sizeof(shown), word);
	for (size_t i = 0; i < program->count; i++)
		spelling_consider(&best, program->commands[i].name, SIZE_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(common); i++)
		spelling_consider(&best, common[i], SIZE_MAX);
	(void)fprintf(err, "%s: %s: %s; ", program->name, shown,
		      word[0] == '-' ? "unknown flag" : "no such command");
	if (best.name)
		(void)fprintf(err, "did you mean %s?\n", best.name);
	else
		(void)fprintf(err, "--help lists all\n");
	return PROGRAM_USAGE;
}

static int run_command(const struct program *program, const struct command *command, int argc,
		       char *const *argv, char *const *environ_, FILE *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	int status = command->run(argc, argv, environ_);

	if (status != PROGRAM_WRONG_WORDS)
		return status;
	add_synopsis(program, command, &text);
	(void)fprintf(err, "usage: %s; %s %s --help explains it\n", text.data ? text.data : "",
		      program->name, command->name);
	return PROGRAM_USAGE;
}

static const struct command *find_command(const struct program *program, const char *word)
{
	for (size_t i = 0; i < program->count; i++) {
		if (strcmp(word, program->commands[i].name) == 0)
			return &program->commands[i];
	}
	return NULL;
}

/* "help COMMAND" */
static int help_on(const struct program *program, const char *word, FILE *out, FILE *err)
{
	const struct command *command = find_command(program, word);

	if (!command)
		return refuse(program, word, err);
	return command->what ? print_command_help(program, command, out, err)
			     : print_help(program, out, err);
}

int program_run(const struct program *program, int argc, char *const *argv, char *const *environ_,
		FILE *out, FILE *err)
{
	const char *word = argc > 1 ? argv[1] : NULL;

	const struct command *command = word ? find_command(program, word) : NULL;

	if (command)
		return wants_help(command, argc - 2, argv + 2)
			       ? print_command_help(program, command, out, err)
			       : run_command(program, command, argc - 2, argv + 2, environ_, err);
	if (word && strcmp(word, "help") == 0 && argc > 2)
		return help_on(program, argv[2], out, err);
	if (word && (is_help(word) || strcmp(word, "help") == 0))
		return print_help(program, out, err);
	if (word && is_version(word))
		return print_version(program, out, err);
	if (word && strcmp(word, "completion") == 0)
		return print_completion(program, out, err);
	if (program->unnamed && (!word || word[0] == '-'))
		return run_command(program, program->unnamed, word ? argc - 1 : 0, argv + 1,
				   environ_, err);
	if (word)
		return refuse(program, word, err);
	(void)fprintf(err, "%s: no command; --help lists all\n", program->name);
	return PROGRAM_USAGE;
}

int program_main(const struct program *program, int argc, char *const *argv)
{
	return program_run(program, argc, argv, environ, stdout, stderr);
}
