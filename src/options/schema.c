// SPDX-License-Identifier: Apache-2.0
/*
 * The table as JSON Schema (2020-12) of the configuration file, for editors that check YAML while
 * it is typed. It accepts what the program accepts by its kebab-case keys; durations and sizes are
 * checked by form, not by range.
 */
#include "options/schema.h"

#include <string.h>

#define DURATION_PATTERN "0|([0-9]+(\\\\.[0-9]+)?(ns|us|ms|s|m|h))+)$"

/* A word that YAML takes for a boolean is allowed as both. */
static void add_choices(struct strbuf *out, const struct option_choice *choice)
{
	strbuf_add_str(out, "\"enum\":[");
	for (const struct option_choice *c = choice; c->name; c++) {
		strbuf_addf(out, "%s\"%s\"", c == choice ? "" : ",", c->name);
		if (strcmp(c->name, "true") == 0 || strcmp(c->name, "false") == 0)
			strbuf_addf(out, ",%s", c->name);
	}
	strbuf_add_char(out, ']');
}

static void add_type(struct strbuf *out, const struct option *option)
{
	switch (option->type) {
	case OPTION_STRING:
		strbuf_addf(out, "\"type\":\"string\",\"minLength\":%d", !option->may_be_empty);
		break;
	case OPTION_BOOL:
		strbuf_add_str(out, "\"type\":\"boolean\"");
		break;
	case OPTION_ENUM:
		add_choices(out, option->choices);
		break;
	case OPTION_DURATION:
		strbuf_add_str(out, "\"type\":[\"string\",\"integer\"],\"pattern\":\"^(");
		for (const struct option_choice *word = option->choices; word && word->name; word++)
			strbuf_addf(out, "%s|", word->name);
		strbuf_add_str(out, DURATION_PATTERN "\"");
		break;
	case OPTION_SIZE:
		strbuf_add_str(
			out, "\"type\":[\"string\",\"integer\"],\"pattern\":\"^[0-9]+([KM]iB)?$\"");
		break;
	case OPTION_U32:
	case OPTION_MICRO:
		strbuf_addf(out, "\"type\":\"%s\",\"minimum\":%llu,\"maximum\":%llu",
			    option->type == OPTION_U32 ? "integer" : "number",
			    (unsigned long long)option->min, (unsigned long long)option->max);
		break;
	case OPTION_STRINGS:
	case OPTION_AMOUNTS:
		strbuf_addf(out,
			    "\"type\":[\"array\",\"string\"],\"maxItems\":%zu,\"items\":{\"type\":"
			    "\"string\"}",
			    option->list_max);
		break;
	}
}

/* Writes the object of all options below @prefix, from *index on, and sets *index after them. */
static void add_object(struct strbuf *out, const struct option_set *set, size_t *index,
		       size_t prefix_len)
{
	const char *prefix = option_at(set, *index)->name;
	size_t count = option_count(set);
	bool first = true;

	strbuf_add_str(
		out,
		"\"type\":[\"object\",\"null\"],\"additionalProperties\":false,\"properties\":{");
	while (*index < count && strncmp(option_at(set, *index)->name, prefix, prefix_len) == 0) {
		const struct option *option = option_at(set, *index);
		const char *key = option->name + prefix_len, *dot = strchr(key, '.');
		size_t key_len = dot ? (size_t)(dot - key) : strlen(key);

		if (option_is_outside_file(option)) {
			(*index)++;
			continue;
		}
		strbuf_addf(out, "%s\n\"%.*s\":{", first ? "" : ",", (int)key_len, key);
		first = false;
		if (dot) {
			/* a level is a dot of an option's name: the table bounds the depth */
			add_object(out, set, index, prefix_len + key_len + 1);
		} else {
			add_type(out, option);
			strbuf_add_str(out, ",\"description\":\"");
			strbuf_add_json(out, option->help);
			strbuf_add_char(out, '"');
			(*index)++;
		}
		strbuf_add_char(out, '}');
	}
	strbuf_add_char(out, '}');
}

void options_schema(const struct option_set *set, struct strbuf *out)
{
	size_t index = 0;

	strbuf_addf(out,
		    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
		    "\"title\":\"%s configuration\",",
		    set->program->name);
	add_object(out, set, &index, 0);
	strbuf_add_str(out, "}\n");
}
