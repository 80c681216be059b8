// SPDX-License-Identifier: Apache-2.0
/* Bytes by hand, from the encoding's description; test-http-protobuf.py decodes whole pages. */
#include "export/protobuf_sink.h"
#include "export/text_sink.h"
#include "tests/unit/unit.h"

/* 1.5; 1700000000.5 s as a Timestamp behind its length; "a" = "1\"" as the field of a Metric */
#define ONE_AND_A_HALF "\0\0\0\0\0\0\xf8\x3f"
#define BIRTH          "\x0c\x08\x80\xe2\xcf\xaa\x06\x10\x80\xca\xb5\xee\x01"
#define PAIR                                                                                       \
	"\x0a\x07\x0a\x01"                                                                         \
	"a\x12\x02"                                                                                \
	"1\""

static const struct label_pair pairs[] = { { "a", "1\"" } };

static void a_counter_has_value_and_birth(void **state)
{
	static const char want[] = "\xb8\x80\x80\x80\x00" /* 56 bytes */
				   "\x0a\x09"
				   "x_y_total\x12\x02"
				   "H.\x18\x00\x2a\x01"
				   "y\x22\x22" PAIR "\x1a\x17\x09" ONE_AND_A_HALF "\x1a" BIRTH;
	static const struct family counter = { .type = FAMILY_COUNTER, .unit = "y", .help = "H." };
	static const struct family empty = { .type = FAMILY_GAUGE, .unit = "", .help = "H." };
	const struct point point = { .labels = { pairs, 1 },
				     .value = { .integer = 1500000, .decimals = 6 },
				     .created_ms = 1700000000500 };
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct protobuf_sink protobuf;

	protobuf_sink_init(&protobuf, &out);
	protobuf.sink.family(&protobuf.sink, &empty, "nothing");
	protobuf.sink.family(&protobuf.sink, &counter, "x_y");
	protobuf.sink.point(&protobuf.sink, &point);
	protobuf.sink.family(&protobuf.sink, &empty, "nothing_either");
	assert_int_equal(protobuf_sink_finish(&protobuf), 0);
	assert_int_equal(out.len, sizeof(want) - 1);
	assert_memory_equal(out.data, want, out.len);
}

static void an_info_is_a_gauge(void **state)
{
	static const char want[] = "\xa4\x80\x80\x80\x00" /* 36 bytes */
				   "\x0a\x06"
				   "x_info\x12\x02"
				   "H.\x18\x01\x22\x14" PAIR "\x12\x09\x09\0\0\0\0\0\0\xf0\x3f";
	static const struct family info = { .type = FAMILY_INFO, .unit = "", .help = "H." };
	const struct point point = { .labels = { pairs, 1 }, .value = { .integer = 1 } };
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct protobuf_sink protobuf;

	protobuf_sink_init(&protobuf, &out);
	protobuf.sink.family(&protobuf.sink, &info, "x");
	protobuf.sink.point(&protobuf.sink, &point);
	assert_int_equal(protobuf_sink_finish(&protobuf), 0);
	assert_int_equal(out.len, sizeof(want) - 1);
	assert_memory_equal(out.data, want, out.len);
}

/* Only broken bytes are replaced: text formats escape what would end a value, and this one not. */
static void labels_are_not_escaped(void **state)
{
	static const struct label_pair labels[] = { { "a", "1\"" },
						    { "b", "" },
						    { "c", "\\n\n=,\xff", .is_id = false } };
	static const char want[] = PAIR "\x0a\x05\x0a\x01"
					"b\x12\x00\x0a\x0d\x0a\x01"
					"c\x12\x08"
					"\\n\n=,\xef\xbf\xbd";
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	protobuf_labels(&out, &(const struct labels){ labels, 3 });
	assert_int_equal(out.len, sizeof(want) - 1);
	assert_memory_equal(out.data, want, out.len);
}

static double shown(uint64_t value, unsigned decimals)
{
	static const struct family gauge = { .type = FAMILY_GAUGE, .unit = "", .help = "H." };
	const struct point point = { .value = { .integer = value, .decimals = decimals } };
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct protobuf_sink protobuf;
	uint64_t bits = 0;
	double number;

	protobuf_sink_init(&protobuf, &out);
	protobuf.sink.family(&protobuf.sink, &gauge, "x");
	protobuf.sink.point(&protobuf.sink, &point);
	assert_int_equal(protobuf_sink_finish(&protobuf), 0);
	for (size_t i = 0; i < sizeof(bits); i++) /* the last bytes of all */
		bits |= (uint64_t)(uint8_t)out.data[out.len - 8 + i] << 8 * i;
	memcpy(&number, &bits, sizeof(number));
	return number;
}

/* Two clients that ask for different formats get one number, however large it is. */
static void numbers_equal_the_text(void **state)
{
	uint64_t value = 1;

	for (unsigned i = 0; i < 4000; i++) {
		unsigned decimals = 3 * (i % 4);
		char text[FORMAT_SCALED_MAX + 1];
		double number = shown(value, decimals), want;

		text[format_scaled(text, value, decimals)] = '\0';
		want = strtod(text, NULL);
		assert_memory_equal(&number, &want, sizeof(number));
		value = value * 6364136223846793005 + 1442695040888963407;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_counter_has_value_and_birth),
		cmocka_unit_test(numbers_equal_the_text),
		cmocka_unit_test(an_info_is_a_gauge),
		cmocka_unit_test(labels_are_not_escaped),
	};

	return unit_run(tests);
}
