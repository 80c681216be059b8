// SPDX-License-Identifier: Apache-2.0
/* Where the power of a machine is: which machine, which chassis, and which of several values. */
#include "bmc/redfish_power.h"

#include "fake_redfish.h"

#define SUPPLIES  "/Chassis/1/PowerSubsystem/PowerSupplies"
#define SYSTEM(n) "\"Links\":{\"ComputerSystems\":[" LINK("/Systems/" n) "]}"
#define POWER(n)  "\"Power\":" LINK("/Chassis/" n "/Power")

static int setup(void **state)
{
	(void)state;
	fake_reset();
	fake_set("", "{\"Systems\":" LINK("/Systems") ",\"Chassis\":" LINK("/Chassis") "}");
	fake_set("/Systems", "{\"Members\":[" LINK("/Systems/1") "]}");
	fake_set("/Chassis", "{\"Members\":[" LINK("/Chassis/1") "]}");
	fake_set("/Chassis/1", "{" SYSTEM("1") "," POWER("1") "}");
	fake_set("/Chassis/1/Power", "{\"PowerControl\":[{\"PowerConsumedWatts\":200}]}");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_reset();
	return 0;
}

static struct redfish_power find(const char *system, int want, const char *words)
{
	struct redfish_power power;
	struct diag diag = { "" };

	fake.requests = 0;
	assert_int_equal(redfish_power_find(NULL, system, &power, &diag), want);
	if (!strstr(diag.text, words))
		fail_msg("%s", diag.text);
	return power;
}

static struct redfish_reading expect(unsigned watts)
{
	struct redfish_power power = find("", 0, "");
	struct redfish_reading reading = { 0 };
	struct diag diag = { "" };

	assert_int_equal(redfish_power_read(NULL, &power, &reading, &diag), 0);
	assert_int_equal(reading.power_uw, watts * WATT);
	assert_int_equal(power.is_provisional, reading.is_output);
	return reading;
}

static void add_supplies(const char *values)
{
	fake_set("/Chassis/1", "{" SYSTEM("1") "," POWER("1") ",\"PowerSubsystem\":" LINK(
				       "/Chassis/1/PowerSubsystem") "}");
	fake_set("/Chassis/1/PowerSubsystem", "{\"PowerSupplies\":" LINK(SUPPLIES) "}");
	fake_set(SUPPLIES, "{\"Members\":[" LINK(SUPPLIES "/0") "]}");
	fake_set(SUPPLIES "/0", "{\"Status\":{\"State\":\"Enabled\"},"
				"\"Metrics\":" LINK(SUPPLIES "/0/Metrics") "}");
	fake_set(SUPPLIES "/0/Metrics", values);
}

static void output_comes_after_all_else(void **state)
{
	(void)state;
	add_supplies("{\"OutputPowerWatts\":{\"Reading\":180}}");
	assert_false(expect(200).is_output);
	fake_set("/Chassis/1/Power", "{\"PowerControl\":[{\"PowerConsumedWatts\":null}]}");
	assert_true(expect(180).is_output);
	add_supplies(
		"{\"InputPowerWatts\":{\"Reading\":195},\"OutputPowerWatts\":{\"Reading\":180}}");
	assert_false(expect(195).is_output);
	/* So it does where another chassis of the machine has the input power. */
	add_supplies("{\"OutputPowerWatts\":{\"Reading\":180}}");
	fake_set("/Chassis", "{\"Members\":[" LINK("/Chassis/1") "," LINK("/Chassis/2") "]}");
	fake_set("/Chassis/2", "{" SYSTEM("1") "," POWER("2") "}");
	fake_set("/Chassis/2/Power", "{\"PowerControl\":[{\"PowerConsumedWatts\":201}]}");
	assert_false(expect(201).is_output);
}

static void output_of_the_older_schema(void **state)
{
	(void)state;
	fake_set("/Chassis/1/Power",
		 "{\"PowerSupplies\":[{\"LastPowerOutputWatts\":90},{\"PowerOutputWatts\":80,"
		 "\"LastPowerOutputWatts\":85}]}");
	assert_true(expect(170).is_output);
	fake_set("/Chassis/1/Power",
		 "{\"PowerSupplies\":[{\"LastPowerOutputWatts\":90},{\"PowerInputWatts\":80}]}");
	(void)find("", -ENODATA, "no power of this machine");
}

