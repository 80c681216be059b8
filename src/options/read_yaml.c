// SPDX-License-Identifier: Apache-2.0
/*
 * A configuration file: a small part of YAML, by libyaml's events, which know their line and
 * column.
 *
 * The reader descends by the option table: a key names an option or the beginning of one, and any
 * other key is an error. So the table bounds the depth, however deep a file nests. Anchors,
 * aliases, tags and further documents are refused: nothing needs them here, and small files become
 * large through them. Every scalar is passed as text to option_parse(), which knows the type.
 *
 * Wrong keys and values are reported and skipped, so that one run reports all of them. The reader
 * ends at text that is not YAML, and at constructs that are refused as a whole.
 */
#include "options/read_yaml.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/macro.h"

#define KEY_MAX  128 /* path in a message, with room */
#define NEAR_MAX 200 /* problems with a "did you mean", which takes time in a large file */

struct reader {
	yaml_parser_t parser;
	yaml_event_t event; /* the current one */
	bool has_event;
	const struct option_set *set;
	struct option_values *values;
	const char *name;
	const char *text;
	size_t len;
	struct diag *diag;
	size_t problems;
	size_t *seen_line;      /* [options]: where the key stood, 0 not yet */
	struct strbuf sections; /* "\nweb\nlog\n": those already opened */
};

static void reader_release(struct reader *reader)
{
	if (reader->has_event)
		yaml_event_delete(&reader->event);
	yaml_parser_delete(&reader->parser);
	free(reader->seen_line);
	strbuf_release(&reader->sections);
}

static int fail_at(struct reader *reader, yaml_mark_t mark, const char *key, const char *why)
{
	char shown[KEY_MAX];

	reader->problems++;
	return diag_add(reader->diag, -EINVAL, "%s:%zu:%zu: %s%s%s", reader->name, mark.line + 1,
			mark.column + 1, option_printable(shown, sizeof(shown), key),
			*key ? ": " : "", why);
}

/* Detects a tab in the indentation, because libyaml's message for it is of no help. */
static bool line_starts_with_tab(const struct reader *reader, size_t line)
{
	const char *at = reader->text, *end = reader->text + reader->len;

	for (; line && at; line--) {
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
	while (at && at < end && *at == ' ')
		at++;
	return at && at < end && *at == '\t';
}

static int fail_parser(struct reader *reader)
{
	const yaml_parser_t *parser = &reader->parser;
	const char *problem = parser->problem ? parser->problem : "not YAML";

	if (parser->error == YAML_MEMORY_ERROR)
		return diag_set(reader->diag, -ENOMEM, "%s: out of memory", reader->name);
	if (parser->error == YAML_READER_ERROR)
		return diag_add(reader->diag, -EINVAL, "%s: byte %zu: %s", reader->name,
				parser->problem_offset, problem);
	if (line_starts_with_tab(reader, parser->problem_mark.line))
		problem = "a tab cannot indent YAML; use spaces";
	return fail_at(reader, parser->problem_mark, "", problem);
}

static int next(struct reader *reader)
{
	if (reader->has_event)
		yaml_event_delete(&reader->event);
	reader->has_event = false;
	if (!yaml_parser_parse(&reader->parser, &reader->event))
		return fail_parser(reader);
	reader->has_event = true;
	return 0;
}

static const char *anchor_or_tag(const yaml_event_t *event)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;

	if (event->type == YAML_ALIAS_EVENT)
		return "aliases (*name) are not supported; write the value out";
	if (event->type == YAML_SCALAR_EVENT) {
		anchor = event->data.scalar.anchor;
		tag = event->data.scalar.tag;
	} else if (event->type == YAML_SEQUENCE_START_EVENT) {
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
	} else if (event->type == YAML_MAPPING_START_EVENT) {
		anchor = event->data.mapping_start.anchor;
		tag = event->data.mapping_start.tag;
	}
	if (anchor)
		return "anchors (&name) are not supported";
	return tag ? "tags (!name) are not supported" : NULL;
}

/*
 * Reads the next event, which begins a node (or ends a collection); refuses anchors, tags and
 * aliases.
 */
static int next_node(struct reader *reader, const char *path)
{
	const char *why;
	int r = next(reader);

	if (r < 0)
		return r;
	why = anchor_or_tag(&reader->event);
	return why ? fail_at(reader, reader->event.start_mark, path, why) : 0;
}

