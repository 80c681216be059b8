// SPDX-License-Identifier: Apache-2.0
/*
 * Each line is copied once, and names and values of labels are terminated and unescaped in that
 * copy: a text never grows by that.
 */
#include "samples/exposition.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "base/strbuf.h"

#define NAME_CHARACTERS                                                                            \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"                                     \
	"0123456789_:"
#define BLANKS " \t"

struct line {
	char *at;
	struct series_labels labels;
	const char *wrong; /* what is */
};

static int malformed(struct line *line, const char *what)
{
	line->wrong = what;
	return -EPROTO;
}

static void skip_blanks(struct line *line)
{
	line->at += strspn(line->at, BLANKS);
}

/* A name up to the character after it, which becomes its end and is returned; '\0': none. */
static char take_name(struct line *line, const char **ret)
{
	size_t len = strspn(line->at, NAME_CHARACTERS);
	char end;

	*ret = line->at;
	line->at += len;
	if (strspn(line->at, BLANKS)) {
		*line->at++ = '\0';
		skip_blanks(line);
	}
	end = *line->at;
	if (len == 0 || end == '\0')
		return '\0';
	return end;
}

/* Reads the text between quotes, and the second quote. */
static int take_quoted(struct line *line, const char **ret)
{
	char *to;

	if (*line->at != '"')
		return malformed(line, "the value of a label must begin with a quote");
	*ret = to = ++line->at;
	while (*line->at != '"') {
		char c = *line->at++;

		if (c == '\\') {
			c = *line->at++;
			if (c == 'n')
				c = '\n';
			else if (c != '\\' && c != '"')
				return malformed(line, "a backslash must be before \\, \" or n");
		}
		if (c == '\0')
			return malformed(line, "the value of a label has no end");
		*to++ = c;
	}
	line->at++;
	*to = '\0';
	return 0;
}

static int add_label(struct line *line, const char *name, const char *value)
{
	if (line->labels.count == SERIES_LABELS_MAX) {
		line->wrong = "a series has too many labels";
		return -E2BIG;
	}
	line->labels.name[line->labels.count] = name;
	line->labels.value[line->labels.count++] = value;
	return 0;
}

/* Reads the labels after the first brace, and the second brace. */
static int take_labels(struct line *line)
{
	for (;;) {
		const char *name, *value;
		int r;

		skip_blanks(line);
		if (*line->at == '}')
			break;
		if (take_name(line, &name) != '=')
			return malformed(line, "a label must be NAME=\"VALUE\"");
		*line->at++ = '\0';
		skip_blanks(line);
		r = take_quoted(line, &value);
		if (r == 0)
			r = add_label(line, name, value);
		if (r < 0)
			return r;
		skip_blanks(line);
		if (*line->at == ',')
			line->at++;
		else if (*line->at != '}')
			return malformed(line, "labels must be separated by commas");
	}
	line->at++;
	return 0;
}

static int take_value(struct line *line, struct series_point *ret)
{
	char *end;

	skip_blanks(line);
	ret->text = line->at;
	line->at += strcspn(line->at, BLANKS);
	if (*line->at) {
		*line->at++ = '\0';
		/* The time of the value, if there is one: the page's own is taken. */
		skip_blanks(line);
		line->at += strspn(line->at, "-0123456789");
		skip_blanks(line);
	}
	ret->value = strtod(ret->text, &end);
	if (end == ret->text || *end || *line->at)
		return malformed(line, "a number is missing after the name and labels");
	if (!isfinite(ret->value))
		ret->value = (double)NAN;
	return 0;
}

static int read_line(struct line *line, int64_t time_us, const struct series_sink *sink)
{
	struct series_point point = { .time_us = time_us };
	const char *name;
	char behind;
	int r;

	line->labels.count = 0;
	skip_blanks(line);
	if (*line->at == '#' || *line->at == '\0')
		return 0;
	behind = take_name(line, &name);
	if (behind == '\0')
		return malformed(line, "a line must begin with the name of a metric, and have a "
				       "number");
	r = add_label(line, "__name__", name);
	if (behind == '{') {
		*line->at++ = '\0';
		r = take_labels(line);
	} else if (line->at[-1] != '\0' && !strchr(BLANKS, line->at[-1])) {
		return malformed(line, "a name has an invalid character");
	}
	if (r == 0)
		r = take_value(line, &point);
	if (r == 0)
		r = sink->series(sink->userdata, &line->labels);
	return r == 0 ? sink->point(sink->userdata, &point) : r;
}

int exposition_read(const char *text, size_t len, int64_t time_us, const struct series_sink *sink,
		    struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf copy = STRBUF_INIT;
	unsigned long number = 0;

	for (const char *end = text + len; text < end;) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((newline ? newline : end) - text);
		struct line line = { .wrong = NULL };
		int r;

		number++;
		if (memchr(text, '\0', length))
			return diag_set(diag, -EPROTO, "line %lu: it has a null character", number);
		strbuf_reset(&copy);
		strbuf_add(&copy, text, length);
		strbuf_add_char(&copy, '\0');
		if (strbuf_error(&copy) < 0)
			return diag_set(diag, -ENOMEM, "out of memory");
		line.at = copy.data;
		r = read_line(&line, time_us, sink);
		if (r < 0 && line.wrong)
			return diag_set(diag, r, "line %lu: %s", number, line.wrong);
		if (r != 0)
			return r;
		text += length + 1;
	}
	return 0;
}
