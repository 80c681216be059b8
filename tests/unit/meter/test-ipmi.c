// SPDX-License-Identifier: Apache-2.0
/* Power by the kernel's IPMI device: one request at a time, late answers, faults; injected time. */
#include "base/num.h"
#include "fake_bmc.h"
#include "meter/meter.h"
#include "tests/unit/unit.h"

static int setup(void **state)
{
	static char path[] = "/dev/ipmi-test";
	const struct meter_options options = { .ipmi.device = path, .ipmi.system = &fake_system };
	struct meter *meter;

	fake_reset();
	assert_int_equal(ipmi_meter.open(&options, &meter), 0);
	*state = meter;
	return 0;
}

static int teardown(void **state)
{
	ipmi_meter.close(*state);
	return 0;
}

static int read_power(struct meter *meter, uint64_t *ret_uw)
{
	struct raw_reading reading = { 0 };
	int r = ipmi_meter.read_raw(meter, 0, &reading);

	if (r == 0) {
		assert_int_equal(reading.kind, SAMPLE_POWER);
		assert_int_equal(reading.from_ns, 0);
		assert_int_equal(reading.to_ns, bmc.now_ns);
		*ret_uw = reading.value;
	}
	return r;
}

static void expect_power(struct meter *meter, unsigned watts)
{
	uint64_t uw;

	fake_power((uint16_t)watts);
	assert_int_equal(read_power(meter, &uw), 0);
	assert_int_equal(uw, watts * 1000000ULL);
}

static void expect_remark(struct meter *meter, const char *text, bool is_failure)
{
	struct meter_remark remark;

	assert_true(ipmi_meter.remark(meter, 0, &remark));
	assert_non_null(strstr(remark.what, text));
	assert_int_equal(remark.is_failure, is_failure);
	assert_false(ipmi_meter.remark(meter, 1, &remark));
}

static void a_zone_from_the_first_answer_on(void **state)
{
	struct meter *meter = *state;
	const struct zone *zone;
	struct meter_remark remark;
	uint64_t uw;

	assert_int_equal(ipmi_meter.zone_count(meter), 0);
	fake_power(411);
	assert_int_equal(ipmi_meter.rescan(meter), 0);
	assert_int_equal(ipmi_meter.zone_count(meter), 1);
	zone = ipmi_meter.zone_at(meter, 0);
	assert_int_equal(zone->kind, ZONE_PLATFORM);
	assert_int_equal(zone->quality, QUALITY_MEASURED);
	assert_true(RANK_SENSOR_POWER < zone->rank && zone->rank < RANK_REMOTE);
	assert_false(zone->is_remote);
	assert_string_equal(zone->path, "/dev/ipmi-test");
	assert_false(ipmi_meter.remark(meter, 0, &remark));
	/* The reading with which it was found is the first one. */
	assert_int_equal(read_power(meter, &uw), 0);
	assert_int_equal(uw, 411000000);
	assert_int_equal(bmc.sent, 1);
	expect_power(meter, 123);
	assert_int_equal(bmc.sent, 2);
	assert_int_equal(bmc.request[0], 0xDC);
	assert_int_equal(bmc.opened, 1);
}

static void a_second_between_two_requests(void **state)
{
	struct meter *meter = *state;

	expect_power(meter, 100);
	expect_power(meter, 101);
	bmc.now_ns += 7 * NSEC_PER_SEC;
	expect_power(meter, 102);
	assert_int_equal(bmc.sent_ns[1] - bmc.sent_ns[0], NSEC_PER_SEC);
	assert_int_equal(bmc.sent_ns[2] - bmc.sent_ns[1], 7 * NSEC_PER_SEC);
}

static void a_bmc_without_power_has_no_zone(void **state)
{
	struct meter *meter = *state;

	fake_completion(0xC1);
	assert_int_equal(ipmi_meter.rescan(meter), -EOPNOTSUPP);
	expect_remark(meter, "does not know the command", false);
	fake_power(0);
	assert_true(ipmi_meter.rescan(meter) < 0);
	expect_remark(meter, "0 W", false);
	fake_power(5);
	bmc.next.data[2] = bmc.next.data[18] = 0;
	assert_true(ipmi_meter.rescan(meter) < 0);
	expect_remark(meter, "not active", false);
	assert_int_equal(ipmi_meter.zone_count(meter), 0);
}

