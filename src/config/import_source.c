// SPDX-License-Identifier: Apache-2.0
/*
 * libyaml resolves aliases into a tree with shared nodes, so a small file can be a large tree: the
 * walk counts the nodes that it visits, and ends at a limit. Its depth is bounded by the length of
 * a key, and by one level of files within a manifest.
 */
#include "config/import_source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/macro.h"
#include "base/text/ascii.h"

#define LINE_MAX_LEN 8192 /* bytes of KEY=VALUE */

struct source {
	const char *name;
	const struct import_sink *sink;
	struct diag *diag;
	yaml_document_t document;
	unsigned *nodes_left;
	bool is_inside; /* a file within a manifest */
};

static int read_yaml(const char *name, const char *text, size_t len, const struct source *outer,
		     const struct import_sink *sink, unsigned *nodes_left, struct diag *diag);

static const char *text_of(const yaml_node_t *node)
{
	const char *text = node && node->type == YAML_SCALAR_NODE
				   ? (const char *)node->data.scalar.value
				   : NULL;

	return text && strlen(text) == node->data.scalar.length ? text : NULL;
}

static yaml_node_t *find(struct source *source, const yaml_node_t *map, const char *key)
{
	if (!map || map->type != YAML_MAPPING_NODE)
		return NULL;
	for (const yaml_node_pair_t *pair = map->data.mapping.pairs.start;
	     pair < map->data.mapping.pairs.top; pair++) {
		const char *name = text_of(yaml_document_get_node(&source->document, pair->key));

		if (name && strcmp(name, key) == 0)
			return yaml_document_get_node(&source->document, pair->value);
	}
	return NULL;
}

static void pass_on(const struct source *source, const yaml_node_t *at, const char *key,
		    const char *const *values, size_t count, bool is_list, bool is_nested)
{
	const struct import_setting setting = {
		.source = source->name,
		.line = at->start_mark.line + 1,
		.column = at->start_mark.column + 1,
		.key = key,
		.values = values,
		.count = count,
		.is_list = is_list,
		.is_nested = is_nested,
	};

	source->sink->take(source->sink->userdata, &setting);
}

static void take_list(struct source *source, const yaml_node_t *at, const char *key,
		      const yaml_node_t *list)
{
	const yaml_node_item_t *item = list->data.sequence.items.start;
	const char *values[IMPORT_VALUES_MAX];
	size_t count = 0;

	for (; item < list->data.sequence.items.top; item++) {
		const char *text = text_of(yaml_document_get_node(&source->document, *item));

		if (!text || count == IMPORT_VALUES_MAX) {
			pass_on(source, at, key, NULL, 0, true, true);
			return;
		}
		values[count++] = text;
	}
	pass_on(source, at, key, values, count, true, false);
}

static int spend(const struct source *source)
{
	if (*source->nodes_left == 0)
		return diag_set(source->diag, -EINVAL, "%s: more than %d values", source->name,
				IMPORT_NODES_MAX);
	--*source->nodes_left;
	return 0;
}

static int walk(struct source *source, const yaml_node_t *map, const char *prefix);

/* @at: the key. */
static int walk_entry(struct source *source, const yaml_node_t *at, const char *key,
		      const yaml_node_t *value)
{
	const char *text = text_of(value);
	int r = spend(source);

	if (r < 0)
		return r;
	if (value->type == YAML_MAPPING_NODE &&
	    value->data.mapping.pairs.start < value->data.mapping.pairs.top)
		return walk(source, value, key);
	if (value->type == YAML_SEQUENCE_NODE)
		take_list(source, at, key, value);
	else
		pass_on(source, at, key, &text, text ? 1 : 0, false, !text);
	return 0;
}

