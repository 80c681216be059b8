// SPDX-License-Identifier: Apache-2.0
/* When the meter looks for another place of a machine's power; with a client that is a fake. */
#include "../bmc/fake_redfish.h"

#include <unistd.h>

#include "base/macro.h"
#include "meter/meter.h"

#define READINGS 360 /* from a place with a caveat to the next search */

struct redfish_client {
	char unused;
};

int redfish_client_new(const struct redfish_client_options *options, struct redfish_client **ret,
		       struct diag *diag)
{
	(void)options;
	(void)diag;
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void redfish_client_free(struct redfish_client *client)
{
	free(client);
}

int redfish_client_set_target(struct redfish_client *client, const char *url, const char *user,
			      const char *password)
{
	(void)client;
	(void)url;
	(void)user;
	(void)password;
	return 0;
}

uint64_t redfish_client_retry_after_ns(const struct redfish_client *client)
{
	(void)client;
	return 0;
}

void redfish_client_end(struct redfish_client *client, uint64_t timeout_ms)
{
	(void)client;
	(void)timeout_ms;
}

static char credentials[] = "/tmp/kepler-redfish-XXXXXX";

static int setup(void **state)
{
	static char url[] = FAKE_ORIGIN;
	const struct meter_options options = { .redfish.url = url,
					       .redfish.credentials = credentials };
	struct meter *meter;

	fake_reset();
	fake_set("", "{\"Systems\":" LINK("/Systems") ",\"Chassis\":" LINK("/Chassis") "}");
	fake_set("/Systems", "{\"Members\":[" LINK("/Systems/1") "]}");
	fake_set("/Chassis", "{\"Members\":[" LINK("/Chassis/1") "]}");
	fake_set("/Chassis/1", "{\"Links\":{\"ComputerSystems\":[" LINK(
				       "/Systems/1") "]},\"Power\":" LINK("/Chassis/1/Power") "}");
	assert_int_equal(redfish_meter.open(&options, &meter), 0);
	*state = meter;
	return 0;
}

static int teardown(void **state)
{
	redfish_meter.close(*state);
	fake_reset();
	return 0;
}

static struct raw_reading expect(struct meter *meter, unsigned watts, enum zone_caveat caveat)
{
	struct raw_reading reading = { 0 };
	struct meter_remark remark;

	fake.requests = 0;
	assert_int_equal(redfish_meter.read_raw(meter, 0, &reading), 0);
	assert_int_equal(reading.kind, SAMPLE_POWER);
	assert_int_equal(reading.value, watts * WATT);
	assert_int_equal(reading.caveat, caveat);
	assert_int_equal(redfish_meter.remark(meter, 0, &remark) && remark.is_caveat,
			 caveat != CAVEAT_NONE);
	return reading;
}

static void set_output(void)
{
	fake_set("/Chassis/1/Power", "{\"PowerSupplies\":[{\"PowerOutputWatts\":180}]}");
}

static void set_both(void)
{
	fake_set("/Chassis/1/Power", "{\"PowerSupplies\":[{\"PowerOutputWatts\":180}],"
				     "\"PowerControl\":[{\"PowerConsumedWatts\":200}]}");
}

static void a_better_value_is_looked_for_now_and_then(void **state)
{
	struct meter *meter = *state;
	struct raw_reading first, last;

	set_output();
	first = expect(meter, 180, CAVEAT_OUTPUT);
	set_both();
	for (unsigned i = 1; i < READINGS; i++) {
		(void)expect(meter, 180, CAVEAT_OUTPUT);
		assert_int_equal(fake.requests, 1);
	}
	last = expect(meter, 200, CAVEAT_NONE);
	assert_true(first.generation != last.generation); /* another meter */
	for (unsigned i = 0; i < 2 * READINGS; i++) {
		(void)expect(meter, 200, CAVEAT_NONE);
		assert_int_equal(fake.requests, 1);
	}
}

static void the_same_place_is_the_same_meter(void **state)
{
	struct meter *meter = *state;
	struct raw_reading first;

	set_output();
	first = expect(meter, 180, CAVEAT_OUTPUT);
	for (unsigned i = 0; i < 2 * READINGS; i++)
		assert_int_equal(expect(meter, 180, CAVEAT_OUTPUT).generation, first.generation);
}

static void a_search_that_fails_costs_no_value(void **state)
{
	struct meter *meter = *state;

	set_output();
	(void)expect(meter, 180, CAVEAT_OUTPUT);
	fake_fail("/Chassis", -EPROTO);
	for (unsigned i = 0; i < 2 * READINGS; i++)
		(void)expect(meter, 180, CAVEAT_OUTPUT);
}

static void another_place_is_looked_for_after_three_misses(void **state)
{
	struct meter *meter = *state;
	struct raw_reading reading;

	set_output();
	(void)expect(meter, 180, CAVEAT_OUTPUT);
	fake_set("/Chassis/1/Power", "{\"PowerControl\":[{\"PowerConsumedWatts\":200}]}");
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(redfish_meter.read_raw(meter, 0, &reading), -ENODATA);
	(void)expect(meter, 200, CAVEAT_NONE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const char line[] = "kepler,secret\n";
	const struct CMUnitTest tests[] = {
		TEST(a_better_value_is_looked_for_now_and_then),
		TEST(the_same_place_is_the_same_meter),
		TEST(a_search_that_fails_costs_no_value),
		TEST(another_place_is_looked_for_after_three_misses),
	};
	int fd = mkstemp(credentials), r;

	if (fd < 0 || write(fd, line, sizeof(line) - 1) < 0 || close(fd) < 0)
		return 1;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	(void)unlink(credentials);
	return r;
}
