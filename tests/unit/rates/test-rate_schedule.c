// SPDX-License-Identifier: Apache-2.0
#include "rates/rate_schedule.h"

#include "base/macro.h"
#include "tests/unit/unit.h"

enum { MONDAY, TUESDAY, FRIDAY = 4, SATURDAY, SUNDAY };

static double at(const char *text, unsigned weekday, unsigned hour, unsigned minute)
{
	struct rate_schedule schedule;
	struct diag diag = { "" };

	if (rate_schedule_parse(text, &schedule, &diag) < 0)
		fail_msg("%s: %s", text, diag.text);
	return rate_schedule_at(&schedule, weekday, hour * 60 + minute);
}

#define AT(text, day, hour, minute, value)                                                         \
	assert_true(fabs(at(text, day, hour, minute) - (value)) < 1e-12)

static void first_entry_that_applies_counts(void **state)
{
	static const char tariff[] = "mon-fri 07:00-20:00 0.34; sat,sun 0.24; 0.21";

	AT(tariff, MONDAY, 6, 59, 0.21);
	AT(tariff, MONDAY, 7, 0, 0.34);
	AT(tariff, FRIDAY, 19, 59, 0.34);
	AT(tariff, FRIDAY, 20, 0, 0.21);
	AT(tariff, SATURDAY, 12, 0, 0.24);
	AT(tariff, SUNDAY, 23, 59, 0.24);
}

static void night_belongs_to_the_day_on_which_it_began(void **state)
{
	static const char tariff[] = "fri 22:00-06:00 0.1; 0.3";

	AT(tariff, FRIDAY, 5, 0, 0.3);
	AT(tariff, FRIDAY, 22, 0, 0.1);
	AT(tariff, SATURDAY, 5, 59, 0.1);
	AT(tariff, SATURDAY, 6, 0, 0.3);
	AT("sun 22:00-06:00 -0.05;1", MONDAY, 3, 0, -0.05);
	AT("22:00-24:00 2; 1", TUESDAY, 23, 59, 2);
	AT("22:00-24:00 2; 1", TUESDAY, 0, 0, 1);
}

static void ranges_of_days_pass_sunday(void **state)
{
	AT("sat-mon 1; 2", SUNDAY, 0, 0, 1);
	AT("SAT-mon 1; 2", MONDAY, 0, 0, 1);
	AT("sat-mon 1; 2", TUESDAY, 0, 0, 2);
}

static void without_an_entry_nothing_is_known(void **state)
{
	assert_true(isnan(at("mon 1", TUESDAY, 0, 0)));
}

static void faults_name_the_entry(void **state)
{
	static const char *const faults[] = {
		"",
		";",
		"0.3;",
		"mon",
		"mon-",
		"xyz 1",
		"25:00-26:00 1",
		"07:60-08:00 1",
		"07:00-07:00 1",
		"7:00-8:00 1",
		"07:00 1",
		"1 mon",
		"mon, 1",
		"0.3 0.4",
		"mon inf",
		"mon nan",
		"07:00-20:00",
		"mon-fri,,sat 1",
	};
	struct rate_schedule schedule;
	char many[RATE_SCHEDULE_MAX * 2 + 2];

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		struct diag diag = { "" };

		if (rate_schedule_parse(faults[i], &schedule, &diag) != -EINVAL)
			fail_msg("\"%s\" is taken", faults[i]);
		assert_non_null(strstr(diag.text, "entry "));
	}
	for (size_t i = 0; i < sizeof(many); i++)
		many[i] = i % 2 ? ';' : '1';
	many[sizeof(many) - 1] = '\0';
	assert_int_equal(rate_schedule_parse(many, &schedule, NULL), -EINVAL);
	many[RATE_SCHEDULE_MAX * 2 - 1] = '\0';
	assert_int_equal(rate_schedule_parse(many, &schedule, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_entry_that_applies_counts),
		cmocka_unit_test(night_belongs_to_the_day_on_which_it_began),
		cmocka_unit_test(ranges_of_days_pass_sunday),
		cmocka_unit_test(without_an_entry_nothing_is_known),
		cmocka_unit_test(faults_name_the_entry),
	};

	return unit_run(tests);
}
