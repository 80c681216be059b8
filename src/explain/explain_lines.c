// SPDX-License-Identifier: Apache-2.0
#include "explain/explain_lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/macro.h"
#include "base/num.h"
#include "base/text/utf8.h"

#define COLUMNS 79
#define LABEL   10 /* columns of what a line is about */

/* U+202A-E and U+2066-9 turn the direction of the text after them. */
static bool turns_text(const char *text, size_t n)
{
	const unsigned char *byte = (const unsigned char *)text;

	return n == 3 && byte[0] == 0xe2 &&
	       ((byte[1] == 0x80 && byte[2] >= 0xaa && byte[2] <= 0xae) ||
		(byte[1] == 0x81 && byte[2] >= 0xa6 && byte[2] <= 0xa9));
}

void explain_add_clean(struct strbuf *out, const char *text, bool lines)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len;) {
		size_t n = utf8_char_len(text + i, len - i);
		unsigned char byte = (unsigned char)text[i];
		bool control = n == 1 ? byte < 0x20 || byte == 0x7f
				      : n == 2 && byte == 0xc2 && (unsigned char)text[i + 1] < 0xa0;

		if (n == 0 || turns_text(text + i, n) || (control && !(lines && byte == '\n')))
			strbuf_add_char(out, '?');
		else
			strbuf_add(out, text + i, n);
		i += n ? n : 1;
	}
}

static size_t width_of(const char *text, size_t len)
{
	size_t width = 0;

	for (size_t i = 0; i < len; i++)
		width += ((unsigned char)text[i] & 0xc0) != 0x80;
	return width;
}

/* "  series    words that go on below each other" */
static void add_wrapped(struct strbuf *out, const char *label, const struct strbuf *text)
{
	size_t column = 2 + LABEL;
	const char *word = text->data ? text->data : "";

	strbuf_addf(out, "  %-*s", LABEL, label);
	for (bool first = true; *word; first = false) {
		size_t len = strcspn(word, " ");
		size_t width = width_of(word, len);

		if (!first && column + 1 + width > COLUMNS) {
			strbuf_addf(out, "\n  %-*s", LABEL, "");
			column = 2 + LABEL;
		} else if (!first) {
			strbuf_add_char(out, ' ');
			column++;
		}
		strbuf_add(out, word, len);
		column += width;
		word += len + (word[len] == ' ');
	}
	strbuf_add_char(out, '\n');
}

void say(struct strbuf *out, const char *label, const char *fmt, ...)
{
	CLEANUP(strbuf_release) struct strbuf clean = STRBUF_INIT;
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0) {
		text = NULL;
		out->failed = true;
	}
	va_end(ap);
	explain_add_clean(&clean, text ? text : "", false);
	add_wrapped(out, label, &clean);
	out->failed |= clean.failed;
	free(text);
}

const char *explain_count(char buf[EXPLAIN_VALUE_MAX], uint64_t value)
{
	char digits[FORMAT_U64_MAX];
	size_t len = format_u64(digits, value), at = 0;

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf[at++] = ',';
		buf[at++] = digits[i];
	}
	buf[at] = '\0';
	return buf;
}

const char *explain_clock(char buf[EXPLAIN_VALUE_MAX], int64_t realtime_ms, bool date)
{
	time_t seconds = (time_t)(realtime_ms / 1000);
	struct tm parts;

	if (!gmtime_r(&seconds, &parts) ||
	    strftime(buf, EXPLAIN_VALUE_MAX, date ? "%Y-%m-%d %H:%M:%S UTC" : "%H:%M:%S UTC",
		     &parts) == 0)
		(void)snprintf(buf, EXPLAIN_VALUE_MAX, "?");
	return buf;
}

const char *explain_duration(char buf[EXPLAIN_VALUE_MAX], uint64_t ns)
{
	format_duration(buf, EXPLAIN_VALUE_MAX, ns);
	return buf;
}
