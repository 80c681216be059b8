// SPDX-License-Identifier: Apache-2.0
#include "meter/external/external_text.h"

#include "base/num.h"
#include "tests/unit/unit.h"

#define HEADER "kepler-meter 1\n"

static int begin(const char *start, struct external_text *text, struct diag *diag)
{
	return external_text_begin(text, start, strlen(start), diag);
}

static void lines_are_zones(void **state)
{
	static const char text[] = HEADER
		"# a plug\n"
		"\n"
		"zone=platform uw=215300000 time=1763912345.25 window=30.5 name=shelly-rack3\n"
		"  name=pdu:3/b \tuj=18446744073709551615   zone=dram-07\r\n"
		"zone=package-1 uj=0 time=1763912345.123456789";
	char whole[sizeof(text) + 1];
	struct external_text reading;
	struct external_record record;
	struct diag diag;

	(void)snprintf(whole, sizeof(whole), "%s\n", text);
	assert_int_equal(begin(whole, &reading, &diag), 0);
	assert_int_equal(external_text_next(&reading, &record, &diag), 1);
	assert_int_equal(record.zone.kind, ZONE_PLATFORM);
	assert_string_equal(record.zone.instance, "");
	assert_int_equal(record.sample, SAMPLE_POWER);
	assert_int_equal(record.value, 215300000);
	assert_int_equal(record.time_ns, 1763912345250000000ULL);
	assert_int_equal(record.window_ns, 30500000000ULL);
	assert_string_equal(record.zone.path, "shelly-rack3");
	assert_int_equal(external_text_next(&reading, &record, &diag), 1);
	assert_int_equal(record.zone.kind, ZONE_DRAM);
	assert_string_equal(record.zone.instance, "7");
	assert_int_equal(record.sample, SAMPLE_TOTAL);
	assert_int_equal(record.value, UINT64_MAX);
	assert_int_equal(record.time_ns, 0);
	assert_string_equal(record.zone.path, "pdu:3/b");
	assert_int_equal(external_text_next(&reading, &record, &diag), 1);
	assert_int_equal(record.time_ns, 1763912345123456789ULL);
	assert_string_equal(record.zone.path, "");
	assert_int_equal(external_text_next(&reading, &record, &diag), 0);
	assert_int_equal(external_text_next(&reading, &record, &diag), 0);
}

static void an_invalid_text_is_refused(void **state)
{
	static const struct {
		const char *text;
		int error;
	} table[] = {
		{ "", -EBADMSG },
		{ "kepler-meter 1", -EBADMSG },
		{ HEADER "zone=platform uw=2153", -EBADMSG },
		{ "kepler-meter 2\n", -EINVAL },
		{ "zone=platform uw=1\n", -EINVAL },
		{ "\n" HEADER, -EINVAL },
	};
	struct external_text reading;
	struct diag diag;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_int_equal(begin(table[i].text, &reading, &diag), table[i].error);
}

/* Each is reported with its line, and those after it are read. */
static void a_bad_line_costs_itself(void **state)
{
	static const struct {
		const char *line, *why;
	} table[] = {
		{ "zone=platform", "either uj= or uw=" },
		{ "zone=platform uw=1 uj=1", "either uj=" },
		{ "uw=1", "no zone=" },
		{ "zone=gpu uw=1", "gpu is not a valid value of zone" },
		{ "zone=package- uw=1", "not a valid value of zone" },
		{ "zone=package-x uw=1", "not a valid value of zone" },
		{ "zone=platform uw=-1", "-1 is not a valid value of uw" },
		{ "zone=platform uw=1.5", "not a valid value of uw" },
		{ "zone=platform uw=18446744073709551616", "not a valid value of uw" },
		{ "zone=platform uw= ", "not a valid value of uw" },
		{ "zone=platform uw=1 watts=1", "\"watts=1\" is not one of" },
		{ "zone=platform uw=1 uw", "\"uw\" is not one of" },
		{ "zone=platform uw=1 uw=1", "uw is given twice" },
		{ "zone=platform uj=1 window=1", "window= requires uw=" },
		{ "zone=platform uw=1 window=3601", "not a valid value of window" },
		{ "zone=platform uw=1 time=1763912345.1234567890", "not a valid value of time" },
		{ "zone=platform uw=1 time=1763912345.", "not a valid value of time" },
		{ "zone=platform uw=1 time=18446744074", "not a valid value of time" },
		{ "zone=platform uw=1 name=", "not a valid value of name" },
		{ "zone=platform uw=1 name=a\"b", "not a valid value of name" },
		{ "zone=platform uw=1 name=0123456789012345678901234567890123",
		  "not a valid value of name" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		char text[256];
		struct external_text reading;
		struct external_record record;
		struct diag diag;

		(void)snprintf(text, sizeof(text), HEADER "%s\nzone=psys uw=5\n", table[i].line);
		assert_int_equal(begin(text, &reading, &diag), 0);
		assert_int_equal(external_text_next(&reading, &record, &diag), -EINVAL);
		if (!strstr(diag.text, table[i].why) || strncmp(diag.text, "line 2: ", 8) != 0)
			fail_msg("%s: %s", table[i].line, diag.text);
		assert_int_equal(external_text_next(&reading, &record, &diag), 1);
		assert_int_equal(record.zone.kind, ZONE_PSYS);
		assert_int_equal(record.value, 5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_zones),
		cmocka_unit_test(an_invalid_text_is_refused),
		cmocka_unit_test(a_bad_line_costs_itself),
	};

	return unit_run(tests);
}
