// SPDX-License-Identifier: Apache-2.0
#include "base/text/utf8.h"

#include <stdint.h>

size_t utf8_char_len(const char *s, size_t len)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800,
					     0x10000 }; /* by length: less is overlong */
	const uint8_t *byte = (const uint8_t *)s;
	size_t need;
	uint32_t code;

	if (len == 0)
		return 0;
	if (byte[0] < 0x80)
		return 1;
	if ((byte[0] & 0xe0) == 0xc0) {
		need = 2;
		code = byte[0] & 0x1f;
	} else if ((byte[0] & 0xf0) == 0xe0) {
		need = 3;
		code = byte[0] & 0x0f;
	} else if ((byte[0] & 0xf8) == 0xf0) {
		need = 4;
		code = byte[0] & 0x07;
	} else {
		return 0;
	}
	if (len < need)
		return 0;
	for (size_t i = 1; i < need; i++) {
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (byte[i] & 0x3f);
	}
	if (code < smallest[need] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return need;
}
