// SPDX-License-Identifier: Apache-2.0
#include "options/program_help.h"

#include <string.h>

#include "base/macro.h"
#include "base/wrap.h"
#include "options/render.h"

#define COMMAND_WIDTH 18
#define FLAG_WIDTH    34

const struct option_set *program_options(const struct program *program)
{
	return program->unnamed ? program->unnamed->options : NULL;
}

static void add_usage(const struct program *program, struct strbuf *out)
{
	static const struct {
		const char *name, *summary;
	} common[] = {
		{ "help", "show the help of a command" },
		{ "completion", "print a completion script for bash, zsh or fish" },
		{ "version", "print the version (also --version, -v)" },
	};

	if (program->count == 0) {
		strbuf_addf(out, "usage: %s --help | --version\n", program->name);
		return;
	}
	strbuf_addf(out, "usage: %s %s [OPTION]...\n\n", program->name,
		    program->unnamed ? "[COMMAND]" : "COMMAND");
	for (size_t i = 0; i < program->count; i++) {
		const struct command *command = &program->commands[i];

		strbuf_addf(out, "  %-*s%s%s\n", COMMAND_WIDTH, command->name, command->summary,
			    command == program->unnamed ? " (if no command is given)" : "");
	}
	for (size_t i = 0; i < ARRAY_SIZE(common); i++)
		strbuf_addf(out, "  %-*s%s\n", COMMAND_WIDTH, common[i].name, common[i].summary);
}

static void add_common(const struct program *program, struct strbuf *out)
{
	const struct option_set *set = program_options(program);

	if (!program->common || !set)
		return;
	strbuf_add_str(out, "\nCommon options:\n");
	for (const struct common_option *common = program->common; common->name; common++) {
		CLEANUP(strbuf_release) struct strbuf flag = STRBUF_INIT;

		option_flag(option_at(set, option_find(set, common->name)), &flag);
		strbuf_addf(out, "  %-*s%s\n", FLAG_WIDTH, flag.data ? flag.data : "",
			    common->brief);
	}
}

/* "attribution, bpf, config": what help SECTION takes. */
static void add_sections(const struct option_set *set, struct strbuf *out)
{
	CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT;
	char name[OPTION_NAME_MAX];

	for (size_t i = 0; option_section_at(set, i, name); i++)
		strbuf_addf(&names, "%s%s", i ? ", " : "", name);
	wrap_text(out, names.data ? names.data : "", 2, 2, OPTIONS_HELP_WIDTH);
}

void program_help(const struct program *program, struct strbuf *out)
{
	const struct option_set *set = program_options(program);

	strbuf_addf(out, "%s\n\n", program->about);
	add_usage(program, out);
	add_common(program, out);
	if (program->example)
		strbuf_addf(out, "\nExample:\n%s", program->example);
	if (set) {
		strbuf_addf(out,
			    "\nAll options: %s help all. Those of one section: %s help "
			    "SECTION\n  ",
			    program->name, program->name);
		add_sections(set, out);
		strbuf_add_char(out, '\n');
	}
}

void program_help_all(const struct program *program, struct strbuf *out)
{
	const struct option_set *set = program_options(program);

	program_help(program, out);
	if (!set)
		return;
	strbuf_add_char(out, '\n');
	options_help(set, out);
}

bool program_help_section(const struct program *program, const char *section, struct strbuf *out)
{
	const struct option_set *set = program_options(program);

	return set && options_help_section(set, section, out);
}

void program_add_synopsis(const struct program *program, const struct command *command,
			  struct strbuf *out)
{
	const char *options = command->options ? " [OPTION]..." : "";

	strbuf_addf(out, "%s %s%s%s%s%s", program->name, command->name,
		    command->options_first ? options : "", command->operands ? " " : "",
		    command->operands ? command->operands : "",
		    command->options_first ? "" : options);
}

void program_help_command(const struct program *program, const struct command *command,
			  struct strbuf *out)
{
	strbuf_add_str(out, "usage: ");
	program_add_synopsis(program, command, out);
	strbuf_add_str(out, "\n\n");
	wrap_text(out, command->what ? command->what : command->summary, 0, 0, OPTIONS_HELP_WIDTH);
	strbuf_add_str(out, "\n\n");
	if (command->more)
		strbuf_addf(out, "%s%s", command->more, command->options ? "\n" : "");
	if (command->options)
		options_help(command->options, out);
}
