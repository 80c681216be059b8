// SPDX-License-Identifier: Apache-2.0
#include "export/otlp/otlp_answer.h"
#include "tests/unit/unit.h"

#define SUCCESS(bytes, ret) otlp_answer_read_success(bytes, sizeof(bytes) - 1, ret)
#define FAILURE(bytes, ret) otlp_answer_read_failure(bytes, sizeof(bytes) - 1, ret)

static void a_success_may_be_partial(void **state)
{
	struct otlp_answer answer;

	assert_int_equal(otlp_answer_read_success(NULL, 0, &answer), 0);
	assert_int_equal(answer.rejected, 0);
	assert_string_equal(answer.message, "");
	assert_int_equal(SUCCESS("\x0a\x0b\x08\xac\x02\x12\x06to\nold", &answer), 0);
	assert_int_equal(answer.rejected, 300);
	assert_string_equal(answer.message, "to?old");
	/* A warning, and a field of a newer version. */
	assert_int_equal(SUCCESS("\x0a\x06\x12\x04slow\x50\x01", &answer), 0);
	assert_int_equal(answer.rejected, 0);
	assert_string_equal(answer.message, "slow");
}

static void other_bytes_say_nothing(void **state)
{
	struct otlp_answer answer;

	assert_int_equal(SUCCESS("<html>", &answer), -EPROTO);
	assert_int_equal(SUCCESS("\x0a\x7f\x08\x01", &answer), -EPROTO);
	assert_int_equal(SUCCESS("\x0a\x02\x08\xff", &answer), -EPROTO);
	/* -1 */
	assert_int_equal(SUCCESS("\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", &answer),
			 -EPROTO);
	assert_int_equal(answer.rejected, 0);
	assert_string_equal(answer.message, "");
}

static void a_failure_has_a_reason(void **state)
{
	struct otlp_answer answer;
	char bytes[2 + 127] = { 0x12, 127 };

	assert_int_equal(FAILURE("\x08\x03\x12\x08no token", &answer), 0);
	assert_string_equal(answer.message, "no token");
	memset(bytes + 2, 'x', 127);
	assert_int_equal(otlp_answer_read_failure(bytes, sizeof(bytes), &answer), 0);
	assert_int_equal(strlen(answer.message), 127);
	assert_int_equal(FAILURE("Bad Request", &answer), -EPROTO);
	assert_string_equal(answer.message, "");
}

static void a_reason_is_cut_to_its_room(void **state)
{
	static char bytes[3 + 1000] = { 0x12, (char)0xe8, 0x07 };
	struct otlp_answer answer;

	memset(bytes + 3, 'x', 1000);
	assert_int_equal(otlp_answer_read_failure(bytes, sizeof(bytes), &answer), 0);
	assert_int_equal(strlen(answer.message), OTLP_ANSWER_MESSAGE_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_success_may_be_partial),
		cmocka_unit_test(other_bytes_say_nothing),
		cmocka_unit_test(a_failure_has_a_reason),
		cmocka_unit_test(a_reason_is_cut_to_its_room),
	};

	return unit_run(tests);
}
