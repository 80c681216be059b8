// SPDX-License-Identifier: Apache-2.0
/* Answers to Get Power Reading: recorded layouts, completion codes, wrong lengths. */
#include "bmc/ipmi_dcmi.h"

#include "tests/unit/unit.h"

/* 411 W, 300 to 500 W, mean 400 W, at 123456789, over 65,536,000 ms, active. */
static const struct ipmi_answer usual = { 19,
					  { 0x00, 0xDC, 0x9B, 0x01, 0x2C, 0x01, 0xF4, 0x01, 0x90,
					    0x01, 0x15, 0xCD, 0x5B, 0x07, 0x00, 0x00, 0xE8, 0x03,
					    0x40 } };

static void the_request_follows_the_specification(void **state)
{
	static const uint8_t data[] = { 0xDC, 0x01, 0x00, 0x00 };
	struct ipmi_request request;

	dcmi_power_request(&request);
	assert_int_equal(request.function, 0x2C);
	assert_int_equal(request.command, 0x02);
	assert_int_equal(request.len, sizeof(data));
	assert_memory_equal(request.data, data, sizeof(data));
}

static void all_fields_are_read(void **state)
{
	struct dcmi_power power;
	uint64_t uw;

	assert_int_equal(dcmi_power_parse(&usual, &power, NULL), 0);
	assert_int_equal(power.current_w, 411);
	assert_int_equal(power.min_w, 300);
	assert_int_equal(power.max_w, 500);
	assert_int_equal(power.mean_w, 400);
	assert_int_equal(power.time_s, 123456789);
	assert_int_equal(power.period_ms, 65536000);
	assert_true(power.is_active);
	assert_int_equal(dcmi_power_current(&power, &uw, NULL), 0);
	assert_int_equal(uw, 411000000);
}

static void an_unmeasured_value_is_not_power(void **state)
{
	struct ipmi_answer answer = usual;
	struct dcmi_power power;
	struct diag diag;
	uint64_t uw;

	answer.data[18] = 0x3F; /* all but the bit that says so */
	assert_int_equal(dcmi_power_parse(&answer, &power, NULL), 0);
	assert_false(power.is_active);
	assert_int_equal(dcmi_power_current(&power, &uw, &diag), 0); /* the value decides */
	assert_int_equal(uw, 411000000);
	answer.data[2] = answer.data[3] = 0;
	assert_int_equal(dcmi_power_parse(&answer, &power, NULL), 0);
	assert_int_equal(dcmi_power_current(&power, &uw, &diag), -ENODATA);
	assert_non_null(strstr(diag.text, "not active"));
	answer.data[18] = 0x40;
	assert_int_equal(dcmi_power_parse(&answer, &power, NULL), 0);
	assert_int_equal(dcmi_power_current(&power, &uw, &diag), -ENODATA);
}

static void lengths_and_groups_that_are_wrong(void **state)
{
	struct ipmi_answer answer = usual;
	struct dcmi_power power;

	for (answer.len = 0; answer.len < usual.len; answer.len++)
		assert_int_equal(dcmi_power_parse(&answer, &power, NULL), -EBADMSG);
	answer.len = IPMI_ANSWER_MAX;
	assert_int_equal(dcmi_power_parse(&answer, &power, NULL), 0);
	answer.data[1] = 0xDD;
	assert_int_equal(dcmi_power_parse(&answer, &power, NULL), -EBADMSG);
}

static void completion_codes(void **state)
{
	static const struct {
		uint8_t code;
		int error;
		const char *text;
	} table[] = {
		{ 0xC0, -EBUSY, "it is busy (completion code C0)" },
		{ 0xC1, -EOPNOTSUPP, "does not know the command" },
		{ 0xC3, -ETIMEDOUT, "in time" },
		{ 0xCB, -ENODATA, "not present" },
		{ 0xD4, -EKEYREJECTED, "privilege" },
		{ 0xD5, -ENODATA, "present state" },
		{ 0xFF, -EIO, "completion code FF" },
		{ 0x80, -EIO, "completion code 80" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct ipmi_answer answer = { 1, { table[i].code } };
		struct dcmi_power power;
		struct diag diag;

		assert_int_equal(dcmi_power_parse(&answer, &power, &diag), table[i].error);
		assert_non_null(strstr(diag.text, table[i].text));
	}
}

/* A meter that gets one of them would take it for something else. */
static void no_code_is_an_error_of_a_zone(void **state)
{
	for (int code = 1; code < 256; code++) {
		const struct ipmi_answer answer = { 1, { (uint8_t)code } };
		int r = ipmi_answer_check(&answer, NULL);

		assert_true(r < 0 && r != -EAGAIN && r != -ENODEV && r != -ENOENT && r != -EPERM);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_request_follows_the_specification),
		cmocka_unit_test(all_fields_are_read),
		cmocka_unit_test(an_unmeasured_value_is_not_power),
		cmocka_unit_test(lengths_and_groups_that_are_wrong),
		cmocka_unit_test(completion_codes),
		cmocka_unit_test(no_code_is_an_error_of_a_zone),
	};

	return unit_run(tests);
}