static void a_value_that_the_state_contradicts_counts_with_a_caveat(void **state)
{
	struct raw_reading reading = { 0 };
	struct meter *meter = *state;
	struct meter_remark remark;

	fake_power(360);
	bmc.next.data[18] = 0;
	assert_int_equal(ipmi_meter.rescan(meter), 0);
	assert_int_equal(ipmi_meter.read_raw(meter, 0, &reading), 0);
	assert_int_equal(reading.value, 360000000);
	assert_int_equal(reading.caveat, CAVEAT_INACTIVE);
	expect_remark(meter, "not active", false);
	assert_true(ipmi_meter.remark(meter, 0, &remark) && remark.is_caveat);
	/* The BMC has changed its mind. */
	fake_power(361);
	assert_int_equal(ipmi_meter.read_raw(meter, 0, &reading), 0);
	assert_int_equal(reading.caveat, CAVEAT_NONE);
	assert_false(ipmi_meter.remark(meter, 0, &remark));
}

static void a_busy_bmc_is_asked_again(void **state)
{
	struct meter *meter = *state;

	fake_completion(0xC0);
	assert_int_equal(ipmi_meter.rescan(meter), -EBUSY);
	assert_int_equal(bmc.sent, 3);
	expect_remark(meter, "busy", true);
	expect_power(meter, 200);
}

static void one_that_never_answers(void **state)
{
	struct meter *meter = *state;
	uint64_t uw, begun_ns = bmc.now_ns;

	bmc.next.len = 0;
	assert_int_equal(read_power(meter, &uw), -ETIMEDOUT);
	assert_int_equal(bmc.now_ns - begun_ns, 2 * NSEC_PER_SEC);
	expect_remark(meter, "not answered in 2 s", true);
	/* Nothing is sent meanwhile, and nothing waited for. */
	fake_power(300);
	bmc.now_ns += 5 * NSEC_PER_SEC;
	assert_int_equal(read_power(meter, &uw), -ETIMEDOUT);
	assert_int_equal(bmc.sent, 1);
	assert_int_equal(bmc.now_ns - begun_ns, 7 * NSEC_PER_SEC);
	/* A kernel that has forgotten it: on a new descriptor. */
	bmc.now_ns += 60 * NSEC_PER_SEC;
	expect_power(meter, 300);
	assert_int_equal(bmc.opened, 2);
}

static void a_late_answer_is_not_the_next(void **state)
{
	struct meter *meter = *state;
	uint64_t uw;

	fake_power(111);
	bmc.next.delay_ns = 3 * NSEC_PER_SEC;
	assert_int_equal(read_power(meter, &uw), -ETIMEDOUT);
	bmc.now_ns += 3 * NSEC_PER_SEC;
	expect_power(meter, 222);
	assert_int_equal(bmc.opened, 1);
}

static void messages_of_others_are_passed_over(void **state)
{
	struct meter *meter = *state;

	expect_power(meter, 1);
	bmc.queue[0] = (struct fake_answer){ .id = 99, .recv_type = IPMI_RESPONSE_RECV_TYPE };
	bmc.queue[1] = (struct fake_answer){ .id = 2, .recv_type = IPMI_ASYNC_EVENT_RECV_TYPE };
	bmc.queued = 2;
	expect_power(meter, 2);
}

static void invalid_answers_are_refused(void **state)
{
	struct meter *meter = *state;
	uint64_t uw;

	expect_power(meter, 1);
	bmc.next.len = 18;
	assert_int_equal(read_power(meter, &uw), -EBADMSG);
	bmc.next.len = 80; /* longer than there is room: its beginning */
	assert_int_equal(read_power(meter, &uw), 0);
	bmc.next.command = 0x33;
	assert_int_equal(read_power(meter, &uw), -EBADMSG);
	expect_remark(meter, "to another request", true);
	expect_power(meter, 2);
}

static void a_device_that_cannot_be_opened(void **state)
{
	struct meter *meter = *state;
	uint64_t uw;

	bmc.open_error = -EACCES;
	assert_int_equal(ipmi_meter.rescan(meter), -EACCES);
	expect_remark(meter, "kepler config needs", true);
	bmc.open_error = -ENOENT;
	assert_int_equal(read_power(meter, &uw), -ENODEV);
	expect_remark(meter, "ipmi_devintf", true);
	bmc.open_error = 0;
	expect_power(meter, 5);
}

