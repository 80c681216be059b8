// SPDX-License-Identifier: Apache-2.0
#include "energy/label_text.h"

#include <stdbool.h>
#include <string.h>

#include "base/text/utf8.h"

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

static bool is_control(unsigned char c)
{
	return (c < 0x20 && c != '\n') || c == 0x7f;
}

void label_text(char *buf, size_t size, const char *text)
{
	size_t len = text ? strlen(text) : 0, out = 0;

	for (size_t i = 0; i < len;) {
		size_t n, used;

		if (text[i] >= ' ' && text[i] <= '~') { /* nearly always */
			if (out + 1 >= size)
				break;
			buf[out++] = text[i++];
			continue;
		}
		n = utf8_char_len(text + i, len - i);
		used = n ? n : 1;
		if ((n == 3 && memcmp(text + i, replacement, 3) == 0) ||
		    is_control((unsigned char)text[i]))
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
