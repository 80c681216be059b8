// SPDX-License-Identifier: Apache-2.0
/*
 * For bash and zsh the tables become the branches of three functions in shell: the options of a
 * command, the values of an option, and the words that a command's first operand can be; a fourth
 * chooses between them. bash takes "=" for a word of its own, so that an option and its value are
 * three words. fish has a line for each option instead.
 */
#include "options/completion.h"

#include <errno.h>
#include <string.h>

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
	strbuf_add_str(out, "help version completion");
}

static void add_options(const struct command *command, struct strbuf *out)
{
	size_t count = command->options ? option_count(command->options) : 0;

	strbuf_addf(out, "\t%s) echo '--help", command->name);
	for (size_t i = 0; i < count; i++) {
		const struct option *option = option_at(command->options, i);

		if (option->type == OPTION_BOOL)
			strbuf_addf(out, " --%s --no-%s", option->name, option->name);
		else if (option->bare)
			strbuf_addf(out, " --%s --%s=", option->name, option->name);
		else
			strbuf_addf(out, " --%s=", option->name);
	}
	strbuf_add_str(out, "' ;;\n");
}

static void add_choices(const struct option *option, struct strbuf *out)
{
	for (const struct option_choice *choice = option->choices; choice->name; choice++)
		strbuf_addf(out, "%s%s", choice == option->choices ? "" : " ", choice->name);
}

static void add_values(const struct command *command, struct strbuf *out)
{
	size_t count = command->options ? option_count(command->options) : 0;

	for (size_t i = 0; i < count; i++) {
		const struct option *option = option_at(command->options, i);

		if (option->type != OPTION_ENUM)
			continue;
		strbuf_addf(out, "\t'%s --%s') echo '", command->name, option->name);
		add_choices(option, out);
		strbuf_add_str(out, "' ;;\n");
	}
}

