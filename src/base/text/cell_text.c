// SPDX-License-Identifier: Apache-2.0
#include "base/text/cell_text.h"

#include <string.h>

#include "base/text/utf8.h"

/* C0, DEL and C1 control characters. */
static bool is_control(const char *at, size_t len)
{
	const unsigned char *byte = (const unsigned char *)at;

	return (len == 1 && (byte[0] < 0x20 || byte[0] == 0x7f)) ||
	       (len == 2 && byte[0] == 0xc2 && byte[1] < 0xa0);
}

size_t cell_text_add(struct strbuf *out, const char *text, size_t width)
{
	size_t len = strlen(text), used = 0;

	for (size_t i = 0; i < len && used < width; used++) {
		size_t n = utf8_char_len(text + i, len - i);

		if (used + 1 == width && i + (n ? n : 1) < len) {
			strbuf_add_str(out, "…");
			i = len;
			continue;
		}
		if (n == 0 || is_control(text + i, n)) {
			strbuf_add_char(out, '?');
			i += n ? n : 1;
			continue;
		}
		strbuf_add(out, text + i, n);
		i += n;
	}
	return used;
}

void cell_text_pad(struct strbuf *out, const char *text, size_t width)
{
	for (size_t used = cell_text_add(out, text, width); used < width; used++)
		strbuf_add_char(out, ' ');
}