/* Ends at the last event of the node that the current one begins. */
static int skip_node(struct reader *reader)
{
	for (size_t depth = 0;;) {
		yaml_event_type_t type = reader->event.type;
		int r;

		if (type == YAML_MAPPING_START_EVENT || type == YAML_SEQUENCE_START_EVENT)
			depth++;
		else if (type == YAML_MAPPING_END_EVENT || type == YAML_SEQUENCE_END_EVENT)
			depth--;
		if (depth == 0)
			return 0;
		r = next(reader);
		if (r < 0)
			return r;
	}
}

/* Reports what is wrong with the current node, and passes it over. */
static int refuse_node(struct reader *reader, const char *path, const char *why)
{
	(void)fail_at(reader, reader->event.start_mark, path, why);
	return skip_node(reader);
}

/* As refuse_node(), for the current key and its value. */
static int refuse_entry(struct reader *reader, const char *path, const char *why)
{
	int r;

	(void)fail_at(reader, reader->event.start_mark, path, why);
	r = next(reader);
	return r < 0 ? r : skip_node(reader);
}

/* Nothing after the colon, "~" or "null". */
static bool is_null(const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;

	return event->type == YAML_SCALAR_EVENT &&
	       event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       (!*text || strcmp(text, "~") == 0 || strcmp(text, "null") == 0);
}

static bool is_foreign(const struct reader *reader, const char *path)
{
	for (const char *const *key = reader->set->program->foreign_keys; key && *key; key++) {
		if (strcmp(*key, path) == 0)
			return true;
	}
	return false;
}

static int refuse_unknown(struct reader *reader, const char *path)
{
	char near[KEY_MAX], why[KEY_MAX + 64];

	if (is_foreign(reader, path))
		(void)snprintf(why, sizeof(why), "unknown key; %s",
			       reader->set->program->foreign_advice);
	else if (reader->problems < NEAR_MAX &&
		 option_nearest(reader->set, path, true, near, sizeof(near)))
		(void)snprintf(why, sizeof(why), "unknown key; did you mean %s?", near);
	else
		(void)snprintf(why, sizeof(why), "unknown key");
	return refuse_entry(reader, path, why);
}

static int set_scalar(struct reader *reader, size_t index, const char *path)
{
	const char *text = (const char *)reader->event.data.scalar.value;
	struct diag why = { 0 };
	int r;

	if (is_null(&reader->event))
		return refuse_node(reader, path, "has no value; write one or remove the key");
	if (strlen(text) != reader->event.data.scalar.length)
		return refuse_node(reader, path, "must not contain a NUL byte");
	r = option_take(reader->set, index, reader->values, ORIGIN_FILE, text, &why);
	if (r == -ENOMEM)
		return diag_set(reader->diag, r, "%s: out of memory", reader->name);
	return r < 0 ? refuse_node(reader, path, why.text) : 0;
}

static int read_items(struct reader *reader, size_t index, const char *path)
{
	for (;;) {
		int r = next_node(reader, path);

		if (r < 0)
			return r;
		if (reader->event.type == YAML_SEQUENCE_END_EVENT)
			return 0;
		if (reader->event.type == YAML_SCALAR_EVENT)
			r = set_scalar(reader, index, path);
		else
			r = refuse_node(reader, path, "must be a list of plain values");
		if (r < 0)
			return r;
	}
}

static int refuse_type(struct reader *reader, const struct option *option, const char *path)
{
	const char *got = reader->event.type == YAML_SEQUENCE_START_EVENT ? "a list" : "a mapping";
	struct strbuf why = STRBUF_INIT;
	int r;

	strbuf_add_str(&why, "must be ");
	option_describe(option, &why);
	strbuf_addf(&why, ", not %s", got);
	r = refuse_node(reader, path, why.data ? why.data : got);
	strbuf_release(&why);
	return r;
}

static int read_option(struct reader *reader, size_t index, const char *path)
{
	const struct option *option = option_at(reader->set, index);
	char why[64];
	int r;

	if (option_is_outside_file(option))
		return refuse_entry(reader, path, "cannot be set in a file");
	if (reader->seen_line[index]) {
		(void)snprintf(why, sizeof(why), "set twice, first on line %zu",
			       reader->seen_line[index]);
		return refuse_entry(reader, path, why);
	}
	reader->seen_line[index] = reader->event.start_mark.line + 1;
	r = next_node(reader, path);
	if (r < 0)
		return r;
	if (reader->event.type == YAML_SCALAR_EVENT)
		return set_scalar(reader, index, path);
	if (reader->event.type != YAML_SEQUENCE_START_EVENT || !option_is_list(option))
		return refuse_type(reader, option, path);
	/* so that an empty list empties it */
	option_clear(option, option_part(reader->set, index, reader->values));
	reader->values->origins[index] = ORIGIN_FILE;
	return read_items(reader, index, path);
}