/* A command without words is not among them: its operands are files. */
static void add_words(const struct command *command, struct strbuf *out)
{
	if (command->words)
		strbuf_addf(out, "\t%s) echo '%s' ;;\n", command->name, command->words);
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

/* The last branch fails where operands are files. */
static void add_functions(const struct program *program, struct strbuf *out)
{
	add_function(program, "options", add_options, "\t'') echo '--help --version' ;;\n", out);
	add_function(program, "values", add_values, "", out);
	add_function(program, "words", add_words,
		     "\tcompletion) echo 'bash zsh fish' ;;\n\tversion) ;;\n\t*) return 1 ;;\n",
		     out);
}

/* NAME stands for the name of the functions, PROGRAM, UNNAMED and COMMANDS for what they say. */
static const char bash_choice[] =
	"_NAME() {\n"
	"\tlocal IFS=$' \\t\\n' current=$2 command=${COMP_WORDS[1]} option= words= files=yes\n"
	"\tif [[ ${COMP_WORDS[COMP_CWORD]} == = ]]; then\n"
	"\t\toption=${COMP_WORDS[COMP_CWORD - 1]} current=\n"
	"\telif [[ COMP_CWORD -gt 1 && ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then\n"
	"\t\toption=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\tfi\n"
	"\t[[ $command == -* ]] && command='UNNAMED'\n"
	"\tif [[ $option ]]; then\n"
	"\t\twords=$(_NAME_values \"$command $option\")\n"
	"\telif [[ $current == -* ]]; then\n"
	"\t\twords=$(_NAME_options \"$command\")\n"
	"\telif [[ COMP_CWORD -eq 1 || $command == help ]]; then\n"
	"\t\twords='COMMANDS' files=\n"
	"\telif words=$(_NAME_words \"$command\"); then\n"
	"\t\tif [[ $words && COMP_CWORD -gt 2 ]]; then words=; else files=; fi\n"
	"\tfi\n"
	"\tif [[ $words ]]; then\n"
	"\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
	"\t\t[[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
	"\telif [[ $files ]]; then\n"
	"\t\tCOMPREPLY=($(compgen -f -- \"$current\"))\n"
	"\t\tcompopt -o filenames\n"
	"\tfi\n"
	"}\n"
	"complete -F _NAME PROGRAM\n";

static const char zsh_choice[] =
	"_NAME() {\n"
	"\tlocal current=$words[CURRENT] command= given list\n"
	"\tif (( CURRENT > 2 )); then command=$words[2]; fi\n"
	"\tif [[ $command == -* || ( $CURRENT == 2 && $current == -* ) ]]; then\n"
	"\t\tcommand='UNNAMED'\n"
	"\tfi\n"
	"\tif [[ $current == --*=* ]]; then\n"
	"\t\tlist=($(_NAME_values \"$command ${current%%=*}\"))\n"
	"\t\tcompset -P '*='\n"
	"\t\tif (( $#list )); then compadd -a list; else _files; fi\n"
	"\telif [[ $current == -* ]]; then\n"
	"\t\tlist=($(_NAME_options \"$command\"))\n"
	"\t\tgiven=(${(M)list:#*=})\n"
	"\t\tcompadd -S '' -a given\n"
	"\t\tgiven=(${list:#*=})\n"
	"\t\tcompadd -a given\n"
	"\telif [[ $CURRENT == 2 || $command == help ]]; then\n"
	"\t\tlist=(COMMANDS)\n"
	"\t\tcompadd -a list\n"
	"\telif given=$(_NAME_words \"$command\") && [[ -z $given || $CURRENT == 3 ]]; then\n"
	"\t\tlist=(${=given})\n"
	"\t\tcompadd -a list\n"
	"\telse\n"
	"\t\t_files\n"
	"\tfi\n"
	"}\n"
	"if [[ $funcstack[1] == _PROGRAM ]]; then _NAME \"$@\"; else compdef _NAME PROGRAM; fi\n";

/* @text with its placeholders replaced. */
static void add_choice(const struct program *program, const char *text, struct strbuf *out)
{
	static const char *const places[] = { "PROGRAM", "COMMANDS", "UNNAMED", "NAME" };

	while (*text) {
		size_t place = 0;

		while (place < ARRAY_SIZE(places) &&
		       strncmp(text, places[place], strlen(places[place])) != 0)
			place++;
		if (place == ARRAY_SIZE(places)) {
			strbuf_add_char(out, *text++);
			continue;
		}
		text += strlen(places[place]);
		if (place == 0)
			strbuf_add_str(out, program->name);
		else if (place == 1)
			add_commands(program, out);
		else if (place == 2)
			strbuf_add_str(out, program->unnamed ? program->unnamed->name : "");
		else
			add_name(program, out);
	}
}

/* In single quotes of fish, the first sentence of @text. */
static void add_fish_text(const char *text, struct strbuf *out)
{
	const char *end = strstr(text, ". ");
	size_t len = end ? (size_t)(end - text) : strlen(text);

	strbuf_add_char(out, '\'');
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\'' || text[i] == '\\')
			strbuf_add_char(out, '\\');
		strbuf_add_char(out, (char)(text[i] == '\n' ? ' ' : text[i]));
	}
	strbuf_add_char(out, '\'');
}

/* "complete -c kepler -n '__kepler_in doctor'": a line's beginning; "" is before the command. */
static void add_fish_line(const struct program *program, const char *command, struct strbuf *out)
{
	strbuf_addf(out, "complete -c %s -n '__", program->name);
	add_name(program, out);
	strbuf_addf(out, "_in %s'", *command ? command : "\"\"");
}

static void add_fish_option(const struct program *program, const struct command *command,
			    const struct option *option, struct strbuf *out)
{
	add_fish_line(program, command->name, out);
	strbuf_addf(out, " -l %s", option->name);
	if (option->type == OPTION_ENUM) {
		strbuf_add_str(out, " -x -a '");
		add_choices(option, out);
		strbuf_add_char(out, '\'');
	} else if (option->type != OPTION_BOOL && !option->bare) {
		strbuf_add_str(out, " -r -F");
	}
	strbuf_add_str(out, " -d ");
	add_fish_text(option->help, out);
	strbuf_add_char(out, '\n');
	if (option->type != OPTION_BOOL)
		return;
	add_fish_line(program, command->name, out);
	strbuf_addf(out, " -l no-%s\n", option->name);
}

