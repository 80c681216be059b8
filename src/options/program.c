// SPDX-License-Identifier: Apache-2.0
#include "options/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/strbuf.h"
#include "options/completion.h"
#include "options/program_help.h"
#include "options/spelling.h"
#include "options/version.h"

#define SECTIONS_MAX 64

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

static int print_help(const struct program *program,
		      void (*add)(const struct program *, struct strbuf *), FILE *out, FILE *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	add(program, &text);
	return put(program, &text, out, err);
}

static int print_command_help(const struct program *program, const struct command *command,
			      FILE *out, FILE *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	program_help_command(program, command, &text);
	return put(program, &text, out, err);
}

static bool is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static bool is_version(const char *word)
{
	return strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0 ||
	       strcmp(word, "-v") == 0 || strcmp(word, "version") == 0;
}

static bool wants_help(const struct command *command, int argc, char *const *argv)
{
	/* The words after "--" belong to another program. */
	for (int i = 0; i < argc && command->what && strcmp(argv[i], "--") != 0; i++) {
		if (is_help(argv[i]))
			return true;
	}
	return false;
}

/* Words that are no commands of the table. */
static void consider_words(const struct program *program, struct spelling_nearest *best)
{
	static const char *const common[] = { "version", "help", "completion", "--version",
					      "--help" };

	for (size_t i = 0; i < program->count; i++)
		spelling_consider(best, program->commands[i].name, SIZE_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(common); i++)
		spelling_consider(best, common[i], SIZE_MAX);
}

static const char *find_advice(const struct program *program, const char *word)
{
	const struct command_hint *hint = program->hints;

	while (hint && hint->word && strcmp(hint->word, word) != 0)
		hint++;
	return hint && hint->word ? hint->advice : NULL;
}

static int complain(const struct program *program, const char *word, const char *what,
		    const struct spelling_nearest *best, FILE *err)
{
	char shown[128];

	(void)fprintf(err, "%s: %s: %s; ", program->name,
		      option_printable(shown, sizeof(shown), word), what);
	if (best->name)
		(void)fprintf(err, "did you mean %.*s?\n", (int)best->len, best->name);
	else
		(void)fprintf(err, "see --help\n");
	return PROGRAM_USAGE;
}

/* @word is not a command, or it is a flag and the program takes none. */
static int refuse(const struct program *program, const char *word, FILE *err)
{
	struct spelling_nearest best = spelling_begin(word);
	const char *advice = find_advice(program, word);

	consider_words(program, &best);
	if (!advice)
		return complain(program, word, word[0] == '-' ? "unknown flag" : "no such command",
				&best, err);
	(void)fprintf(err, "%s: %s: no such command; %s\n", program->name, word, advice);
	return PROGRAM_USAGE;
}

static int run_command(const struct program *program, const struct command *command, int argc,
		       char *const *argv, char *const *environ_, FILE *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	int status = command->run(argc, argv, environ_);

	if (status != PROGRAM_WRONG_WORDS)
		return status;
	program_add_synopsis(program, command, &text);
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

/* @word of help is neither a command nor a section. */
static int refuse_topic(const struct program *program, const char *word, FILE *err)
{
	const struct option_set *set = program_options(program);
	struct spelling_nearest best = spelling_begin(word);
	char names[SECTIONS_MAX][OPTION_NAME_MAX];

	consider_words(program, &best);
	for (size_t i = 0; set && i < SECTIONS_MAX && option_section_at(set, i, names[i]); i++)
		spelling_consider(&best, names[i], SIZE_MAX);
	return complain(program, word, set ? "no such command or section" : "no such command",
			&best, err);
}

/* "help COMMAND", "help SECTION", "help all" */
static int help_on(const struct program *program, const char *word, FILE *out, FILE *err)
{
	const struct command *command = find_command(program, word);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	if (command)
		return print_command_help(program, command, out, err);
	if (strcmp(word, "all") == 0)
		return print_help(program, program_help_all, out, err);
	if (strcmp(word, "completion") == 0)
		return print_help(program, completion_help, out, err);
	if (!program_help_section(program, word, &text))
		return refuse_topic(program, word, err);
	return put(program, &text, out, err);
}

/* "completion [SHELL]" */
static int complete(const struct program *program, const char *shell, FILE *out, FILE *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	if (shell && is_help(shell))
		return print_help(program, completion_help, out, err);
	if (completion_write(program, shell ? shell : "bash", &text) == 0)
		return put(program, &text, out, err);
	(void)fprintf(err, "%s: completion: must be bash, zsh or fish\n", program->name);
	return PROGRAM_USAGE;
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
		return print_help(program, program_help, out, err);
	if (word && is_version(word))
		return print_version(program, out, err);
	if (word && strcmp(word, "completion") == 0)
		return complete(program, argc > 2 ? argv[2] : NULL, out, err);
	if (program->unnamed && (!word || word[0] == '-'))
		return run_command(program, program->unnamed, word ? argc - 1 : 0, argv + 1,
				   environ_, err);
	if (word)
		return refuse(program, word, err);
	(void)fprintf(err, "%s: no command; see --help\n", program->name);
	return PROGRAM_USAGE;
}

int program_main(const struct program *program, int argc, char *const *argv)
{
	return program_run(program, argc, argv, environ, stdout, stderr);
}
