// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/export/snappy_content.h"

#include <stdint.h>

#include "tests/unit/unit.h"

struct block {
	const unsigned char *at, *end;
};

static size_t take_number(struct block *block, size_t bytes)
{
	size_t value = 0;

	assert_true((size_t)(block->end - block->at) >= bytes);
	for (size_t i = 0; i < bytes; i++)
		value |= (size_t)*block->at++ << 8 * i;
	return value;
}

static void take_literal(struct block *block, size_t tag, struct strbuf *out)
{
	size_t len = tag >> 2;

	len = 1 + (len < 60 ? len : take_number(block, len - 59));
	assert_true((size_t)(block->end - block->at) >= len);
	strbuf_add(out, block->at, len);
	block->at += len;
}

static void take_copy(struct block *block, size_t tag, struct strbuf *out)
{
	size_t len = (tag >> 2) + 1, back;

	if ((tag & 3) == 1) {
		len = (tag >> 2 & 7) + 4;
		back = (tag >> 5) << 8 | take_number(block, 1);
	} else {
		back = take_number(block, (tag & 3) == 2 ? 2 : 4);
	}
	assert_true(back > 0 && back <= out->len);
	while (len--)
		strbuf_add_char(out, out->data[out->len - back]);
}

size_t snappy_content(const char *block, size_t len, struct strbuf *out)
{
	struct block rest = { (const unsigned char *)block, (const unsigned char *)block + len };
	size_t wanted = 0, count = 0;

	strbuf_reset(out);
	for (unsigned shift = 0;; shift += 7) {
		size_t part = take_number(&rest, 1);

		wanted |= (part & 0x7f) << shift;
		if (!(part & 0x80))
			break;
	}
	for (; rest.at < rest.end; count++) {
		size_t tag = take_number(&rest, 1);

		if (tag & 3)
			take_copy(&rest, tag, out);
		else
			take_literal(&rest, tag, out);
	}
	assert_int_equal(strbuf_error(out), 0);
	assert_int_equal(out->len, wanted);
	return count;
}
