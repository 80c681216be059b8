// SPDX-License-Identifier: Apache-2.0
#include "truth/meters/redfish_answer.h"

#include "tests/unit/unit.h"

/* Below 0: none. */
static double watts(const char *text)
{
	json_t *object = truth_redfish_parse(text, strlen(text));
	double power = -1;

	assert_non_null(object);
	(void)truth_redfish_watts(object, &power);
	json_decref(object);
	return power;
}

static void powers_of_all_schemas(void **state)
{
	assert_float_equal(watts("{\"PowerWatts\":{\"Reading\":250}}"), 250, 0);
	assert_float_equal(watts("{\"PowerControl\":[{\"PowerConsumedWatts\":251.5}]}"), 251.5, 0);
	assert_float_equal(watts("{\"InputPowerWatts\":{\"Reading\":99}}"), 99, 0);
	assert_float_equal(watts("{\"ReadingUnits\":\"W\",\"Reading\":7}"), 7, 0);
}

static void an_answer_without_power_is_refused(void **state)
{
	assert_true(watts("{\"PowerWatts\":{\"Reading\":null}}") < 0);
	assert_true(watts("{\"PowerWatts\":{\"Reading\":0}}") < 0);
	assert_true(watts("{\"PowerWatts\":{\"Reading\":\"250\"}}") < 0);
	assert_true(watts("{\"PowerWatts\":{\"Reading\":1e300}}") < 0);
	assert_true(watts("{\"ReadingUnits\":\"Cel\",\"Reading\":7}") < 0);
	assert_true(watts("{\"PowerControl\":{}}") < 0);
	assert_null(truth_redfish_parse("[1]", 3));
	assert_null(truth_redfish_parse("{", 1));
}

/* A link leads to no other host, and to no other request. */
static void links_are_paths(void **state)
{
	static const char text[] =
		"{\"Members\":[{\"@odata.id\":\"/redfish/v1/Chassis/1/\"},"
		"{\"@odata.id\":\"https://other/\"},{\"@odata.id\":\"//other/x\"},"
		"{\"@odata.id\":\"/a b\"},{\"@odata.id\":\"/a\\r\\nb\"},{}]}";
	struct truth_link links[REDFISH_MEMBERS_MAX];
	json_t *object = truth_redfish_parse(text, sizeof(text) - 1);

	assert_non_null(object);
	assert_int_equal(truth_redfish_members(object, links), 1);
	assert_string_equal(links[0].path, "/redfish/v1/Chassis/1/");
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(powers_of_all_schemas),
		cmocka_unit_test(an_answer_without_power_is_refused),
		cmocka_unit_test(links_are_paths),
	};
	return unit_run(tests);
}
