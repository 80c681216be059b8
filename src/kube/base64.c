// SPDX-License-Identifier: Apache-2.0
/* Decodes base64, strictly: whole groups of four, padding only at the end, no stray bits. */
#include "kube/base64.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/macro.h"

static int value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+')
		return 62;
	return c == '/' ? 63 : -1;
}

struct decoder {
	uint32_t bits;
	unsigned held, digits, padding; /* bits not yet out; characters seen */
	char *out;
	size_t len;
};

static int take(struct decoder *decoder, char c)
{
	int value = value_of(c);

	decoder->digits++;
	if (c == '=') {
		decoder->padding++;
		return decoder->padding <= 2 ? 0 : -EINVAL;
	}
	if (value < 0 || decoder->padding)
		return -EINVAL;
	decoder->bits = (decoder->bits << 6 | (uint32_t)value) & 0xffff;
	decoder->held += 6;
	if (decoder->held >= 8) {
		decoder->held -= 8;
		decoder->out[decoder->len++] = (char)(decoder->bits >> decoder->held & 0xff);
	}
	return 0;
}

int base64_decode(const char *text, char **ret, size_t *ret_len)
{
	CLEANUP_FREE char *out = malloc(strlen(text) / 4 * 3 + 4);
	struct decoder decoder = { .out = out };

	if (!out)
		return -ENOMEM;
	for (; *text; text++) {
		if (strchr(" \t\r\n", *text))
			continue;
		if (take(&decoder, *text) < 0)
			return -EINVAL;
	}
	if (decoder.digits % 4 || decoder.held != decoder.padding * 2 ||
	    (decoder.bits & ((1U << decoder.held) - 1)))
		return -EINVAL;
	out[decoder.len] = '\0';
	*ret_len = decoder.len;
	*ret = TAKE_PTR(out);
	return 0;
}
