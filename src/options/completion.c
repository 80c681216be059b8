// SPDX-License-Identifier: Apache-2.0
/*
 * The tables become the branches of two functions in shell, one for the options of a command and
 * one for the values of an option; a third chooses between them. bash takes "=" for a word of its
 * own, so that an option and its value are three words.
 */
#include "options/completion.h"

#include "base/macro.h"

/* "kepler-model" as a part of a function's name. */
static void add_name(const struct program *program, struct strbuf *out)
{
	for (const char *c = program->name; *c; c++)
		strbuf_add_char(out, (char)(*c == '-' ? '_' : *c));
}

static void add_commands(const struct program *program, struct strbuf *out)
{
	for (size_t i = 0; i < program->count; i++)
		strbuf_addf(out, "%s ", program->commands[i].name);
	strbuf_add_str(out, "help version");
}

static void add_options(const struct command *command, struct strbuf *out)
{
	size_t count = command->options ? option_count(command->options) : 0;

	strbuf_addf(out, "\t%s) echo '--help", command->name);
	for (size_t i = 0; i < count; i++) {
		const struct option *option = option_at(command->options, i);

		if (option->type == OPTION_BOOL)
			strbuf_addf(out, " --%s --no-%s", option->name, option->name);
		else
			strbuf_addf(out, " --%s=", option->name);
	}
	strbuf_add_str(out, "' ;;\n");
}

static void add_values(const struct command *command, struct strbuf *out)
{
	size_t count = command->options ? option_count(command->options) : 0;

	for (size_t i = 0; i < count; i++) {
		const struct option *option = option_at(command->options, i);

		if (option->type != OPTION_ENUM)
			continue;
		strbuf_addf(out, "\t'%s --%s') echo '", command->name, option->name);
		for (const struct option_choice *choice = option->choices; choice->name; choice++)
			strbuf_addf(out, "%s%s", choice == option->choices ? "" : " ",
				    choice->name);
		strbuf_add_str(out, "' ;;\n");
	}
}

/* "_kepler_options() {", the branches of the commands, and @rest of them. */
static void add_function(const struct program *program, const char *what,
			 void (*add)(const struct command *, struct strbuf *), const char *rest,
			 struct strbuf *out)
{
	strbuf_add_char(out, '_');
	add_name(program, out);
	strbuf_addf(out, "_%s() {\n\tcase $1 in\n", what);
	for (size_t i = 0; i < program->count; i++)
		add(&program->commands[i], out);
	strbuf_addf(out, "%s\tesac\n}\n", rest);
}

static const char choice[] =
	"() {\n"
	"\tlocal IFS=$' \\t\\n' current=$2 command=${COMP_WORDS[1]} option= words=\n"
	"\tif [[ ${COMP_WORDS[COMP_CWORD]} == = ]]; then\n"
	"\t\toption=${COMP_WORDS[COMP_CWORD - 1]} current=\n"
	"\telif [[ COMP_CWORD -gt 1 && ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then\n"
	"\t\toption=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\tfi\n";

void completion_write(const struct program *program, struct strbuf *out)
{
	CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT;
	const char *unnamed = program->unnamed ? program->unnamed->name : "";

	add_name(program, &name);
	if (strbuf_error(&name) < 0) {
		out->failed = true;
		return;
	}
	strbuf_addf(out,
		    "# Completion of %s for bash: source <(%s completion), or install it as\n"
		    "# /usr/share/bash-completion/completions/%s\n",
		    program->name, program->name, program->name);
	add_function(program, "options", add_options, "\t'') echo '--help --version' ;;\n", out);
	add_function(program, "values", add_values, "", out);
	strbuf_addf(out, "_%s%s", name.data, choice);
	strbuf_addf(out, "\t[[ $command == -* ]] && command='%s'\n", unnamed);
	strbuf_addf(out,
		    "\tif [[ $option ]]; then\n\t\twords=$(_%s_values \"$command $option\")\n"
		    "\telif [[ $current == -* ]]; then\n\t\twords=$(_%s_options \"$command\")\n"
		    "\telif [[ COMP_CWORD -eq 1 || $command == help ]]; then\n\t\twords='",
		    name.data, name.data);
	add_commands(program, out);
	strbuf_addf(out,
		    "'\n\tfi\n"
		    "\tif [[ $words ]]; then\n"
		    "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
		    "\t\t[[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
		    "\telse\n"
		    "\t\tCOMPREPLY=($(compgen -f -- \"$current\"))\n"
		    "\t\tcompopt -o filenames\n"
		    "\tfi\n"
		    "}\n"
		    "complete -F _%s %s\n",
		    name.data, program->name);
}
