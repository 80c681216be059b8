// SPDX-License-Identifier: Apache-2.0
/* How text of unknown origin is shown: in a message, and as a YAML scalar. */
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/utf8.h"
#include "kepler/config_options.h"

size_t config_char_len(const char *text, size_t len)
{
	static const char *const refused[] = { "\u2028", "\u2029", "\ufeff", "\xef\xbf\xbe",
					       "\xef\xbf\xbf" };
	size_t n = utf8_char_len(text, len);
	unsigned char c = (unsigned char)text[0];

	if (n == 0 || c < 0x20 || c == 0x7f)
		return 0;
	if (n == 2 && c == 0xc2 && (unsigned char)text[1] < 0xa0)
		return 0; /* C1 controls: a line end, the start of terminal commands */
	for (size_t i = 0; n == 3 && i < ARRAY_SIZE(refused); i++) {
		if (memcmp(text, refused[i], 3) == 0)
			return 0;
	}
	return n;
}

const char *config_printable(char *buf, size_t size, const char *text)
{
	static const char more[] = "…";
	size_t len = strlen(text), n = 0;

	for (size_t i = 0; i < len;) {
		size_t part = config_char_len(text + i, len - i);

		if (n + 4 + sizeof(more) > size) {
			memcpy(buf + n, more, sizeof(more));
			return buf;
		}
		if (part == 0) {
			part = utf8_char_len(text + i, len - i);
			buf[n++] = '?';
		} else {
			memcpy(buf + n, text + i, part);
			n += part;
		}
		i += part ? part : 1;
	}
	buf[n] = '\0';
	return buf;
}

void config_yaml_quote(struct strbuf *out, const char *text)
{
	strbuf_add_char(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			strbuf_add_char(out, '\\');
		strbuf_add_char(out, *text);
	}
	strbuf_add_char(out, '"');
}