static bool section_is_new(struct reader *reader, const char *path)
{
	char line[KEY_MAX + 2];

	(void)snprintf(line, sizeof(line), "\n%s\n", path);
	if (reader->sections.data && strstr(reader->sections.data, line))
		return false;
	strbuf_add_str(&reader->sections, line);
	return true;
}

static int read_mapping(struct reader *reader, const char *prefix);

static int read_section(struct reader *reader, const char *path)
{
	int r;

	if (!section_is_new(reader, path))
		return refuse_entry(reader, path, "set twice; put its keys together");
	r = next_node(reader, path);
	if (r < 0)
		return r;
	if (is_null(&reader->event))
		return 0; /* a section whose keys are all commented out */
	if (reader->event.type != YAML_MAPPING_START_EVENT)
		return refuse_node(reader, path, "must be a mapping of settings");
	return read_mapping(reader, path);
}

/*
 * The current event is a key below @prefix; reads it and its value. Each level is a longer
 * beginning of an option's name.
 */
static int read_entry(struct reader *reader, const char *prefix)
{
	char path[KEY_MAX];
	const yaml_event_t *event = &reader->event;
	size_t index;
	int n;

	if (event->type != YAML_SCALAR_EVENT)
		return fail_at(reader, event->start_mark, prefix, "keys must be plain text");
	n = snprintf(path, sizeof(path), "%s%s%s", prefix, *prefix ? "." : "",
		     (const char *)event->data.scalar.value);
	if (n < 0 || (size_t)n >= sizeof(path) ||
	    strlen((const char *)event->data.scalar.value) != event->data.scalar.length)
		return refuse_unknown(reader, path);
	index = option_find_key(reader->set, path);
	/* A command's own flag may have the name of a section, as --idle of kepler stat. */
	if (index != OPTION_NONE && (!option_is_outside_file(option_at(reader->set, index)) ||
				     !option_is_section(reader->set, path)))
		return read_option(reader, index, path);
	return option_is_section(reader->set, path) ? read_section(reader, path)
						    : refuse_unknown(reader, path);
}

static int read_mapping(struct reader *reader, const char *prefix)
{
	for (;;) {
		int r = next_node(reader, prefix);

		if (r < 0)
			return r;
		if (reader->event.type == YAML_MAPPING_END_EVENT)
			return 0;
		r = read_entry(reader, prefix);
		if (r < 0)
			return r;
	}
}

static int read_document(struct reader *reader)
{
	int r = next_node(reader, "");

	if (r < 0)
		return r;
	if (reader->event.type == YAML_MAPPING_START_EVENT)
		r = read_mapping(reader, "");
	else if (!is_null(&reader->event))
		return fail_at(reader, reader->event.start_mark, "",
			       "must be a mapping of settings");
	return r < 0 ? r : next(reader); /* the document's end */
}

static int read_stream(struct reader *reader)
{
	int r = next(reader); /* the stream's start */

	if (r == 0)
		r = next(reader);
	if (r < 0 || reader->event.type == YAML_STREAM_END_EVENT)
		return r;
	r = read_document(reader);
	if (r == 0)
		r = next(reader);
	if (r < 0 || reader->event.type == YAML_STREAM_END_EVENT)
		return r;
	return fail_at(reader, reader->event.start_mark, "", "only one document is allowed");
}

int options_read_yaml(const struct option_set *set, struct option_values *values, const char *name,
		      const char *text, size_t len, struct diag *diag)
{
	struct reader reader = {
		.set = set, .values = values, .name = name, .text = text, .len = len, .diag = diag
	};
	int r;

	if (!yaml_parser_initialize(&reader.parser))
		return diag_set(diag, -ENOMEM, "%s: out of memory", name);
	yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, len);
	reader.seen_line = calloc(option_count(set), sizeof(*reader.seen_line));
	r = reader.seen_line ? read_stream(&reader)
			     : diag_set(diag, -ENOMEM, "%s: out of memory", name);
	if (r == 0)
		r = strbuf_error(&reader.sections);
	if (r == 0 && reader.problems)
		r = -EINVAL;
	reader_release(&reader);
	return r;
}
