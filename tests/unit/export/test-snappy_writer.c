// SPDX-License-Identifier: Apache-2.0
#include "export/remote-write/snappy_writer.h"

#include <string.h>

#include "base/macro.h"
#include "tests/unit/export/snappy_content.h"
#include "tests/unit/unit.h"

struct expected {
	struct snappy_writer writer;
	struct strbuf content;
};

static void add(struct expected *both, const char *bytes, size_t len)
{
	snappy_writer_add(&both->writer, bytes, len);
	strbuf_add(&both->content, bytes, len);
}

static void repeat(struct expected *both, size_t at, size_t len)
{
	snappy_writer_repeat(&both->writer, at, len);
	for (size_t i = 0; i < len; i++)
		strbuf_add_char(&both->content, both->content.data[at + i]);
}

/* Returns the number of elements, and begins again. */
static size_t finish(struct expected *both, size_t *ret_len)
{
	CLEANUP(strbuf_release) struct strbuf content = STRBUF_INIT;
	const char *block = snappy_writer_finish(&both->writer, ret_len);
	size_t count;

	assert_non_null(block);
	count = snappy_content(block, *ret_len, &content);
	assert_int_equal(content.len, both->content.len);
	assert_int_equal(both->writer.content_len, content.len);
	if (content.len)
		assert_memory_equal(content.data, both->content.data, content.len);
	snappy_writer_reset(&both->writer);
	strbuf_reset(&both->content);
	return count;
}

static void release(struct expected *both)
{
	snappy_writer_release(&both->writer);
	strbuf_release(&both->content);
}

static void a_block_is_its_parts(void **state)
{
	struct expected both = { 0 };
	size_t len;

	assert_int_equal(finish(&both, &len), 0);
	assert_int_equal(len, 1);
	add(&both, "", 0);
	add(&both, "abc", 3);
	add(&both, "defgh", 5);
	repeat(&both, 2, 4);
	add(&both, "x", 1);
	repeat(&both, 11, 2);
	assert_int_equal(finish(&both, &len), 4);
	release(&both);
}

/* One element where the second part follows the first one in the content as well. */
static void what_follows_is_one_reference(void **state)
{
	struct expected both = { 0 };
	size_t len;

	add(&both, "0123456789", 10);
	repeat(&both, 2, 3);
	repeat(&both, 5, 4);
	repeat(&both, 0, 2);
	assert_int_equal(finish(&both, &len), 3);
	release(&both);
}

/* Literals and references of all lengths about which their heads change. */
static void lengths_have_their_heads(void **state)
{
	static const size_t lens[] = { 1, 59, 60, 61, 255, 256, 257, 65535, 65536, 65537, 200000 };
	struct expected both = { 0 };
	static char bytes[200000];
	size_t len;

	for (size_t i = 0; i < 200000; i++)
		bytes[i] = (char)(i * 2654435761U >> 13);
	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		add(&both, bytes, lens[i]);
		assert_int_equal(finish(&both, &len), (lens[i] + 65535) / 65536);
		add(&both, bytes, lens[i]);
		repeat(&both, 0, lens[i]);
		add(&both, bytes, 7);
		(void)finish(&both, &len);
	}
	for (size_t i = 1; i < 200; i++) {
		add(&both, bytes, 300);
		repeat(&both, i, i);
		assert_int_equal(finish(&both, &len), 1 + (i + 63) / 64);
	}
	release(&both);
}

/* 65,535 bytes back fit into an element of three bytes; further back takes five. */
static void references_go_back_as_far_as_the_block(void **state)
{
	struct expected both = { 0 };
	static char bytes[200000];
	size_t near, far;

	memset(bytes, 'a', 200000);
	add(&both, bytes, 65535);
	repeat(&both, 0, 10);
	assert_int_equal(finish(&both, &near), 2);
	add(&both, bytes, 65536);
	repeat(&both, 0, 10);
	assert_int_equal(finish(&both, &far), 2);
	assert_int_equal(far, near + 1 + 2);
	add(&both, "begin", 5);
	add(&both, bytes, 200000);
	repeat(&both, 0, 5);
	(void)finish(&both, &far);
	release(&both);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_is_its_parts),
		cmocka_unit_test(what_follows_is_one_reference),
		cmocka_unit_test(lengths_have_their_heads),
		cmocka_unit_test(references_go_back_as_far_as_the_block),
	};

	return unit_run(tests);
}
