// SPDX-License-Identifier: Apache-2.0
#include "base/strbuf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hostile.h"
#include "base/num.h"
#include "base/text/ascii.h"
#include "base/text/utf8.h"

void strbuf_release(struct strbuf *sb)
{
	free(sb->data);
	*sb = STRBUF_INIT;
}

void strbuf_reset(struct strbuf *sb)
{
	sb->len = 0;
	sb->failed = false;
	if (sb->data)
		sb->data[0] = '\0';
}

bool strbuf_reserve(struct strbuf *sb, size_t extra)
{
	size_t need, size;
	char *data;

	if (sb->failed)
		return false;
	if (__builtin_add_overflow(sb->len, extra, &need) ||
	    __builtin_add_overflow(need, 1, &need)) {
		sb->failed = true;
		return false;
	}
	if (need <= sb->size)
		return true;
	size = HOSTILE && need < HOSTILE_EXACT ? need : sb->size < 256 ? 256 : sb->size;
	while (size < need)
		size = size > SIZE_MAX / 2 ? need : size * 2;
	data = realloc(sb->data, size);
	if (!data) {
		sb->failed = true;
		return false;
	}
	sb->data = data;
	sb->size = size;
	return true;
}

void strbuf_add(struct strbuf *sb, const void *data, size_t len)
{
	if (!strbuf_reserve(sb, len))
		return;
	if (len)
		memcpy(sb->data + sb->len, data, len);
	sb->len += len;
	sb->data[sb->len] = '\0';
}

void strbuf_add_str(struct strbuf *sb, const char *text)
{
	strbuf_add(sb, text, strlen(text));
}

void strbuf_add_char(struct strbuf *sb, char c)
{
	strbuf_add(sb, &c, 1);
}

void strbuf_add_u64(struct strbuf *sb, uint64_t value)
{
	char digits[FORMAT_U64_MAX];

	strbuf_add(sb, digits, format_u64(digits, value));
}

void strbuf_addf(struct strbuf *sb, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0) {
		sb->failed = true;
		return;
	}
	if (!strbuf_reserve(sb, (size_t)len))
		return;
	va_start(ap, fmt);
	(void)vsnprintf(sb->data + sb->len, (size_t)len + 1, fmt, ap);
	va_end(ap);
	sb->len += (size_t)len;
}

/* Bytes of ASCII that stand for themselves in a string of JSON, from the first one on. */
static size_t plain_in_json(const char *text)
{
	size_t len = 0;

	while ((unsigned char)(text[len] - 0x20) < 0x7f - 0x20 && text[len] != '"' &&
	       text[len] != '\\')
		len++;
	return len;
}

void strbuf_add_json(struct strbuf *sb, const char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len;) {
		size_t plain = plain_in_json(text + i), n;
		unsigned char c;

		strbuf_add(sb, text + i, plain);
		i += plain;
		if (i == len)
			break;
		c = (unsigned char)text[i];
		n = utf8_char_len(text + i, len - i);
		if (n == 0) {
			strbuf_add_str(sb, "\xef\xbf\xbd"); /* U+FFFD */
			i++;
			continue;
		}
		if (c == '"' || c == '\\') {
			strbuf_add_char(sb, '\\');
			strbuf_add_char(sb, (char)c);
		} else if (c < 0x20 || c == 0x7f) {
			strbuf_addf(sb, "\\u%04x", c);
		} else if (c == 0xc2 && (unsigned char)text[i + 1] < 0xa0) {
			/* U+0080..9F: terminals interpret them as commands */
			strbuf_addf(sb, "\\u%04x", (unsigned char)text[i + 1]);
		} else {
			strbuf_add(sb, text + i, n);
		}
		i += n;
	}
}

/*
 * All but plain names are quoted: at the beginning of a file, a byte order mark, the signature of
 * another format or a semicolon would otherwise not be read as a part of a name.
 */
static bool is_plain_cell(const char *text)
{
	while (ascii_is_alnum(*text) || (*text && strchr("_-.:/", *text)))
		text++;
	return !*text;
}

void strbuf_add_csv(struct strbuf *sb, const char *text)
{
	if (is_plain_cell(text)) {
		strbuf_add_str(sb, text);
		return;
	}
	strbuf_add_char(sb, '"');
	for (; *text; text++) {
		if (*text == '"')
			strbuf_add_char(sb, '"');
		strbuf_add_char(sb, *text);
	}
	strbuf_add_char(sb, '"');
}

int strbuf_error(const struct strbuf *sb)
{
	return sb->failed ? -ENOMEM : 0;
}
