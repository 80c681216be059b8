// SPDX-License-Identifier: Apache-2.0
/*
 * The table as text for people: --help, the OPTIONS section of the man page (scdoc), the reference
 * and, as YAML, `config show` (what is in force and where it came from) and the sample file (every
 * option, commented out, at its default). Both nest by the dots in the names; rows with a common
 * prefix are adjacent in the table. Tests compare the committed copies with this output.
 */
#include "options/render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/wrap.h"
#include "options/layers.h"

#define HELP_INDENT 6

void option_flag(const struct option *option, struct strbuf *out)
{
	if (option->type == OPTION_BOOL)
		strbuf_addf(out, "--[no-]%s", option->name);
	else if (option->bare)
		strbuf_addf(out, "--%s[=%s]", option->name, option->metavar);
	else
		strbuf_addf(out, "--%s=%s", option->name, option->metavar);
}

/*
 * " Default 1s; a duration from …; may be repeated, up to 8 times.": what there is of it. The help
 * says what happens without a value that has no default.
 */
static void add_facts(struct strbuf *out, const struct option *option)
{
	bool is_text = option->type == OPTION_STRING || option->type == OPTION_STRINGS;
	const char *before = option->default_text[0] ? "; " : " ";

	if (option->default_text[0])
		strbuf_addf(out, " Default %s", option->default_text);
	if (!is_text) {
		strbuf_addf(out, "%s", option->default_text[0] ? "; " : " Must be ");
		option_describe(option, out);
		before = "; ";
	}
	if (option_is_list(option))
		strbuf_addf(out, "%s%cay be repeated, up to %zu times", before,
			    before[0] == ' ' ? 'M' : 'm', option->list_max);
	if (option->default_text[0] || !is_text || option_is_list(option))
		strbuf_add_char(out, '.');
}

/* Names without a dot are in one section, that of none. */
static bool is_same_section(const struct option *a, const struct option *b)
{
	size_t a_len = strcspn(a->name, "."), b_len = strcspn(b->name, ".");

	a_len = a->name[a_len] ? a_len : 0;
	b_len = b->name[b_len] ? b_len : 0;
	return a_len == b_len && strncmp(a->name, b->name, a_len) == 0;
}

static void add_help(const struct option *option, struct strbuf *out)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_add_str(out, "  ");
	option_flag(option, out);
	strbuf_add_char(out, '\n');
	strbuf_add_str(&text, option->help);
	add_facts(&text, option);
	strbuf_addf(out, "%*s", HELP_INDENT, "");
	if (text.data)
		wrap_text(out, text.data, HELP_INDENT, HELP_INDENT, OPTIONS_HELP_WIDTH);
	strbuf_add_char(out, '\n');
	strbuf_release(&text);
}

void options_help(const struct option_set *set, struct strbuf *out)
{
	size_t count = option_count(set), first = option_count(set->base);

	for (size_t i = first; i < count; i++) {
		if (i > first && !is_same_section(option_at(set, i - 1), option_at(set, i)))
			strbuf_add_char(out, '\n');
		add_help(option_at(set, i), out);
	}
}

