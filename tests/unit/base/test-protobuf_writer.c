// SPDX-License-Identifier: Apache-2.0
/* Bytes by hand, from the encoding's description. */
#include "base/macro.h"
#include "base/protobuf_writer.h"
#include "tests/unit/unit.h"

#define assert_bytes(out, text)                                                                    \
	do {                                                                                       \
		assert_int_equal((out).len, sizeof(text) - 1);                                     \
		assert_memory_equal((out).data, text, sizeof(text) - 1);                           \
	} while (0)

static void a_varint_has_seven_bits_in_each_byte(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	protobuf_add_varint(&out, PROTOBUF_TAG(1, PROTOBUF_VARINT), 127);
	protobuf_add_varint(&out, PROTOBUF_TAG(15, PROTOBUF_VARINT), 300);
	protobuf_add_varint(&out, PROTOBUF_TAG(1, PROTOBUF_VARINT), UINT64_MAX);
	assert_bytes(out, "\x08\x7f"
			  "\x78\xac\x02"
			  "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	assert_int_equal(protobuf_varint_len(127), 1);
	assert_int_equal(protobuf_varint_len(128), 2);
	assert_int_equal(protobuf_varint_len(UINT64_MAX), PROTOBUF_VARINT_MAX);
}

static void fixed_numbers_begin_with_their_lowest_byte(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	protobuf_add_fixed64(&out, PROTOBUF_TAG(3, PROTOBUF_FIXED64), 0x0102030405060708);
	protobuf_add_double(&out, PROTOBUF_TAG(1, PROTOBUF_FIXED64), 1.5);
	assert_bytes(out, "\x19\x08\x07\x06\x05\x04\x03\x02\x01"
			  "\x09\0\0\0\0\0\0\xf8\x3f");
}

static void bytes_and_packed_numbers_follow_their_length(void **state)
{
	static const uint32_t values[] = { 1, 300, UINT32_MAX };
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	protobuf_add_bytes(&out, PROTOBUF_TAG(2, PROTOBUF_BYTES), "ab", 2);
	protobuf_add_packed(&out, PROTOBUF_TAG(1, PROTOBUF_BYTES), values, 3);
	protobuf_add_packed(&out, PROTOBUF_TAG(1, PROTOBUF_BYTES), values, 0);
	assert_bytes(out, "\x12\x02"
			  "ab"
			  "\x0a\x08\x01\xac\x02\xff\xff\xff\xff\x0f"
			  "\x0a\0");
	assert_int_equal(protobuf_field_len(2), 4);
	assert_int_equal(protobuf_field_len(128), 131);
}

static void a_message_gets_its_length_at_its_end(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	size_t outer = protobuf_begin_field(&out, PROTOBUF_TAG(1, PROTOBUF_BYTES)), inner;
	char text[200] = { 0 };

	inner = protobuf_begin(&out);
	strbuf_add(&out, text, sizeof(text));
	protobuf_end(&out, inner);
	protobuf_end(&out, outer);
	assert_int_equal(out.len, 1 + 5 + 5 + sizeof(text));
	assert_memory_equal(out.data, "\x0a\xcd\x81\x80\x80\x00\xc8\x81\x80\x80\x00", 11);
}

static void without_memory_nothing_is_written(void **state)
{
	struct strbuf out = { .failed = true };
	size_t begin = protobuf_begin_field(&out, PROTOBUF_TAG(1, PROTOBUF_BYTES));
	static const uint32_t value = 1;

	protobuf_add_packed(&out, PROTOBUF_TAG(1, PROTOBUF_BYTES), &value, 1);
	protobuf_end(&out, begin);
	assert_int_equal(out.len, 0);
	assert_null(out.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_varint_has_seven_bits_in_each_byte),
		cmocka_unit_test(fixed_numbers_begin_with_their_lowest_byte),
		cmocka_unit_test(bytes_and_packed_numbers_follow_their_length),
		cmocka_unit_test(a_message_gets_its_length_at_its_end),
		cmocka_unit_test(without_memory_nothing_is_written),
	};

	return unit_run(tests);
}
