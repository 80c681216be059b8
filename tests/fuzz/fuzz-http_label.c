// SPDX-License-Identifier: Apache-2.0
/* A name as a label value: for any name, the value ends where it should and is UTF-8. */
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/utf8.h"
#include "export/label_escape.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct strbuf *out)
{
	size_t value_len = 0;

	for (size_t i = 0; i < out->len;) {
		size_t n = utf8_char_len(out->data + i, out->len - i);

		assert(n > 0);
		assert((unsigned char)out->data[i] >= 0x20 && out->data[i] != '"');
		if (out->data[i] == '\\') {
			i++;
			assert(i < out->len && strchr("\\\"n", out->data[i]));
		}
		i += n;
		value_len += n;
	}
	assert(value_len <= LABEL_VALUE_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf out = STRBUF_INIT;

	label_clean(&out, (const char *)data, size, true);
	check(&out);
	strbuf_reset(&out);
	label_clean_unique(&out, (const char *)data, size, true);
	check(&out);
	strbuf_release(&out);
	return 0;
}