bool options_help_section(const struct option_set *set, const char *section, struct strbuf *out)
{
	size_t count = option_count(set), before = out->len;

	for (size_t i = option_count(set->base); i < count; i++) {
		if (option_is_in_section(option_at(set, i), section))
			add_help(option_at(set, i), out);
	}
	return out->len > before;
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

void options_man(const struct option_set *set, struct strbuf *out)
{
	size_t count = option_count(set);

	for (size_t i = 0; i < count; i++) {
		const struct option *option = option_at(set, i);
		struct strbuf facts = STRBUF_INIT;

		if (option->type == OPTION_BOOL)
			strbuf_addf(out, "*--%s*, *--no-%s*\n\t", option->name, option->name);
		else if (option->bare)
			strbuf_addf(out, "*--%s*\\[=_%s_\\]\n\t", option->name, option->metavar);
		else
			strbuf_addf(out, "*--%s*=_%s_\n\t", option->name, option->metavar);
		add_scdoc(out, option->help);
		add_facts(&facts, option);
		add_scdoc(out, facts.data ? facts.data : "");
		strbuf_add_str(out, "\n\n");
		strbuf_release(&facts);
	}
}

static void add_reference_row(const struct option_set *set, struct strbuf *out,
			      const struct option *option)
{
	char variable[80];

	option_environment_name(set, option, variable, sizeof(variable));
	strbuf_addf(out, "### %s\n\n%s", option->name, option->help);
	add_facts(out, option);
	strbuf_add_str(out, "\n\n- flag: `");
	option_flag(option, out);
	strbuf_addf(out, "`\n- environment: `%s`\n", variable);
	if (option_is_outside_file(option))
		strbuf_add_str(out, "- not in the file\n");
	else
		strbuf_addf(out, "- key: `%s`%s%s%s\n", option->name,
			    option->alias ? ", also `" : "", option->alias ? option->alias : "",
			    option->alias ? "`" : "");
	strbuf_addf(out, "- changes on reload: %s\n\n",
		    option->reloadable ? "yes" : "no, needs a restart");
}

void options_reference(const struct option_set *set, struct strbuf *out)
{
	size_t count = option_count(set);
	const char *last = "";

	strbuf_add_str(out, set->program->reference_head);
	for (size_t i = 0; i < count; i++) {
		const struct option *option = option_at(set, i);
		size_t section = strcspn(option->name, ".");

		if (strncmp(option->name, last, section + 1) != 0)
			strbuf_addf(out, "## %.*s\n\n", (int)section, option->name);
		add_reference_row(set, out, option);
		last = option->name;
	}
	out->len -= out->len ? 1 : 0; /* one newline ends the file */
	if (out->data)
		out->data[out->len] = '\0';
}

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

/* Words that other YAML parsers do not read as text. */
static bool wants_quotes(const char *text)
{
	static const char *const words[] = { "on", "off", "yes", "no", "true", "false", "null" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(text, words[i]) == 0)
			return true;
	}
	return false;
}

/* @text, which is valid UTF-8, as a double-quoted YAML scalar. */
static void add_quoted(struct strbuf *out, const char *text)
{
	strbuf_add_char(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			strbuf_add_char(out, '\\');
		strbuf_add_char(out, *text);
	}
	strbuf_add_char(out, '"');
}

static void add_value(struct strbuf *out, const struct option *option, const void *part,
		      size_t item)
{
	struct strbuf text = STRBUF_INIT;
	bool quote = option->type == OPTION_STRING || option_is_list(option);

	option_format(option, part, item, &text);
	if (quote || (option->type == OPTION_ENUM && text.data && wants_quotes(text.data)))
		add_quoted(out, text.data ? text.data : "");
	else
		strbuf_add(out, text.data, text.len);
	if (strbuf_error(&text) < 0)
		out->failed = true;
	strbuf_release(&text);
}

/* "listen-address: …", with a list's items on lines of their own; @note follows as a comment. */
static void add_option(struct strbuf *out, const char *lead, const struct option *option,
		       const void *part, const char *note)
{
	size_t depth = depth_of(option->name), items;

	indent(out, lead, depth);
	strbuf_addf(out, "%s:", option->name + section_len(option->name));
	if (!option_is_list(option)) {
		strbuf_add_char(out, ' ');
		add_value(out, option, part, 0);
		strbuf_addf(out, "%s\n", note);
		return;
	}
	items = option_list_count(option, part);
	strbuf_addf(out, "%s%s\n", items ? "" : " []", note);
	for (size_t i = 0; i < items; i++) {
		indent(out, lead, depth + 1);
		strbuf_add_str(out, "- ");
		add_value(out, option, part, i);
		strbuf_add_char(out, '\n');
	}
}

