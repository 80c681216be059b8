// SPDX-License-Identifier: Apache-2.0
#include "evidence/pages/page.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r"
#define START  "st@" /* before a start time */

const char *page_label(const struct page_series *series, const char *name)
{
	for (size_t i = 0; i < series->label_count; i++)
		if (strcmp(series->label_name[i], name) == 0)
			return series->label_value[i];
	return "";
}

/* Ends the word at *@at with a NUL and moves *@at past it. */
static char *take_word(char **at)
{
	char *word = *at + strspn(*at, BLANKS);
	char *end = word + strcspn(word, BLANKS);

	*at = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

/* The text between quotes, its escapes resolved in place; NULL: it has no end. */
static char *take_quoted(char **at)
{
	char *text = *at + 1, *to = text;

	for (char *from = text; *from; from++) {
		if (*from == '"') {
			*at = from + 1;
			*to = '\0';
			return text;
		}
		if (*from == '\\' && from[1])
			*to++ = *++from == 'n' ? '\n' : *from;
		else
			*to++ = *from;
	}
	return NULL;
}

/* Reads the labels after "{", up to and including "}". Returns NULL, or the error. */
static const char *take_labels(char **at, struct page_series *series)
{
	for (;;) {
		*at += strspn(*at, BLANKS ",");
		if (**at == '}') {
			++*at;
			return NULL;
		}
		if (series->label_count == PAGE_LABELS_MAX)
			return "a series has too many labels";
		char *name = *at, *end = name + strcspn(name, "= \t}\"");
		if (end == name || end[0] != '=' || end[1] != '"')
			return "a label must be NAME=\"VALUE\"";
		*end = '\0';
		*at = end + 1;
		char *value = take_quoted(at);
		if (!value)
			return "the value of a label has no end";
		series->label_name[series->label_count] = name;
		series->label_value[series->label_count++] = value;
	}
}

/* OpenMetrics 2.0 has a histogram as one value in braces, such as {count:2,sum:0.5}. */
static bool is_composite(const char *text)
{
	return *text == '{' && text[1 + strcspn(text + 1, ":=}")] == ':';
}

/* Reads the number, or fails. A timestamp, a start time and an exemplar may follow it. */
static bool take_value(char *at, struct page_series *series)
{
	const char *word = take_word(&at);
	char *end = NULL;

	series->start_s = NAN;
	series->value = NAN;
	if (!is_composite(word))
		series->value = strtod(word, &end);
	if (*word == '\0' || (end && *end))
		return false;
	for (word = take_word(&at); *word && *word != '#'; word = take_word(&at))
		if (strncmp(word, START, strlen(START)) == 0)
			series->start_s = strtod(word + strlen(START), NULL);
	return true;
}

static const char *take_series(char *line, struct page_series *series)
{
	char *at = line + strcspn(line, BLANKS "{");
	char behind = *at;

	series->name = line;
	series->label_count = 0;
	if (at == line || behind == '\0')
		return "a line must be NAME{LABELS} NUMBER";
	*at++ = '\0';
	at += strspn(at, BLANKS);
	if (behind != '{' && *at == '{' && !is_composite(at)) {
		behind = '{';
		at++;
	}
	const char *wrong = behind == '{' ? take_labels(&at, series) : NULL;
	if (wrong)
		return wrong;
	return take_value(at, series) ? NULL : "a number is missing after the name and labels";
}

static int read_comment(char *line, const struct page_sink *sink)
{
	char *at = line + 1;
	const char *word = take_word(&at);

	if (strcmp(word, "HELP") == 0 && sink->help) {
		const char *metric = take_word(&at);

		return sink->help(sink->userdata, metric, at + strspn(at, BLANKS));
	}
	if (strcmp(word, "TYPE") != 0 || !sink->type)
		return 0;
	const char *metric = take_word(&at);
	return sink->type(sink->userdata, metric, take_word(&at));
}

int page_read(char *text, size_t len, const struct page_sink *sink, struct diag *diag)
{
	unsigned long number = 0;

	for (char *line = text, *next; line < text + len; line = next) {
		char *end = memchr(line, '\n', (size_t)(text + len - line));
		struct page_series series;
		const char *wrong = NULL;
		int r = 0;

		number++;
		next = end ? end + 1 : text + len;
		if (end)
			*end = '\0';
		line += strspn(line, BLANKS);
		if (*line == '#')
			r = read_comment(line, sink);
		else if (*line) {
			wrong = take_series(line, &series);
			r = wrong ? 0 : sink->series(sink->userdata, &series);
		}
		if (wrong)
			return diag_set(diag, -EPROTO, "line %lu: %s", number, wrong);
		if (r != 0)
			return r;
	}
	return 0;
}
