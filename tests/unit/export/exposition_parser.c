// SPDX-License-Identifier: Apache-2.0
#include "exposition_parser.h"

#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/utf8.h"

struct parser {
	const char *at;
	const char *end;
	struct parsed_sample sample;
	bool openmetrics;
	bool in_family;
};

static bool fail_at(const struct parser *parser, const char *what)
{
	(void)fprintf(stderr, "exposition: %s at \"%.60s\"\n", what, parser->at);
	return false;
}

static bool is_name_char(char c, bool first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (!first && c >= '0' && c <= '9');
}

static bool take(struct parser *parser, const char *literal)
{
	size_t len = strlen(literal);

	if ((size_t)(parser->end - parser->at) < len || memcmp(parser->at, literal, len) != 0)
		return false;
	parser->at += len;
	return true;
}

static bool take_name(struct parser *parser, char *to, size_t size)
{
	size_t len = 0;

	while (parser->at + len < parser->end && is_name_char(parser->at[len], len == 0))
		len++;
	if (len == 0 || len >= size)
		return fail_at(parser, "no name");
	memcpy(to, parser->at, len);
	to[len] = '\0';
	parser->at += len;
	return true;
}

static bool take_rest_of_line(struct parser *parser, char *to, size_t size)
{
	const char *newline = memchr(parser->at, '\n', (size_t)(parser->end - parser->at));
	size_t len;

	if (!newline)
		return fail_at(parser, "no end of line");
	len = (size_t)(newline - parser->at);
	if (len == 0 || len >= size)
		return fail_at(parser, "empty or too long");
	memcpy(to, parser->at, len);
	to[len] = '\0';
	parser->at = newline + 1;
	return true;
}

static bool take_char(struct parser *parser, struct parsed_label *label, size_t *len)
{
	size_t n = utf8_char_len(parser->at, (size_t)(parser->end - parser->at));

	if (n == 0 || *parser->at == '\n' || *len + n >= sizeof(label->value))
		return fail_at(parser, "bad byte in a label");
	if (*parser->at == '\\') {
		const char *const pairs[] = { "\\\\", "\\\"", "\\n" };
		static const char plain[] = { '\\', '"', '\n' };

		for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
			if (take(parser, pairs[i])) {
				label->value[(*len)++] = plain[i];
				return true;
			}
		}
		return fail_at(parser, "bad escape");
	}
	memcpy(label->value + *len, parser->at, n);
	*len += n;
	parser->at += n;
	return true;
}

static bool take_label(struct parser *parser)
{
	struct parsed_label *label = &parser->sample.labels[parser->sample.label_count++];
	size_t len = 0;

	if (parser->sample.label_count > PARSED_LABELS_MAX)
		return fail_at(parser, "too many labels");
	if (!take_name(parser, label->name, sizeof(label->name)) || !take(parser, "=\""))
		return fail_at(parser, "bad label");
	while (parser->at < parser->end && *parser->at != '"') {
		if (!take_char(parser, label, &len))
			return false;
	}
	label->value[len] = '\0';
	return take(parser, "\"") || fail_at(parser, "label without end");
}

static bool belongs(const struct parser *parser)
{
	static const char *const suffixes[] = { "",        "_total", "_created", "_info",
						"_bucket", "_sum",   "_count" };
	size_t len = strlen(parser->sample.family);

	if (strncmp(parser->sample.name, parser->sample.family, len) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		if (strcmp(parser->sample.name + len, suffixes[i]) == 0)
			return true;
	}
	return false;
}

static bool take_sample(struct parser *parser)
{
	struct parsed_sample *sample = &parser->sample;

	sample->line = parser->at;
	sample->label_count = 0;
	if (!take_name(parser, sample->name, sizeof(sample->name)))
		return false;
	if (!parser->in_family || !belongs(parser))
		return fail_at(parser, "a sample outside of its family");
	if (take(parser, "{")) {
		do {
			if (!take_label(parser))
				return false;
		} while (take(parser, ","));
		if (!take(parser, "}"))
			return fail_at(parser, "labels without end");
	}
	sample->key_len = (size_t)(parser->at - sample->line);
	if (!take(parser, " "))
		return fail_at(parser, "no value");
	if (!take_rest_of_line(parser, sample->value, sizeof(sample->value)))
		return false;
	return sample->value[strspn(sample->value, "0123456789.eE+-NaInf")] == '\0' ||
	       fail_at(parser, "not a number");
}

/* HELP opens a family, TYPE follows it, UNIT may follow TYPE. */
static bool take_head(struct parser *parser)
{
	char help[1024], name[128];

	if (!take(parser, "# HELP "))
		return fail_at(parser, "a comment that is no HELP");
	if (!take_name(parser, parser->sample.family, sizeof(parser->sample.family)) ||
	    !take(parser, " ") || !take_rest_of_line(parser, help, sizeof(help)))
		return false;
	if (!take(parser, "# TYPE ") || !take_name(parser, name, sizeof(name)) ||
	    strcmp(name, parser->sample.family) != 0 || !take(parser, " ") ||
	    !take_rest_of_line(parser, parser->sample.type, sizeof(parser->sample.type)))
		return fail_at(parser, "no TYPE of the family");
	if (parser->openmetrics && take(parser, "# UNIT ")) {
		char unit[32];
		size_t family_len = strlen(parser->sample.family);

		if (!take_name(parser, name, sizeof(name)) ||
		    strcmp(name, parser->sample.family) != 0 || !take(parser, " ") ||
		    !take_rest_of_line(parser, unit, sizeof(unit)) || strlen(unit) >= family_len ||
		    strcmp(parser->sample.family + family_len - strlen(unit), unit) != 0)
			return fail_at(parser, "a UNIT that does not end the name");
	}
	parser->in_family = true;
	return true;
}

long exposition_parse(const char *text, size_t len, bool openmetrics, parsed_visitor *visit,
		      void *userdata)
{
	static struct parser parser; /* too big for a stack */
	long samples = 0;

	parser = (struct parser){ .at = text, .end = text + len, .openmetrics = openmetrics };
	while (parser.at < parser.end) {
		if (openmetrics && take(&parser, "# EOF\n"))
			return parser.at == parser.end ? samples : -1;
		if (*parser.at == '#') {
			if (!take_head(&parser))
				return -1;
			continue;
		}
		if (!take_sample(&parser))
			return -1;
		samples++;
		if (visit)
			visit(userdata, &parser.sample);
	}
	return openmetrics ? -1 : samples; /* OpenMetrics must say that it is all */
}

const char *parsed_label(const struct parsed_sample *sample, const char *name)
{
	for (size_t i = 0; i < sample->label_count; i++) {
		if (strcmp(sample->labels[i].name, name) == 0)
			return sample->labels[i].value;
	}
	return NULL;
}

bool parsed_micros(const char *text, uint64_t *ret)
{
	uint64_t value = 0;
	int decimals = -1;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text == '.' && decimals < 0) {
			decimals = 0;
			continue;
		}
		if (*text < '0' || *text > '9' || decimals == 6)
			return false;
		if (decimals >= 0)
			decimals++;
		value = value * 10 + (uint64_t)(*text - '0');
	}
	for (decimals = decimals < 0 ? 0 : decimals; decimals < 6; decimals++)
		value *= 10;
	*ret = value;
	return true;
}
