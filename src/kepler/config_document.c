// SPDX-License-Identifier: Apache-2.0
/*
 * The table as text for people: --help, the OPTIONS section of the man page (scdoc), and
 * docs/configuration.md. tests compare the committed reference with what this makes, so it cannot
 * fall behind.
 */
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "kepler/config_options.h"

#define HELP_WIDTH  80
#define HELP_INDENT 6

/* "--web.listen-address=ADDRESS", "--[no-]bpf.enabled" */
static void add_flag(struct strbuf *out, const struct config_option *option)
{
	if (option->type == OPTION_BOOL)
		strbuf_addf(out, "--[no-]%s", option->name);
	else
		strbuf_addf(out, "--%s=%s", option->name, option->metavar);
}

/* "default 1s, a duration from …; may be repeated" */
static void add_facts(struct strbuf *out, const struct config_option *option)
{
	if (option->default_text[0])
		strbuf_addf(out, "Default %s", option->default_text);
	else
		strbuf_add_str(out, "No default");
	if (option->type != OPTION_STRING && option->type != OPTION_STRINGS) {
		strbuf_add_str(out, "; ");
		option_describe(option, out);
	}
	if (option_is_list(option))
		strbuf_addf(out, "; may be repeated, up to %zu times", option->list_max);
	strbuf_add_char(out, '.');
}

static void add_wrapped(struct strbuf *out, char *text)
{
	size_t column = 0;
	char *word;

	while ((word = strsep(&text, " "))) {
		size_t len = strlen(word);

		if (column == 0 || column + 1 + len > HELP_WIDTH) {
			strbuf_addf(out, "%s%*s", column ? "\n" : "", HELP_INDENT, "");
			column = HELP_INDENT;
		} else {
			strbuf_add_char(out, ' ');
			column++;
		}
		strbuf_add(out, word, len);
		column += len;
	}
	strbuf_add_char(out, '\n');
}

void config_help(struct strbuf *out)
{
	size_t count;
	const struct config_option *options = config_options(&count);

	for (size_t i = 0; i < count; i++) {
		struct strbuf text = STRBUF_INIT;

		strbuf_add_str(out, "  ");
		add_flag(out, &options[i]);
		strbuf_add_char(out, '\n');
		strbuf_addf(&text, "%s ", options[i].help);
		add_facts(&text, &options[i]);
		if (text.data)
			add_wrapped(out, text.data);
		strbuf_release(&text);
	}
}

/* scdoc takes _ and * for emphasis, and a few more at a line's start. */
static void add_scdoc(struct strbuf *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("_*\\#[]|.<>", *text))
			strbuf_add_char(out, '\\');
		strbuf_add_char(out, *text);
	}
}

void config_man(struct strbuf *out)
{
	size_t count;
	const struct config_option *options = config_options(&count);

	for (size_t i = 0; i < count; i++) {
		struct strbuf facts = STRBUF_INIT;

		if (options[i].type == OPTION_BOOL)
			strbuf_addf(out, "*--%s*, *--no-%s*\n\t", options[i].name, options[i].name);
		else
			strbuf_addf(out, "*--%s*=_%s_\n\t", options[i].name, options[i].metavar);
		add_scdoc(out, options[i].help);
		add_facts(&facts, &options[i]);
		strbuf_add_str(out, " ");
		add_scdoc(out, facts.data ? facts.data : "");
		strbuf_add_str(out, "\n\n");
		strbuf_release(&facts);
	}
}

static void add_reference_row(struct strbuf *out, const struct config_option *option)
{
	char variable[80];

	option_environment_name(option, variable, sizeof(variable));
	strbuf_addf(out, "### %s\n\n%s ", option->name, option->help);
	add_facts(out, option);
	strbuf_add_str(out, "\n\n- flag: `");
	add_flag(out, option);
	strbuf_addf(out, "`\n- environment: `%s`\n", variable);
	if (option->not_in_file)
		strbuf_add_str(out, "- not in the file\n");
	else
		strbuf_addf(out, "- key: `%s`%s%s%s\n", option->name,
			    option->alias ? ", also `" : "", option->alias ? option->alias : "",
			    option->alias ? "`" : "");
	strbuf_addf(out, "- changes on reload: %s\n\n",
		    option->reloadable ? "yes" : "no, wants a restart");
}

void config_reference(struct strbuf *out)
{
	static const char head[] =
		"# Configuration reference\n\n"
		"<!-- Made from the option table in src/kepler/config_options.c: `ninja -C DIR "
		"docs-update`. -->\n\n"
		"Each option can be given as a flag, as an environment variable and in the "
		"configuration "
		"file. A flag wins over\nthe environment, the environment over the file, the file "
		"over the "
		"default; a list is replaced as a whole. In the\nenvironment, a list's items are "
		"separated "
		"by commas.\n\n"
		"The file is YAML. The key is the flag's path: `--web.listen-address` is\n\n"
		"```yaml\nweb:\n  listen-address: [\"127.0.0.1:28282\"]\n```\n\n"
		"camelCase forms of a key (`metrics.process.minJoules`) are accepted. Without "
		"`--config.file`, "
		"`" CONFIG_DEFAULT_FILE
		"`\nis read if it exists. `kepler config check FILE` says what is "
		"wrong with a file, `kepler config show` what is in force\nand where each value "
		"came from, "
		"`kepler config sample` prints a file with every default, `kepler config schema` "
		"a\n"
		"JSON Schema for editors.\n\n"
		"Durations are written as `500ms`, `5s`, `1m30s` or `2h`. SIGHUP reads the file "
		"again; what "
		"cannot change while\nrunning is named in the log and keeps its old value.\n\n";
	size_t count;
	const struct config_option *options = config_options(&count);

	strbuf_add_str(out, head);
	for (size_t i = 0; i < count; i++) {
		size_t section = strcspn(options[i].name, ".");

		if (i == 0 || strncmp(options[i].name, options[i - 1].name, section + 1) != 0)
			strbuf_addf(out, "## %.*s\n\n", (int)section, options[i].name);
		add_reference_row(out, &options[i]);
	}
	out->len -= out->len ? 1 : 0; /* one newline ends the file */
	if (out->data)
		out->data[out->len] = '\0';
}
