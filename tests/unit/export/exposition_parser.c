// SPDX-License-Identifier: Apache-2.0
#include "exposition_parser.h"

#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/text/utf8.h"

struct parser {
	const char *at;
	const char *end;
	struct parsed_sample sample;
	unsigned openmetrics;
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
	if (parser->openmetrics == 2)
		return parser->sample.name[len] == '\0';
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		if (strcmp(parser->sample.name + len, suffixes[i]) == 0)
			return true;
	}
	return false;
}

/* A number of the ABNF, and no more: its length, or 0. */
static size_t number_len(const char *at, const char *end)
{
	static const char *const words[] = { "+Inf", "-Inf", "NaN" };
	const char *from = at;
	size_t digits = 0;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if ((size_t)(end - at) >= strlen(words[i]) &&
		    memcmp(at, words[i], strlen(words[i])) == 0)
			return strlen(words[i]);
	}
	at += at < end && (*at == '-' || *at == '+');
	for (; at < end && *at >= '0' && *at <= '9'; at++)
		digits++;
	if (at < end && *at == '.') {
		for (at++; at < end && *at >= '0' && *at <= '9'; at++)
			digits++;
	}
	if (digits && at < end && *at == 'e') {
		at += 1 + (at + 1 < end && (at[1] == '-' || at[1] == '+'));
		for (digits = 0; at < end && *at >= '0' && *at <= '9'; at++)
			digits++;
	}
	return digits ? (size_t)(at - from) : 0;
}

static bool take_number(struct parser *parser, char *to, size_t size)
{
	size_t len = number_len(parser->at, parser->end);

	if (len == 0 || len >= size)
		return fail_at(parser, "not a number");
	memcpy(to, parser->at, len);
	to[len] = '\0';
	parser->at += len;
	return true;
}

/* count:2,sum:1.5,bucket:[0.1:1,+Inf:2], whose last bucket has all. */
static bool take_composite(struct parser *parser)
{
	char count[32], number[32], bound[32] = "";
	const char *from = parser->at;
	size_t len;

	if (!take(parser, "{count:") || !take_number(parser, count, sizeof(count)) ||
	    !take(parser, ",sum:") || !take_number(parser, number, sizeof(number)) ||
	    !take(parser, ",bucket:["))
		return fail_at(parser, "no value of a histogram");
	do {
		if (strcmp(bound, "+Inf") == 0 || !take_number(parser, bound, sizeof(bound)) ||
		    !take(parser, ":") || !take_number(parser, number, sizeof(number)))
			return fail_at(parser, "no bucket");
	} while (take(parser, ","));
	len = (size_t)(parser->at - from);
	if (!take(parser, "]}") || strcmp(bound, "+Inf") != 0 || strcmp(number, count) != 0 ||
	    len >= sizeof(parser->sample.value))
		return fail_at(parser, "the last bucket does not have all");
	memcpy(parser->sample.value, from, len);
	parser->sample.value[len] = '\0';
	return true;
}

/* OpenMetrics 2.0: counters have a start time, and nothing else does. */
static bool take_value_2(struct parser *parser)
{
	struct parsed_sample *sample = &parser->sample;
	bool histogram = strcmp(sample->type, "histogram") == 0;
	bool counts = histogram || strcmp(sample->type, "counter") == 0;

	sample->start[0] = '\0';
	if (histogram ? !take_composite(parser)
		      : !take_number(parser, sample->value, sizeof(sample->value)))
		return false;
	if (take(parser, " st@") != counts ||
	    (counts && !take_number(parser, sample->start, sizeof(sample->start))))
		return fail_at(parser, "no start of what counts, or one of what does not");
	return take(parser, "\n") || fail_at(parser, "no end of line");
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
	if (parser->openmetrics == 2)
		return take_value_2(parser);
	if (!take_rest_of_line(parser, sample->value, sizeof(sample->value)))
		return false;
	return sample->value[strspn(sample->value, "0123456789.eE+-NaInf")] == '\0' ||
	       fail_at(parser, "not a number");
}

/* "# WHAT name rest\n"; the name is the family's if one is open. */
static bool take_head_line(struct parser *parser, const char *what, bool first, char *rest,
			   size_t size)
{
	char name[sizeof(parser->sample.family)];

	if (!take(parser, what) || !take_name(parser, name, sizeof(name)) || !take(parser, " ") ||
	    (!first && strcmp(name, parser->sample.family) != 0))
		return fail_at(parser, "no head of the family");
	memcpy(parser->sample.family, name, sizeof(name));
	return take_rest_of_line(parser, rest, size);
}

/* In OpenMetrics a quote is escaped. */
static bool take_help(struct parser *parser, bool first)
{
	char help[1024];

	if (!take_head_line(parser, "# HELP ", first, help, sizeof(help)))
		return false;
	for (const char *c = help; *c && parser->openmetrics; c++) {
		if (*c == '"' || (*c == '\\' && !strchr("\\\"n", c[1])))
			return fail_at(parser, "a HELP that is not escaped");
		c += *c == '\\';
	}
	return true;
}

/* It ends the name, apart from the _total that 2.0 has there. */
static bool take_unit(struct parser *parser)
{
	char unit[32], end[48];
	size_t len = strlen(parser->sample.family), end_len;

	if (!take_head_line(parser, "# UNIT ", false, unit, sizeof(unit)))
		return false;
	(void)snprintf(end, sizeof(end), "_%s%s", unit,
		       parser->openmetrics == 2 && strcmp(parser->sample.type, "counter") == 0
			       ? "_total"
			       : "");
	end_len = strlen(end);
	return (end_len < len && strcmp(parser->sample.family + len - end_len, end) == 0) ||
	       fail_at(parser, "a UNIT that does not end the name");
}

static bool next_is(const struct parser *parser, const char *literal)
{
	size_t len = strlen(literal);

	return (size_t)(parser->end - parser->at) >= len && memcmp(parser->at, literal, len) == 0;
}

/* HELP, TYPE, UNIT; in 2.0 TYPE, UNIT, HELP, as it should be. */
static bool take_head(struct parser *parser)
{
	struct parsed_sample *sample = &parser->sample;
	bool type_first = parser->openmetrics == 2;

	if (!type_first && !take_help(parser, true))
		return false;
	if (!take_head_line(parser, "# TYPE ", type_first, sample->type, sizeof(sample->type)))
		return false;
	if (parser->openmetrics && next_is(parser, "# UNIT ") && !take_unit(parser))
		return false;
	if (type_first && !take_help(parser, false))
		return false;
	parser->in_family = true;
	return true;
}

long exposition_parse(const char *text, size_t len, unsigned openmetrics, parsed_visitor *visit,
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