static void add_fish_command(const struct program *program, const struct command *command,
			     struct strbuf *out)
{
	size_t count = command->options ? option_count(command->options) : 0;

	add_fish_line(program, "", out);
	strbuf_addf(out, " -a %s -d ", command->name);
	add_fish_text(command->summary, out);
	strbuf_add_char(out, '\n');
	if (!command->words) {
		add_fish_line(program, command->name, out);
		strbuf_add_str(out, " -F\n");
	} else if (command->words[0]) {
		add_fish_line(program, command->name, out);
		strbuf_addf(out, " -a '%s'\n", command->words);
	}
	for (size_t i = 0; i < count; i++)
		add_fish_option(program, command, option_at(command->options, i), out);
}

/* The command of a line is its first word; a flag there is one of the unnamed command's. */
static void write_fish(const struct program *program, struct strbuf *out)
{
	strbuf_addf(out,
		    "# Completion of %s for fish: %s completion fish | source, or install it as\n"
		    "# /usr/share/fish/vendor_completions.d/%s.fish\nfunction __",
		    program->name, program->name, program->name);
	add_name(program, out);
	strbuf_addf(out,
		    "_in\n"
		    "\tset -l words (commandline -opc) ''\n"
		    "\tstring match -q -- '-*' $words[2]; and set words[2] '%s'\n"
		    "\tstring match -q -- '-*' (commandline -ct); and test -z \"$words[2]\"; and "
		    "set words[2] '%s'\n"
		    "\ttest \"$words[2]\" = \"$argv[1]\"\n"
		    "end\n"
		    "complete -c %s -f\n"
		    "complete -c %s -l help -d 'Print help'\n",
		    program->unnamed ? program->unnamed->name : "",
		    program->unnamed ? program->unnamed->name : "", program->name, program->name);
	for (size_t i = 0; i < program->count; i++)
		add_fish_command(program, &program->commands[i], out);
	add_fish_line(program, "", out);
	strbuf_add_str(out, " -a 'help version completion'\n");
	add_fish_line(program, "completion", out);
	strbuf_add_str(out, " -a 'bash zsh fish'\n");
	add_fish_line(program, "help", out);
	strbuf_add_str(out, " -a '");
	add_commands(program, out);
	strbuf_add_str(out, "'\n");
}

static void write_bash(const struct program *program, struct strbuf *out)
{
	strbuf_addf(out,
		    "# Completion of %s for bash: source <(%s completion bash), or install it as\n"
		    "# /usr/share/bash-completion/completions/%s\n",
		    program->name, program->name, program->name);
	add_functions(program, out);
	add_choice(program, bash_choice, out);
}

static void write_zsh(const struct program *program, struct strbuf *out)
{
	strbuf_addf(out,
		    "#compdef %s\n"
		    "# Completion of %s for zsh: source <(%s completion zsh), or install it as\n"
		    "# /usr/share/zsh/site-functions/_%s\n",
		    program->name, program->name, program->name, program->name);
	add_functions(program, out);
	add_choice(program, zsh_choice, out);
}

int completion_write(const struct program *program, const char *shell, struct strbuf *out)
{
	if (strcmp(shell, "bash") == 0)
		write_bash(program, out);
	else if (strcmp(shell, "zsh") == 0)
		write_zsh(program, out);
	else if (strcmp(shell, "fish") == 0)
		write_fish(program, out);
	else
		return -EINVAL;
	return 0;
}

void completion_help(const struct program *program, struct strbuf *out)
{
	const char *name = program->name;

	strbuf_addf(out,
		    "usage: %s completion [bash|zsh|fish]\n\n"
		    "Prints a script that completes the words of %s in that shell, by default\n"
		    "bash. meson install puts all three in place. By hand:\n\n"
		    "  bash: source <(%s completion bash)\n"
		    "  zsh:  source <(%s completion zsh)\n"
		    "  fish: %s completion fish | source\n",
		    name, name, name, name, name);
}