static void a_driver_that_is_unloaded(void **state)
{
	struct meter *meter = *state;
	uint64_t uw;

	expect_power(meter, 5);
	bmc.send_error = -ENODEV;
	assert_int_equal(read_power(meter, &uw), -ENODEV);
	bmc.send_error = 0;
	expect_power(meter, 6);
	assert_int_equal(bmc.opened, 2);
}

static void the_end_waits_for_nothing(void **state)
{
	struct meter *meter = *state;
	uint64_t uw, begun_ns = bmc.now_ns;

	bmc.next.len = 0;
	bmc.is_cancelled = true;
	assert_int_equal(read_power(meter, &uw), -ECANCELED);
	assert_int_equal(bmc.now_ns, begun_ns);
}

/* A record of 64 bytes: linear, M is 8, of the BMC's own. */
static void fill(uint8_t *record, uint8_t type, uint8_t entity, uint8_t number, uint8_t unit,
		 const char *name)
{
	const uint8_t usual[] = { 0,    0,    0x51, type, 59, 0x20, 0, number, entity, 1,
				  0x7F, 0x68, 0x0B, 1,    0,  0,    0, 0,      0,      0,
				  0,    unit, 0,    0,    8,  0,    0, 0,      0,      0 };

	memset(record, 0, 64);
	memcpy(record, usual, sizeof(usual));
	record[47] = (uint8_t)(0xC0 | strlen(name));
	memcpy(record + 48, name, strlen(name));
}

/* The first search, which a start waits for, looks through no sensors. */
static void refuse_dcmi(struct meter *meter)
{
	fake_completion(0xC1);
	assert_int_equal(ipmi_meter.rescan(meter), -EOPNOTSUPP);
	assert_int_equal(bmc.asked, 0);
}

static void power_supplies_where_dcmi_is_refused(void **state)
{
	struct meter *meter = *state;
	uint8_t records[5][64];
	uint64_t uw;

	fill(records[0], 0x12, 0, 0, 0, "BMC");
	fill(records[1], 0x01, 3, 1, 1, "CPU Temp");
	fill(records[2], 0x01, 10, 2, 6, "PS1 Input Power");
	fill(records[3], 0x01, 10, 3, 6, "PS1 Output Power");
	fill(records[4], 0x01, 10, 4, 6, "PS2 Input Power");
	bmc.records = (const uint8_t(*)[64])records;
	bmc.record_count = 5;
	bmc.reading[2] = 20;
	bmc.reading[4] = 30;
	bmc.state = 0xC0;
	refuse_dcmi(meter);
	assert_int_equal(ipmi_meter.rescan(meter), 0);
	assert_int_equal(ipmi_meter.zone_count(meter), 1);
	assert_int_equal(read_power(meter, &uw), 0);
	assert_int_equal(uw, (20 + 30) * 8 * 1000000ULL);
	bmc.state = 0xE0; /* one is not available: no sum */
	assert_int_equal(read_power(meter, &uw), -ENODATA);
	expect_remark(meter, "sensor 2 has no reading now", true);
	bmc.state = 0xC0;
	bmc.reading[2] = bmc.reading[4] = 0;
	assert_int_equal(read_power(meter, &uw), -ENODATA);
	assert_true(bmc.now_ns >= bmc.asked * NSEC_PER_SEC);
}

/* A machine of three supplies; the states of two are reported. */
static void supplies_that_take_no_power(void **state)
{
	struct meter *meter = *state;
	uint8_t records[5][64];
	uint64_t uw;

	for (uint8_t i = 0; i < 3; i++) {
		fill(records[i], 0x01, 10, (uint8_t)(1 + i), 6, "PS Input Power");
		records[i][9] = (uint8_t)(1 + i);
		bmc.reading[1 + i] = 10;
	}
	for (uint8_t i = 0; i < 2; i++) {
		fill(records[3 + i], 0x02, 10, (uint8_t)(11 + i), 0, "PS Status");
		records[3 + i][4] = 27;
		records[3 + i][9] = (uint8_t)(1 + i);
		records[3 + i][12] = 0x08;
		records[3 + i][13] = 0x6F;
	}
	bmc.records = (const uint8_t(*)[64])records;
	bmc.record_count = 5;
	bmc.state = 0xC0;
	bmc.states[11] = bmc.states[12] = 0x01;
	refuse_dcmi(meter);
	assert_int_equal(ipmi_meter.rescan(meter), 0);
	assert_int_equal(read_power(meter, &uw), 0);
	assert_int_equal(uw, 3 * 80 * 1000000ULL);
	bmc.is_silent[2] = true; /* present, so a sum without it would be too little */
	assert_int_equal(read_power(meter, &uw), -ENODATA);
	expect_remark(meter, "sensor 2 has no reading now", true);
	bmc.states[12] = 0; /* its bay is empty */
	assert_int_equal(read_power(meter, &uw), 0);
	assert_int_equal(uw, 2 * 80 * 1000000ULL);
	bmc.states[11] = 0; /* no supply is reported to be present: the states are not used */
	assert_int_equal(read_power(meter, &uw), -ENODATA);
	bmc.states[12] = 0x09; /* its input is lost */
	assert_int_equal(read_power(meter, &uw), 0);
	assert_int_equal(uw, 2 * 80 * 1000000ULL);
	bmc.is_silent[12] = true; /* and its state is not known */
	assert_int_equal(read_power(meter, &uw), -ENODATA);
	bmc.is_silent[2] = bmc.is_silent[12] = false;
	bmc.is_silent[3] = true; /* a supply whose state no sensor reports */
	assert_int_equal(read_power(meter, &uw), -ENODATA);
}

