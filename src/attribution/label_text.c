// SPDX-License-Identifier: Apache-2.0
#include "attribution/label_text.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

void label_text(char *buf, size_t size, const char *text)
{
	size_t len = text ? strlen(text) : 0, out = 0;

	for (size_t i = 0; i < len;) {
		size_t n = utf8_char_len(text + i, len - i);
		size_t used = n ? n : 1;

		if (n == 3 && memcmp(text + i, replacement, 3) == 0)
			n = 0;
		if (out + (n ? n : 1) >= size)
			break;
		if (n) {
			memcpy(buf + out, text + i, n);
			out += n;
		} else {
			buf[out++] = LABEL_INVALID_BYTE;
		}
		i += used;
	}
	buf[out] = '\0';
}

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Length of a name that is safe to print, 0 for any other. */
static size_t name_len(const char *name)
{
	static const char prefix[] = "label_";
	size_t len = 0;

	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return 0;
	while (is_name_char(name[len]))
		len++;
	return len;
}

/* Length of a value with its quotes, 0 when it is not whole or has what must be escaped. */
static size_t value_len(const char *value, const char *end)
{
	const char *at = value;

	if (at == end || *at++ != '"')
		return 0;
	while (at < end && *at != '"') {
		size_t n = utf8_char_len(at, (size_t)(end - at));

		if (n == 0 || (unsigned char)*at < 0x20 || *at == 0x7f)
			return 0;
		if (*at == '\\') {
			if (end - at < 2 || !strchr("\\\"n", at[1]))
				return 0;
			n = 2;
		}
		at += n;
	}
	return at < end ? (size_t)(at - value) + 1 : 0;
}

/* Is ",NAME=" of @label (its first @len bytes) in the clean list @buf? */
static bool has_name(const char *buf, size_t used, const char *label, size_t len)
{
	for (size_t at = 0; at + len <= used;) {
		const char *value = memchr(buf + at, '=', used - at);

		if (memcmp(buf + at, label, len) == 0)
			return true;
		if (!value)
			return false;
		at = (size_t)(value + 1 - buf);
		at += value_len(buf + at, buf + used);
	}
	return false;
}

void label_list_text(char *buf, size_t size, const char *list)
{
	const char *at = list ? list : "", *end = at + strlen(at);
	size_t used = 0;

	while (*at == ',') {
		size_t name = name_len(at + 1), head = name + 2, value; /* ",NAME=" */

		if (name == 0 || at[1 + name] != '=')
			break;
		value = value_len(at + head, end);
		if (value == 0 || used + head + value >= size)
			break;
		if (!has_name(buf, used, at, head)) {
			memcpy(buf + used, at, head + value);
			used += head + value;
		}
		at += head + value;
	}
	buf[used] = '\0';
}
