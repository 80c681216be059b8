// SPDX-License-Identifier: Apache-2.0
/* The sum of power supplies while they come, go, lose their mains and fail to answer. */
#include "bmc/redfish_supplies.h"

#include "fake_redfish.h"

#define SUPPLIES "/Chassis/1/PowerSubsystem/PowerSupplies"

static struct redfish_supplies supplies;

static int setup(void **state)
{
	fake_reset();
	memset(&supplies, 0, sizeof(supplies));
	redfish_path_take(V1 SUPPLIES, &supplies.collection);
	fake_set(SUPPLIES, "{\"Members\":[" LINK(SUPPLIES "/0") "," LINK(SUPPLIES "/1") "]}");
	return 0;
}

static int teardown(void **state)
{
	fake_reset();
	return 0;
}

/* @input, @output: as JSON; NULL: there are no metrics. */
static void set_supply(const char *id, const char *status, const char *input, const char *output)
{
	char path[128], text[256];

	(void)snprintf(path, sizeof(path), SUPPLIES "/%s", id);
	(void)snprintf(text, sizeof(text),
		       "{\"Status\":{\"State\":\"%s\"},\"Metrics\":{\"@odata.id\":\"" V1 SUPPLIES
		       "/%s/Metrics\"}}",
		       status, id);
	fake_set(path, text);
	(void)snprintf(path, sizeof(path), SUPPLIES "/%s/Metrics", id);
	(void)snprintf(
		text, sizeof(text),
		"{\"InputPowerWatts\":{\"Reading\":%s},\"OutputPowerWatts\":{\"Reading\":%s}}",
		input ? input : "null", output ? output : "null");
	fake_set(path, input ? text : NULL);
}

static void expect(unsigned watts, bool is_output)
{
	struct redfish_reading reading = { 0 };
	struct diag diag = { "" };

	fake.requests = 0;
	assert_int_equal(redfish_supplies_read(NULL, &supplies, &reading, &diag), 0);
	assert_int_equal(reading.has_power, watts > 0);
	assert_int_equal(reading.power_uw, watts * WATT);
	assert_int_equal(reading.is_output, is_output);
}

static void expect_failure(int want, const char *words)
{
	struct redfish_reading reading = { 0 };
	struct diag diag = { "" };

	assert_int_equal(redfish_supplies_read(NULL, &supplies, &reading, &diag), want);
	assert_non_null(strstr(diag.text, words));
}

static void an_empty_bay_is_filled(void **state)
{
	set_supply("0", "Enabled", "150", "140");
	set_supply("1", "Absent", NULL, NULL);
	expect(150, false);
	expect(150, false);
	assert_int_equal(fake.requests, 3); /* the list, its values, the state of the bay */
	set_supply("1", "Enabled", "120", "110");
	expect(270, false);
	expect(270, false);
	assert_int_equal(fake.requests, 3);
	set_supply("1", "Absent", NULL, NULL);
	expect(150, false);
}

static void a_supply_comes_into_the_list(void **state)
{
	fake_set(SUPPLIES, "{\"Members\":[" LINK(SUPPLIES "/0") "]}");
	set_supply("0", "Enabled", "150", "140");
	set_supply("1", "Enabled", "120", "110");
	expect(150, false);
	fake_set(SUPPLIES, "{\"Members\":[" LINK(SUPPLIES "/1") "," LINK(SUPPLIES "/0") "]}");
	expect(270, false);
	fake_set(SUPPLIES, "{\"Members\":[" LINK(SUPPLIES "/1") "]}");
	expect(120, false);
}

static void metrics_come_later(void **state)
{
	set_supply("0", "Enabled", "150", "140");
	fake_set(SUPPLIES "/1", "{\"Status\":{\"State\":\"Enabled\"}}");
	expect(0, false);
	set_supply("1", "Enabled", "120", "110");
	expect(270, false);
}

static void output_counts_without_an_input(void **state)
{
	set_supply("0", "Enabled", "null", "140");
	set_supply("1", "Enabled", "null", "110");
	expect(250, true);
	set_supply("1", "UnavailableOffline", "null", "null");
	expect(140, true);
	set_supply("1", "Enabled", "0", "110"); /* gives what it does not take */
	expect(250, true);
	/* Never one of each: neither is the machine's. */
	set_supply("1", "Enabled", "120", "110");
	expect(0, false);
	set_supply("0", "Enabled", "150", "140");
	expect(270, false);
	set_supply("0", "Enabled", "null", "null");
	set_supply("1", "Enabled", "null", "110");
	expect(0, false);
}

static void an_unreadable_supply_makes_no_sum(void **state)
{
	set_supply("0", "Enabled", "150", "140");
	set_supply("1", "Enabled", "120", "110");
	fake_fail(SUPPLIES "/1", -EPROTO);
	expect_failure(-EPROTO, "cannot answer");
	set_supply("1", "Enabled", "120", "110");
	expect(270, false);
	fake_fail(SUPPLIES "/1/Metrics", -EPROTO);
	expect_failure(-EPROTO, "cannot answer");
}

static void an_incomplete_list_makes_no_sum(void **state)
{
	char text[2048] = "{\"Members\":[";

	set_supply("0", "Enabled", "150", "140");
	set_supply("1", "Enabled", "120", "110");
	fake_set(SUPPLIES, "{\"Members\":[" LINK(SUPPLIES "/0") "],\"Members@odata.nextLink\":"
								"\"" V1 SUPPLIES "?$skip=1\"}");
	expect_failure(-ENODATA, "a page of it cannot be read");
	fake_set(SUPPLIES "?$skip=1", "{\"Members\":[" LINK(SUPPLIES "/1") "]}");
	expect(270, false);
	for (size_t i = 0; i <= REDFISH_SUPPLIES_MAX; i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
			       "%s{\"@odata.id\":\"" V1 SUPPLIES "/%zu\"}", i ? "," : "", i);
	(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "]}");
	fake_set(SUPPLIES, text);
	expect_failure(-ENODATA, "17 power supplies");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_empty_bay_is_filled),
		TEST(a_supply_comes_into_the_list),
		TEST(metrics_come_later),
		TEST(output_counts_without_an_input),
		TEST(an_unreadable_supply_makes_no_sum),
		TEST(an_incomplete_list_makes_no_sum),
	};

	return unit_run(tests);
}
