// SPDX-License-Identifier: Apache-2.0
#include "energy/zone_coverage.h"

#include "tests/unit/unit.h"

static const struct zone psys = { .kind = ZONE_PSYS, .source = "rapl-sysfs", .path = "rapl:1" };
static const struct zone platform = { .kind = ZONE_PLATFORM,
				      .source = "ipmi",
				      .path = "/dev/ipmi0" };

static void a_low_coverage_is_reported_with_a_remedy(void **state)
{
	char text[ZONE_COVERAGE_TEXT_MAX];
	const char *remedy;

	assert_true(zone_coverage_is_short(&platform, 0.25, text, &remedy));
	assert_non_null(strstr(text, "platform (ipmi, /dev/ipmi0) counts 75 % less"));
	assert_non_null(strstr(remedy, "power supplies"));
	assert_true(zone_coverage_is_short(&psys, 0, text, &remedy));
	assert_non_null(strstr(text, "psys (rapl-sysfs, rapl:1) stands still"));
	assert_non_null(strstr(remedy, "maker"));
}

static void what_two_good_meters_differ_by_is_not(void **state)
{
	char text[ZONE_COVERAGE_TEXT_MAX];
	const char *remedy;

	assert_false(zone_coverage_is_short(&platform, 0.96, text, &remedy));
	assert_false(zone_coverage_is_short(&platform, 2, text, &remedy));
	assert_false(zone_coverage_is_short(&platform, (double)NAN, text, &remedy));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_low_coverage_is_reported_with_a_remedy),
		cmocka_unit_test(what_two_good_meters_differ_by_is_not),
	};

	return unit_run(tests);
}
