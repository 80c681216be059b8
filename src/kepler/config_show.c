// SPDX-License-Identifier: Apache-2.0
/*
 * The table as YAML: `kepler config show` (what is in force and where it came from) and the sample
 * file (every option, commented out, at its default). Both nest by the names' dots; rows of a
 * section stand together in the table.
 */
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "kepler/config_options.h"

/* Length of the part of @name up to and with its last dot. */
static size_t section_len(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? (size_t)(dot - name) + 1 : 0;
}

static size_t depth_of(const char *name)
{
	size_t depth = 0;

	for (; *name; name++)
		depth += *name == '.';
	return depth;
}

static void indent(struct strbuf *out, const char *lead, size_t depth)
{
	strbuf_addf(out, "%s%*s", lead, (int)(2 * depth), "");
}

/* Writes the "web:" lines that @name needs and @last had not opened. */
static void open_sections(struct strbuf *out, const char *lead, const char *last, const char *name)
{
	size_t depth = 0, start = 0, end = section_len(name);

	for (size_t i = 0; i < end; i++) {
		if (name[i] != '.')
			continue;
		if (strncmp(last, name, i + 1) != 0) {
			indent(out, lead, depth);
			strbuf_add(out, name + start, i - start);
			strbuf_add_str(out, ":\n");
		}
		start = i + 1;
		depth++;
	}
}

/* Words that other readers of YAML take for something else than text. */
static bool wants_quotes(const char *text)
{
	static const char *const words[] = { "on", "off", "yes", "no", "true", "false", "null" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(text, words[i]) == 0)
			return true;
	}
	return false;
}

static void add_value(struct strbuf *out, const struct config_option *option,
		      const struct config *config, size_t item)
{
	struct strbuf text = STRBUF_INIT;
	bool quote = option->type == OPTION_STRING || option_is_list(option);

	option_format(option, config, item, &text);
	if (quote || (option->type == OPTION_ENUM && text.data && wants_quotes(text.data)))
		config_yaml_quote(out, text.data ? text.data : "");
	else
		strbuf_add(out, text.data, text.len);
	if (strbuf_error(&text) < 0)
		out->failed = true;
	strbuf_release(&text);
}

/* "listen-address: …", with a list's items on lines of their own; @note follows as a comment. */
static void add_option(struct strbuf *out, const char *lead, const struct config_option *option,
		       const struct config *config, const char *note)
{
	size_t depth = depth_of(option->name), items;

	indent(out, lead, depth);
	strbuf_addf(out, "%s:", option->name + section_len(option->name));
	if (!option_is_list(option)) {
		strbuf_add_char(out, ' ');
		add_value(out, option, config, 0);
		strbuf_addf(out, "%s\n", note);
		return;
	}
	items = option_list_count(option, config);
	strbuf_addf(out, "%s%s\n", items ? "" : " []", note);
	for (size_t i = 0; i < items; i++) {
		indent(out, lead, depth + 1);
		strbuf_add_str(out, "- ");
		add_value(out, option, config, i);
		strbuf_add_char(out, '\n');
	}
}

static void describe_origin(const struct config_option *option, const struct config *config,
			    enum config_origin origin, char *buf, size_t size)
{
	char variable[80], shown[128];

	switch (origin) {
	case ORIGIN_DEFAULT:
		(void)snprintf(buf, size, "  # default");
		break;
	case ORIGIN_FILE:
		(void)snprintf(buf, size, "  # file %s",
			       config_printable(shown, sizeof(shown), config->config_file));
		break;
	case ORIGIN_ENVIRONMENT:
		option_environment_name(option, variable, sizeof(variable));
		(void)snprintf(buf, size, "  # environment %s", variable);
		break;
	case ORIGIN_FLAG:
		(void)snprintf(buf, size, "  # flag --%s", option->name);
		break;
	}
}

static enum config_origin origin_of(const struct config *config, size_t index)
{
	return config->origins ? config->origins[index] : ORIGIN_DEFAULT;
}

static void show_file(const struct config *config, struct strbuf *out)
{
	char shown[512];
	bool found = origin_of(config, option_find("config.file")) == ORIGIN_DEFAULT;

	if (!config->config_file[0])
		strbuf_add_str(out, "# no configuration file\n");
	else
		strbuf_addf(out, "# configuration file %s%s\n",
			    config_printable(shown, sizeof(shown), config->config_file),
			    found ? ", the default, which exists" : "");
}

void config_show(const struct config *config, struct strbuf *out)
{
	size_t count;
	const struct config_option *options = config_options(&count);
	const char *last = "";

	show_file(config, out);
	for (size_t i = 0; i < count; i++) {
		char note[256];

		if (options[i].not_in_file)
			continue;
		open_sections(out, "", last, options[i].name);
		describe_origin(&options[i], config, origin_of(config, i), note, sizeof(note));
		add_option(out, "", &options[i], config, note);
		last = options[i].name;
	}
}

/* The option's help as comment lines of at most 96 columns. */
static void add_comment(struct strbuf *out, const struct config_option *option)
{
	struct strbuf what = STRBUF_INIT;
	size_t column = 0;
	char *word, *rest;

	strbuf_add_str(&what, option->help);
	if (option->type != OPTION_STRING && option->type != OPTION_STRINGS) {
		strbuf_add_str(&what, " Must be ");
		option_describe(option, &what);
		strbuf_add_char(&what, '.');
	}
	for (rest = what.data; rest && (word = strsep(&rest, " "));) {
		size_t len = strlen(word);

		if (column && column + 1 + len > 96) {
			strbuf_add_char(out, '\n');
			column = 0;
		}
		strbuf_add_str(out, column ? " " : "## ");
		strbuf_add(out, word, len);
		column += len + (column ? 1 : 3);
	}
	strbuf_add_char(out, '\n');
	strbuf_release(&what);
}

void config_sample(struct strbuf *out)
{
	size_t count;
	const struct config_option *options = config_options(&count);
	struct config config;
	const char *last = "";

	if (config_load_text("", "", 0, &config, NULL) < 0) {
		out->failed = true;
		return;
	}
	strbuf_add_str(
		out, "## Configuration of kepler(1). What is commented out shows the default; take "
		     "away one # to set it,\n## and the # of the section above it.\n");
	for (size_t i = 0; i < count; i++) {
		if (options[i].not_in_file)
			continue;
		if (section_len(last) != section_len(options[i].name) ||
		    strncmp(last, options[i].name, section_len(last)) != 0 || !*last)
			strbuf_add_char(out, '\n');
		open_sections(out, "#", last, options[i].name);
		add_comment(out, &options[i]);
		add_option(out, "#", &options[i], &config, "");
		last = options[i].name;
	}
	config_release(&config);
}
