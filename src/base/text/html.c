// SPDX-License-Identifier: Apache-2.0
#include "base/text/html.h"

#include <string.h>

#include "base/text/utf8.h"

static void add_byte(struct strbuf *out, char c)
{
	switch (c) {
	case '&':
		strbuf_add_str(out, "&amp;");
		break;
	case '<':
		strbuf_add_str(out, "&lt;");
		break;
	case '>':
		strbuf_add_str(out, "&gt;");
		break;
	case '"':
		strbuf_add_str(out, "&quot;");
		break;
	case '\'':
		strbuf_add_str(out, "&#39;");
		break;
	default:
		strbuf_add_char(out, c);
	}
}

void html_add_text(struct strbuf *out, const char *text, size_t max)
{
	size_t len = strnlen(text, max);

	for (size_t i = 0; i < len;) {
		size_t n = utf8_char_len(text + i, len - i);
		unsigned char c = (unsigned char)text[i];

		if (n == 0 || c < 0x20 || c == 0x7f) {
			strbuf_add_str(out, "\xef\xbf\xbd"); /* U+FFFD */
			i++;
			continue;
		}
		if (n == 1)
			add_byte(out, text[i]);
		else
			strbuf_add(out, text + i, n);
		i += n;
	}
}
