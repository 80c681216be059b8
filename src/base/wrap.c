// SPDX-License-Identifier: Apache-2.0
#include "base/wrap.h"

/* A byte that continues a character of UTF-8 takes no column. */
static size_t columns_of(const char *text, size_t len)
{
	size_t columns = 0;

	for (size_t i = 0; i < len; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}

void wrap_text(struct strbuf *out, const char *text, size_t column, size_t indent, size_t width)
{
	for (const char *word = text; *word;) {
		size_t len = strcspn(word, " \n"), columns = columns_of(word, len);
		bool is_first = word == text;

		if (width && column + !is_first + columns > width && column > indent) {
			strbuf_addf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!is_first) {
			strbuf_add_char(out, ' ');
			column++;
		}
		strbuf_add(out, word, len);
		column += columns;
		word += len + (word[len] != '\0');
	}
}