static void the_machines_sensor_is_preferred_to_its_supplies(void **state)
{
	struct meter *meter = *state;
	uint8_t records[3][64];
	uint64_t uw;

	fill(records[0], 0x01, 10, 2, 6, "PS1 Input Power");
	fill(records[1], 0x01, 7, 9, 6, "Pwr Consumption");
	fill(records[2], 0x01, 7, 5, 6, "Total_Power");
	bmc.records = (const uint8_t(*)[64])records;
	bmc.record_count = 3;
	bmc.reading[2] = 10;
	bmc.reading[9] = 42;
	bmc.state = 0xC0;
	refuse_dcmi(meter);
	assert_int_equal(ipmi_meter.rescan(meter), 0);
	assert_int_equal(read_power(meter, &uw), 0);
	assert_int_equal(uw, 42 * 8 * 1000000ULL);
}

static void sensors_are_not_looked_through_again_at_once(void **state)
{
	struct meter *meter = *state;
	uint8_t records[1][64];
	size_t asked;

	fill(records[0], 0x01, 3, 1, 1, "CPU Temp");
	bmc.records = (const uint8_t(*)[64])records;
	bmc.record_count = 1;
	refuse_dcmi(meter);
	assert_int_equal(ipmi_meter.rescan(meter), -EOPNOTSUPP);
	expect_remark(meter, "no sensor for the machine's power", false);
	asked = bmc.asked;
	assert_int_equal(ipmi_meter.rescan(meter), -EOPNOTSUPP);
	assert_int_equal(bmc.asked, asked);
	bmc.now_ns += 3601 * NSEC_PER_SEC;
	assert_int_equal(ipmi_meter.rescan(meter), -EOPNOTSUPP);
	assert_true(bmc.asked > asked);
}

static void only_where_the_device_is(void **state)
{
	char there[] = "/dev/null", nowhere[] = "/dev/ipmi-test", none[] = "";

	assert_true(ipmi_meter.is_wanted(&(struct meter_options){ .ipmi.device = there }));
	assert_false(ipmi_meter.is_wanted(&(struct meter_options){ .ipmi.device = nowhere }));
	assert_false(ipmi_meter.is_wanted(&(struct meter_options){ .ipmi.device = none }));
	assert_false(ipmi_meter.is_wanted(&(struct meter_options){ 0 }));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_zone_from_the_first_answer_on),
		TEST(a_second_between_two_requests),
		TEST(a_bmc_without_power_has_no_zone),
		TEST(a_value_that_the_state_contradicts_counts_with_a_caveat),
		TEST(a_busy_bmc_is_asked_again),
		TEST(one_that_never_answers),
		TEST(a_late_answer_is_not_the_next),
		TEST(messages_of_others_are_passed_over),
		TEST(invalid_answers_are_refused),
		TEST(a_device_that_cannot_be_opened),
		TEST(a_driver_that_is_unloaded),
		TEST(the_end_waits_for_nothing),
		TEST(power_supplies_where_dcmi_is_refused),
		TEST(supplies_that_take_no_power),
		TEST(the_machines_sensor_is_preferred_to_its_supplies),
		TEST(sensors_are_not_looked_through_again_at_once),
		cmocka_unit_test(only_where_the_device_is),
	};

	return unit_run(tests);
}
