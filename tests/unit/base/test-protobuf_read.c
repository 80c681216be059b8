// SPDX-License-Identifier: Apache-2.0
#include "base/protobuf_read.h"

#include "tests/unit/unit.h"

static struct protobuf message(const char *bytes, size_t len)
{
	return (struct protobuf){ (const unsigned char *)bytes, len };
}
#define MESSAGE(text) message(text, sizeof(text) - 1)

static void reads_each_type(void **state)
{
	struct protobuf all = MESSAGE("\x08\x96\x01"             /* 1: 150 */
				      "\x12\x02hi"               /* 2: "hi" */
				      "\x19\1\2\3\4\5\6\7\x08"   /* 3: 64 bits */
				      "\x25\1\2\3\4"             /* 4: 32 bits */
				      "\xf8\xff\xff\xff\x0f\x00" /* the greatest number */
				      "\x30\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	static const struct {
		uint32_t number;
		enum protobuf_wire type;
		uint64_t value;
	} want[] = {
		{ 1, PROTOBUF_VARINT, 150 },
		{ 2, PROTOBUF_BYTES, 0 },
		{ 3, PROTOBUF_FIXED64, 0x0807060504030201 },
		{ 4, PROTOBUF_FIXED32, 0x04030201 },
		{ (1U << 29) - 1, PROTOBUF_VARINT, 0 },
		{ 6, PROTOBUF_VARINT, UINT64_MAX },
	};
	struct protobuf_field field;

	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		assert_int_equal(protobuf_next(&all, &field), 1);
		assert_int_equal(field.number, want[i].number);
		assert_int_equal(field.type, want[i].type);
		assert_int_equal(field.value, want[i].value);
		if (field.type == PROTOBUF_BYTES)
			assert_memory_equal(field.bytes.at, "hi", field.bytes.len);
	}
	assert_int_equal(protobuf_next(&all, &field), 0);
	assert_int_equal(protobuf_next(&all, &field), 0);
}

static void what_is_malformed_ends(void **state)
{
	struct protobuf cases[] = {
		MESSAGE("\x08"),     /* no value */
		MESSAGE("\x08\x80"), /* which does not end */
		MESSAGE("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"),
		MESSAGE("\x12\x03hi"), /* longer than the message */
		MESSAGE("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x"),
		MESSAGE("\x19\1\2\3"),
		MESSAGE("\x25\1\2\3"),
		MESSAGE("\x0b\x0c"),                 /* a group */
		MESSAGE("\x0e"),                     /* no type */
		MESSAGE("\x00\x01"),                 /* number 0 */
		MESSAGE("\x80\x80\x80\x80\x10\x00"), /* above the greatest */
	};
	struct protobuf_field field;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(protobuf_next(&cases[i], &field), -EPROTO);
		assert_int_equal(protobuf_next(&cases[i], &field), 0);
	}
}

static void texts_are_plain_and_fit(void **state)
{
	char text[4];

	assert_int_equal(protobuf_text(MESSAGE("\x0a\3one\x12\3two\x0a\3six"), 1, text, 4), 0);
	assert_string_equal(text, "six");
	assert_int_equal(protobuf_text(MESSAGE("\x12\3two"), 1, text, 4), 0);
	assert_string_equal(text, "");
	assert_int_equal(protobuf_text(MESSAGE("\x0a\4four"), 1, text, 4), -EINVAL);
	assert_int_equal(protobuf_text(MESSAGE("\x0a\3a b"), 1, text, 4), -EINVAL);
	assert_int_equal(protobuf_text(MESSAGE("\x0a\3a\0b"), 1, text, 4), -EINVAL);
	assert_int_equal(protobuf_text(MESSAGE("\x0a\2\xc3\xa4"), 1, text, 4), -EINVAL);
	assert_int_equal(protobuf_text(MESSAGE("\x0a\3one\x12"), 1, text, 4), -EPROTO);
	assert_int_equal(protobuf_text(MESSAGE("\x08\x05"), 1, text, 4), 0); /* a number */
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_each_type),
		cmocka_unit_test(what_is_malformed_ends),
		cmocka_unit_test(texts_are_plain_and_fit),
	};

	return unit_run(tests);
}