static void a_place_with_output_becomes_one_with_input(void **state)
{
	struct redfish_reading reading;
	struct redfish_power power;
	struct diag diag = { "" };

	(void)state;
	fake_set("/Chassis/1/Power", "{\"PowerSupplies\":[{\"LastPowerOutputWatts\":90}]}");
	power = find("", 0, "");
	fake_set("/Chassis/1/Power",
		 "{\"PowerSupplies\":[{\"PowerInputWatts\":99,\"LastPowerOutputWatts\":90}]}");
	assert_int_equal(redfish_power_read(NULL, &power, &reading, &diag), 0);
	assert_int_equal(reading.power_uw, 99 * WATT);
	assert_false(reading.is_output);
	/* A place with input never turns into one with output: that would be a step downwards. */
	power = find("", 0, "");
	fake_set("/Chassis/1/Power", "{\"PowerSupplies\":[{\"LastPowerOutputWatts\":90}]}");
	assert_int_equal(redfish_power_read(NULL, &power, &reading, &diag), -ENODATA);
}

static void what_cannot_be_read_may_be_the_machine(void **state)
{
	(void)state;
	/* The first page has a chassis without links; the second one, with those, fails. */
	fake_set("/Chassis",
		 "{\"Members\":[" LINK("/Chassis/2") "],\"Members@odata.nextLink\":\"" V1
						     "/Chassis?$skip=1\"}");
	fake_set("/Chassis/2", "{" POWER("2") "}");
	fake_set("/Chassis/2/Power", "{\"PowerControl\":[{\"PowerConsumedWatts\":12}]}");
	(void)find("", -ENODATA, "1 not read: a page of it cannot be read");
	fake_set("/Chassis?$skip=1", "{\"Members\":[" LINK("/Chassis/1") "]}");
	(void)expect(200);
	fake_fail("/Chassis/1", -EPROTO);
	(void)find("", -ENODATA, "1 not read: one cannot be read");
	/* One that is its alone may be taken, and is looked for again. */
	fake_set("/Chassis/2", "{" SYSTEM("1") "," POWER("2") "}");
	assert_true(find("", 0, "").is_provisional);
	/* One that is listed and does not exist is not missing. */
	fake_set("/Chassis/1", NULL);
	assert_false(find("", 0, "").is_provisional);
}

static void the_only_machine_is_known_to_be_the_only_one(void **state)
{
	(void)state;
	fake_set("/Systems",
		 "{\"Members\":[" LINK("/Systems/1") "],\"Members@odata.nextLink\":\""
						     "https://other.example" V1 "/Systems\"}");
	(void)find("", -EXDEV, "not complete: its next page is at another address");
	assert_int_equal(find("1", 0, "").method, REDFISH_POWER_CONTROL);
}

static void a_service_without_systems(void **state)
{
	(void)state;
	/* The chassis say which machine there is. */
	fake_set("/Systems", "{\"Members\":[]}");
	(void)expect(200);
	assert_int_equal(find("1", 0, "").method, REDFISH_POWER_CONTROL);
	(void)find("2", -EXDEV, "the machines \"1\"");
	fake_set("", "{\"Chassis\":" LINK("/Chassis") "}");
	(void)expect(200);
	/* They do not, and there is one that may be it. */
	fake_set("/Chassis/1", "{" POWER("1") "}");
	(void)expect(200);
	fake_set("/Chassis", "{\"Members\":[" LINK("/Chassis/2") "," LINK("/Chassis/1") "]}");
	fake_set("/Chassis/2", "{\"ChassisType\":\"Module\"," POWER("2") "}");
	fake_set("/Chassis/2/Power", "{\"PowerControl\":[{\"PowerConsumedWatts\":12}]}");
	(void)expect(200);
	/* There are several, as the slots of an enclosure: any of them would be a guess. */
	fake_set("/Chassis/2", "{" POWER("2") "}");
	(void)find("", -EXDEV, "names no machine and has several chassis");
	/* A module alone is not a machine. */
	fake_set("/Chassis", "{\"Members\":[" LINK("/Chassis/2") "]}");
	fake_set("/Chassis/2", "{\"ChassisType\":\"Module\"," POWER("2") "}");
	(void)find("", -ENODATA, "no power of this machine");
	/* Their links are to two. */
	fake_set("/Chassis", "{\"Members\":[" LINK("/Chassis/2") "," LINK("/Chassis/1") "]}");
	fake_set("/Chassis/1", "{" SYSTEM("1") "," POWER("1") "}");
	fake_set("/Chassis/2", "{" SYSTEM("2") "," POWER("2") "}");
	(void)find("", -EXDEV, "name this one");
	assert_string_equal(find("2", 0, "").path.text, V1 "/Chassis/2/Power");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(output_comes_after_all_else),
		TEST(output_of_the_older_schema),
		TEST(a_place_with_output_becomes_one_with_input),
		TEST(what_cannot_be_read_may_be_the_machine),
		TEST(the_only_machine_is_known_to_be_the_only_one),
		TEST(a_service_without_systems),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
