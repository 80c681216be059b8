// SPDX-License-Identifier: Apache-2.0
#include "record/record_block.h"

#include "tests/unit/unit.h"

static void put(struct strbuf *out, const char *text)
{
	struct strbuf records = STRBUF_INIT;

	strbuf_add_str(&records, text);
	assert_int_equal(record_block_add(out, &records), 0);
	strbuf_release(&records);
}

static void a_block_is_read_as_it_was_written(void **state)
{
	CLEANUP(strbuf_release) struct strbuf file = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT;
	struct diag diag = { "" };
	const uint8_t *bytes;
	int64_t len;

	record_block_add_header(&file);
	put(&file, "first first first first");
	put(&file, "");
	put(&file, "second");
	bytes = (const uint8_t *)file.data;
	assert_int_equal(record_block_check_header(bytes, file.len, &diag), 0);
	len = record_block_read(bytes + 16, file.len - 16, &got, &diag);
	assert_true(len > RECORD_BLOCK_HEAD);
	assert_int_equal(got.len, strlen("first first first first"));
	assert_memory_equal(got.data, "first first first first", got.len);
	len += 16;
	assert_int_equal(record_block_read(bytes + len, file.len - (size_t)len, &got, &diag),
			 (int64_t)file.len - len);
	assert_memory_equal(got.data, "second", 6);
}

/* As another program writes it. */
static void it_may_be_uncompressed(void **state)
{
	static const uint8_t block[] = { 'K',  'B',  'L',  'K',  0,   0,   0,  0,
					 3,    0,    0,    0,    3,   0,   0,  0,
					 0xc2, 0x41, 0x24, 0x35, 'a', 'b', 'c' };
	CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT;
	struct diag diag = { "" };
	uint8_t copy[sizeof(block)];

	assert_int_equal(record_block_read(block, sizeof(block), &got, &diag), sizeof(block));
	assert_memory_equal(got.data, "abc", 3);
	memcpy(copy, block, sizeof(block));
	copy[12] = 4;
	assert_int_equal(record_block_read(copy, sizeof(copy), &got, &diag), -EBADMSG);
	copy[12] = 3;
	copy[4] = 2;
	assert_int_equal(record_block_read(copy, sizeof(copy), &got, &diag), -EBADMSG);
	assert_string_equal(diag.text, "unknown compression 2");
}

static void a_cut_block_is_distinguished_from_a_damaged_one(void **state)
{
	CLEANUP(strbuf_release) struct strbuf block = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT;
	struct diag diag = { "" };

	put(&block, "some records");
	for (size_t len = 0; len < block.len; len++)
		assert_int_equal(record_block_read((uint8_t *)block.data, len, &got, &diag), 0);
	for (size_t at = 0; at < block.len; at++) {
		int64_t r;

		block.data[at] ^= 1;
		r = record_block_read((uint8_t *)block.data, block.len, &got, &diag);
		/* A length that has become longer looks like an end. */
		assert_true(r == -EBADMSG || (at >= 8 && at < 12 && r == 0));
		block.data[at] ^= 1;
	}
}

static void other_files_and_versions_are_refused(void **state)
{
	struct diag diag = { "" };
	uint8_t head[16] = "KEPLREC\n\2\0\3";

	assert_int_equal(record_block_check_header(head, 16, &diag), -EBADMSG);
	assert_string_equal(diag.text, "a recording of version 2.3; this Kepler reads version 1");
	head[8] = 1;
	assert_int_equal(record_block_check_header(head, 16, &diag), 0); /* a later minor one */
	assert_int_equal(record_block_check_header(head, 15, &diag), -EBADMSG);
	head[0] = 'k';
	assert_int_equal(record_block_check_header(head, 16, &diag), -EBADMSG);
	assert_string_equal(diag.text, "no recording of Kepler");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_is_read_as_it_was_written),
		cmocka_unit_test(it_may_be_uncompressed),
		cmocka_unit_test(a_cut_block_is_distinguished_from_a_damaged_one),
		cmocka_unit_test(other_files_and_versions_are_refused),
	};

	return unit_run(tests);
}