static int walk(struct source *source, const yaml_node_t *map, const char *prefix)
{
	for (const yaml_node_pair_t *pair = map->data.mapping.pairs.start;
	     pair < map->data.mapping.pairs.top; pair++) {
		const yaml_node_t *at = yaml_document_get_node(&source->document, pair->key);
		const char *name = text_of(at);
		char key[IMPORT_KEY_MAX];
		int n = snprintf(key, sizeof(key), "%s%s%s", prefix, *prefix ? "." : "",
				 name ? name : "?");
		int r;

		if (!name || !*name || (size_t)n >= sizeof(key))
			return diag_set(source->diag, -EINVAL,
					"%s:%zu:%zu: not a key of Kepler's configuration",
					source->name, at->start_mark.line + 1,
					at->start_mark.column + 1);
		r = walk_entry(source, at, key,
			       yaml_document_get_node(&source->document, pair->value));
		if (r < 0)
			return r;
	}
	return 0;
}

static bool is_file_name(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

/* The data of a ConfigMap. */
static int walk_data(struct source *source, const yaml_node_t *data)
{
	for (const yaml_node_pair_t *pair = data->data.mapping.pairs.start;
	     pair < data->data.mapping.pairs.top; pair++) {
		const yaml_node_t *at = yaml_document_get_node(&source->document, pair->key);
		const yaml_node_t *value = yaml_document_get_node(&source->document, pair->value);
		const char *name = text_of(at), *text = text_of(value);
		char inside[256];
		int r = spend(source);

		if (r < 0 || !name)
			return r;
		if (!is_file_name(name) || !text) {
			pass_on(source, at, name, &text, text ? 1 : 0, false, !text);
			continue;
		}
		(void)snprintf(inside, sizeof(inside), "%s: %s", source->name, name);
		r = read_yaml(inside, text, strlen(text), source, source->sink, source->nodes_left,
			      source->diag);
		if (r < 0)
			return r;
	}
	return 0;
}

static int walk_root(struct source *source, const yaml_node_t *root, bool is_item);

static int walk_items(struct source *source, const yaml_node_t *items)
{
	int r = 0;

	for (const yaml_node_item_t *item = items->data.sequence.items.start;
	     r == 0 && item < items->data.sequence.items.top; item++) {
		r = spend(source);
		if (r == 0)
			r = walk_root(source, yaml_document_get_node(&source->document, *item),
				      true);
	}
	return r;
}

/* A configuration, or an object of Kubernetes. */
static int walk_root(struct source *source, const yaml_node_t *root, bool is_item)
{
	const char *kind = source->is_inside ? NULL : text_of(find(source, root, "kind"));
	const yaml_node_t *data = find(source, root, "data"), *items = find(source, root, "items");

	if (!root || (root->type == YAML_SCALAR_NODE && !root->data.scalar.length))
		return 0;
	if (root->type != YAML_MAPPING_NODE)
		return diag_set(source->diag, -EINVAL,
				"%s:%zu:%zu: neither settings in YAML nor lines KEY=VALUE",
				source->name, root->start_mark.line + 1,
				root->start_mark.column + 1);
	if (!kind)
		return is_item ? 0 : walk(source, root, "");
	if (strcmp(kind, "ConfigMap") == 0 && data && data->type == YAML_MAPPING_NODE)
		return walk_data(source, data);
	if (!is_item && items && items->type == YAML_SEQUENCE_NODE)
		return walk_items(source, items);
	return 0; /* another object of the manifest */
}

static int fail_parser(const struct source *source, const yaml_parser_t *parser)
{
	if (parser->error == YAML_MEMORY_ERROR)
		return diag_set(source->diag, -ENOMEM, "out of memory");
	return diag_set(source->diag, -EINVAL, "%s:%zu:%zu: %s", source->name,
			parser->problem_mark.line + 1, parser->problem_mark.column + 1,
			parser->problem ? parser->problem : "not YAML");
}

static int read_yaml(const char *name, const char *text, size_t len, const struct source *outer,
		     const struct import_sink *sink, unsigned *nodes_left, struct diag *diag)
{
	struct source source = { .name = name,
				 .sink = sink,
				 .diag = diag,
				 .nodes_left = nodes_left,
				 .is_inside = outer != NULL };
	yaml_parser_t parser;
	int r = 0;

	if (!yaml_parser_initialize(&parser))
		return diag_set(diag, -ENOMEM, "out of memory");
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	for (bool more = true; r == 0 && more;) {
		const yaml_node_t *root;

		if (!yaml_parser_load(&parser, &source.document)) {
			r = fail_parser(&source, &parser);
			break;
		}
		root = yaml_document_get_root_node(&source.document);
		more = root != NULL;
		r = walk_root(&source, root, false);
		yaml_document_delete(&source.document);
	}
	yaml_parser_delete(&parser);
	return r;
}

/* ---- lines ---- */

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
		at++;
	return at;
}