static enum option_origin origin_of(const struct option_values *values, size_t index)
{
	return values->origins ? values->origins[index] : ORIGIN_DEFAULT;
}

static void describe_origin(const struct option_set *set, size_t index,
			    const struct option_values *values, char *buf, size_t size)
{
	const struct option *option = option_at(set, index);
	char variable[80], shown[128];

	switch (origin_of(values, index)) {
	case ORIGIN_DEFAULT:
		(void)snprintf(buf, size, "  # default");
		break;
	case ORIGIN_FILE:
		(void)snprintf(buf, size, "  # file %s",
			       option_printable(shown, sizeof(shown), values->file));
		break;
	case ORIGIN_ENVIRONMENT:
		option_environment_name(set, option, variable, sizeof(variable));
		(void)snprintf(buf, size, "  # environment %s", variable);
		break;
	case ORIGIN_FLAG:
		(void)snprintf(buf, size, "  # flag --%s", option->name);
		break;
	}
}

static void show_file(const struct option_set *set, const struct option_values *values,
		      struct strbuf *out)
{
	char shown[512];
	bool found = origin_of(values, option_find(set, "config.file")) == ORIGIN_DEFAULT;

	if (!values->file[0])
		strbuf_add_str(out, "# no configuration file\n");
	else
		strbuf_addf(out, "# configuration file %s%s\n",
			    option_printable(shown, sizeof(shown), values->file),
			    found ? ", the default, which exists" : "");
}

void options_show(const struct option_set *set, const struct option_values *values,
		  struct strbuf *out)
{
	size_t count = option_count(set);
	const char *last = "";

	show_file(set, values, out);
	for (size_t i = 0; i < count; i++) {
		const struct option *option = option_at(set, i);
		char note[256];

		if (option_is_outside_file(option))
			continue;
		open_sections(out, "", last, option->name);
		describe_origin(set, i, values, note, sizeof(note));
		add_option(out, "", option, option_part_of(set, i, values), note);
		last = option->name;
	}
}

void options_print_file(const struct option_set *set, const struct option_values *values,
			const char *const *notes, struct strbuf *out)
{
	size_t count = option_count(set);
	const char *last = "";

	for (size_t i = 0; i < count; i++) {
		const struct option *option = option_at(set, i);
		char note[160] = "";

		if (option_is_outside_file(option) || origin_of(values, i) != ORIGIN_FILE)
			continue;
		if (notes[i])
			(void)snprintf(note, sizeof(note), "  # %s", notes[i]);
		open_sections(out, "", last, option->name);
		add_option(out, "", option, option_part_of(set, i, values), note);
		last = option->name;
	}
}

/* The option's help as comment lines of at most 96 columns. */
static void add_comment(struct strbuf *out, const struct option *option)
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

static void add_sample(const struct option_set *set, const struct option_values *defaults,
		       struct strbuf *out)
{
	size_t count = option_count(set);
	const char *last = "";

	strbuf_addf(out,
		    "## Configuration of %s(1). Lines that are commented out show the defaults. To "
		    "change one,\n## uncomment it and its section.\n",
		    set->program->name);
	for (size_t i = 0; i < count; i++) {
		const struct option *option = option_at(set, i);

		if (option_is_outside_file(option))
			continue;
		if (section_len(last) != section_len(option->name) ||
		    strncmp(last, option->name, section_len(last)) != 0 || !*last)
			strbuf_add_char(out, '\n');
		open_sections(out, "#", last, option->name);
		add_comment(out, option);
		add_option(out, "#", option, option_part_of(set, i, defaults), "");
		last = option->name;
	}
}

void options_sample(const struct option_set *set, struct strbuf *out)
{
	struct option_values *defaults = calloc(1, set->size);

	if (defaults && options_load_text(set, "", "", 0, defaults, NULL) == 0) {
		add_sample(set, defaults, out);
		options_release(set, defaults);
	} else {
		out->failed = true;
	}
	free(defaults);
}