static bool is_name_char(char c)
{
	return ascii_is_alnum(c) || c == '_';
}

/* The name before "=" at @line, after "export"; NULL: the line is no KEY=VALUE. */
static const char *find_name(const char *line, const char *end, size_t *ret_len)
{
	static const char word[] = "export ";
	const char *at = skip_blanks(line, end), *name;

	if ((size_t)(end - at) > sizeof(word) - 1 && memcmp(at, word, sizeof(word) - 1) == 0)
		at = skip_blanks(at + sizeof(word) - 1, end);
	for (name = at; at < end && is_name_char(*at);)
		at++;
	if (at == name || at == end || *at != '=')
		return NULL;
	*ret_len = (size_t)(at - name);
	return name;
}

static bool is_comment(const char *line, const char *end)
{
	line = skip_blanks(line, end);
	return line == end || *line == '#';
}

/* True if the first line that is not a comment is KEY=VALUE. */
static bool has_lines(const char *text, size_t len)
{
	const char *all = text + len;
	size_t unused;

	while (text < all) {
		const char *newline = memchr(text, '\n', (size_t)(all - text));
		const char *end = newline ? newline : all;

		if (!is_comment(text, end))
			return find_name(text, end, &unused) != NULL;
		text = end + (newline != NULL);
	}
	return false;
}

/* Passes on one KEY=VALUE, without quotes around the value. */
static int read_line(const struct source *source, const char *line, const char *end, size_t number)
{
	char key[IMPORT_KEY_MAX], value[LINE_MAX_LEN];
	const char *values[] = { value }, *at;
	size_t name_len = 0, len;
	const char *name = find_name(line, end, &name_len);
	const struct import_setting setting = { .source = source->name,
						.line = number,
						.column = 1,
						.key = key,
						.values = values,
						.count = 1 };

	if (!name || name_len >= sizeof(key) || (size_t)(end - line) >= sizeof(value))
		return diag_set(source->diag, -EINVAL, "%s:%zu: not a line KEY=VALUE", source->name,
				number);
	(void)snprintf(key, sizeof(key), "%.*s", (int)name_len, name);
	at = skip_blanks(name + name_len + 1, end);
	while (end > at && skip_blanks(end - 1, end) == end)
		end--;
	len = (size_t)(end - at);
	if (len >= 2 && (*at == '"' || *at == '\'') && end[-1] == *at) {
		at++;
		len -= 2;
	}
	(void)snprintf(value, sizeof(value), "%.*s", (int)len, at);
	source->sink->take(source->sink->userdata, &setting);
	return 0;
}

static int read_lines(const struct source *source, const char *text, size_t len)
{
	const char *all = text + len;
	int r = 0;

	for (size_t number = 1; r == 0 && text < all; number++) {
		const char *newline = memchr(text, '\n', (size_t)(all - text));
		const char *end = newline ? newline : all;

		if (!is_comment(text, end)) {
			r = spend(source);
			if (r == 0)
				r = read_line(source, text, end, number);
		}
		text = end + (newline != NULL);
	}
	return r;
}

int import_source_read(const char *name, const char *text, size_t len,
		       const struct import_sink *sink, struct diag *diag)
{
	unsigned nodes_left = IMPORT_NODES_MAX;
	const struct source lines = {
		.name = name, .sink = sink, .diag = diag, .nodes_left = &nodes_left
	};

	if (memchr(text, '\0', len))
		return diag_set(diag, -EINVAL, "%s: not text", name);
	if (has_lines(text, len))
		return read_lines(&lines, text, len);
	return read_yaml(name, text, len, NULL, sink, &nodes_left, diag);
}
