// SPDX-License-Identifier: Apache-2.0
/* A sensor's record describes its readings: factors, signs, units, names. */
#include "bmc/ipmi_sdr.h"

#include "tests/unit/unit.h"

static void fill(uint8_t record[static SDR_SIZE], uint8_t entity, const char *name)
{
	static const uint8_t usual[] = { 0x05, 0,    0x51, 0x01, 59, 0x20, 0, 0x77, 0, 1,
					 0x7F, 0x68, 0x0B, 1,    0,  0,    0, 0,    0, 0,
					 0,    6,    0,    0,    8,  0,    0, 0,    0, 0 };

	memset(record, 0, SDR_SIZE);
	memcpy(record, usual, sizeof(usual));
	record[8] = entity;
	record[47] = (uint8_t)(0xC0 | strlen(name));
	memcpy(record + SDR_NAME_AT, name, strlen(name));
}

static void names_and_entities(void **state)
{
	static const struct {
		uint8_t entity;
		const char *name;
		enum sdr_role role;
	} table[] = {
		{ 7, "Pwr Consumption", SDR_MACHINE }, { 7, "Sys Power", SDR_MACHINE },
		{ 7, "System Level", SDR_MACHINE },    { 7, "CPU Total Power", SDR_OTHER },
		{ 7, "Total GPU Power", SDR_OTHER },   { 29, "Sys Power", SDR_OTHER },
		{ 7, "Sys Fan Pwr", SDR_OTHER },       { 9, "Total Power", SDR_OTHER },
		{ 19, "Power Meter", SDR_MACHINE },    { 7, "total_power", SDR_MACHINE },
		{ 7, "PCH Power", SDR_OTHER },         { 3, "CPU total power", SDR_OTHER },
		{ 10, "PS1 Input Power", SDR_SUPPLY }, { 10, "PSU2_PIN", SDR_SUPPLY },
		{ 10, "PSU1 Pout", SDR_OTHER },        { 10, "PSU1 Total Power", SDR_OTHER },
		{ 32, "Total Power", SDR_OTHER },      { 7, "", SDR_OTHER },
		{ 7, "MEM Total Power", SDR_OTHER },   { 7, "Total Power Pump", SDR_OTHER },
		{ 7, "Total Pwr_MEM", SDR_OTHER },     { 7, "System Power Emb", SDR_MACHINE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		uint8_t record[SDR_SIZE];
		struct sdr_sensor sensor;

		fill(record, table[i].entity, table[i].name);
		assert_int_equal(sdr_read(record, sizeof(record), &sensor), table[i].role);
		assert_int_equal(sensor.number, 0x77);
	}
}

static void records_without_a_power_sensor_are_skipped(void **state)
{
	static const struct {
		uint8_t at, value;
	} table[] = { { 3, 2 },     { 5, 0x2C },  { 6, 1 },  { 20, 0xC0 },
		      { 20, 0x01 }, { 20, 0x08 }, { 21, 1 }, { 23, 0x70 } };
	uint8_t record[SDR_SIZE];
	struct sdr_sensor sensor;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		fill(record, 7, "Sys Power");
		record[table[i].at] = table[i].value;
		assert_int_equal(sdr_read(record, sizeof(record), &sensor), SDR_OTHER);
	}
	fill(record, 7, "Sys Power");
	assert_int_equal(sdr_read(record, SDR_NAME_AT - 1, &sensor), SDR_OTHER);
	assert_int_equal(sdr_read(record, SDR_NAME_AT, &sensor), SDR_OTHER); /* no name */
}

static uint64_t read_uw(const uint8_t factors[static 6], uint8_t format, uint8_t raw, int want)
{
	struct ipmi_answer answer = { 3, { 0, raw, 0xC0 } };
	uint8_t record[SDR_SIZE];
	struct sdr_sensor sensor;
	uint64_t uw = 0;

	fill(record, 7, "Sys Power");
	record[20] = format;
	memcpy(record + 24, factors, 6);
	assert_int_equal(sdr_read(record, sizeof(record), &sensor), SDR_MACHINE);
	assert_int_equal(sdr_reading_parse(&answer, &sensor, &uw, NULL), want);
	return uw;
}

static void factors_of_a_reading(void **state)
{
	static const uint8_t by_8[] = { 8, 0, 0, 0, 0, 0 };
	static const uint8_t tenths[] = { 25, 0, 0, 0, 0, 0xF0 };     /* 2.5 x */
	static const uint8_t offset[] = { 2, 0, 5, 0, 0, 0x02 };      /* 2 x + 500 */
	static const uint8_t wide[] = { 0x2C, 0x40, 0, 0, 0, 0 };     /* M 300 */
	static const uint8_t minus[] = { 0xFF, 0xC0, 0x64, 0, 0, 0 }; /* -x + 100 */
	static const uint8_t below[] = { 1, 0, 0xF6, 0xC0, 0, 0x00 }; /* x - 10 */

	assert_int_equal(read_uw(by_8, 0, 50, 0), 400000000);
	assert_int_equal(read_uw(tenths, 0, 101, 0), 252500000);
	assert_int_equal(read_uw(offset, 0, 10, 0), 520000000);
	assert_int_equal(read_uw(wide, 0, 2, 0), 600000000);
	assert_int_equal(read_uw(minus, 0, 40, 0), 60000000);
	assert_int_equal(read_uw(below, 0, 40, 0), 30000000);
	assert_int_equal(read_uw(below, 0, 4, -ENODATA), 0);
	assert_int_equal(read_uw(minus, 0x80, 0xF6, 0), 110000000); /* -10, two's complement */
	assert_int_equal(read_uw(minus, 0x40, 0xF5, 0), 110000000); /* -10, one's */
}

static void invalid_readings_are_refused(void **state)
{
	const struct sdr_sensor sensor = { .number = 9, .m = 1 };
	struct ipmi_answer answer = { 3, { 0, 50, 0xC0 } };
	uint64_t uw;

	assert_int_equal(sdr_reading_parse(&answer, &sensor, &uw, NULL), 0);
	answer.data[2] = 0x80; /* not scanned */
	assert_int_equal(sdr_reading_parse(&answer, &sensor, &uw, NULL), -ENODATA);
	answer.data[2] = 0xE0; /* unavailable */
	assert_int_equal(sdr_reading_parse(&answer, &sensor, &uw, NULL), -ENODATA);
	answer.len = 2;
	assert_int_equal(sdr_reading_parse(&answer, &sensor, &uw, NULL), -EBADMSG);
	answer.data[0] = 0xCB;
	assert_int_equal(sdr_reading_parse(&answer, &sensor, &uw, NULL), -ENODATA);
}

static void states_of_a_supply(void **state)
{
	static const uint8_t fields[] = { 3, 5, 6, 8, 12, 13 };
	uint8_t record[SDR_SIZE];
	struct sdr_supply_state supply;
	struct ipmi_answer answer = { 4, { 0, 0, 0xC0, 0x01 } };

	fill(record, 10, "PS1 Status");
	record[3] = SDR_COMPACT;
	record[9] = 3;
	record[12] = 0x08;
	record[13] = 0x6F;
	assert_true(sdr_read_supply_state(record, &supply));
	assert_int_equal(supply.number, 0x77);
	assert_int_equal(supply.instance, 3);
	for (size_t i = 0; i < sizeof(fields); i++) {
		record[fields[i]] ^= 0x40;
		assert_false(sdr_read_supply_state(record, &supply));
		record[fields[i]] ^= 0x40;
	}
	assert_int_equal(sdr_supply_parse(&answer), SDR_SUPPLY_PRESENT);
	answer.data[3] = 0x03; /* a failure does not lose input */
	assert_int_equal(sdr_supply_parse(&answer), SDR_SUPPLY_PRESENT);
	answer.data[3] = 0x09;
	assert_int_equal(sdr_supply_parse(&answer), SDR_SUPPLY_DEAD);
	answer.data[3] = 0;
	assert_int_equal(sdr_supply_parse(&answer), SDR_SUPPLY_ABSENT);
	answer.data[2] = 0xE0;
	assert_int_equal(sdr_supply_parse(&answer), SDR_SUPPLY_UNKNOWN);
	answer.data[2] = 0xC0;
	answer.len = 3;
	assert_int_equal(sdr_supply_parse(&answer), SDR_SUPPLY_UNKNOWN);
	answer.data[0] = 0xCB;
	assert_int_equal(sdr_supply_parse(&answer), SDR_SUPPLY_UNKNOWN);
}

static void parts_of_a_record(void **state)
{
	struct ipmi_answer answer = { 8, { 0, 0x34, 0x12, 1, 2, 3, 4, 5 } };
	struct ipmi_request request;
	uint8_t part[5] = { 0 };
	uint16_t next, reservation;

	sdr_get_request(0x0201, 0x0403, 16, 5, &request);
	assert_memory_equal(request.data, ((uint8_t[]){ 1, 2, 3, 4, 16, 5 }), 6);
	assert_int_equal(sdr_get_parse(&answer, 5, &next, part, NULL), 0);
	assert_int_equal(next, 0x1234);
	assert_int_equal(part[4], 5);
	assert_int_equal(sdr_get_parse(&answer, 6, &next, part, NULL), -EBADMSG);
	assert_int_equal(sdr_reserve_parse(&answer, &reservation, NULL), 0);
	assert_int_equal(reservation, 0x1234);
	answer.len = 2;
	assert_int_equal(sdr_reserve_parse(&answer, &reservation, NULL), -EBADMSG);
	answer.data[0] = 0xC5;
	assert_int_equal(sdr_get_parse(&answer, 5, &next, part, NULL), -ESTALE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_entities),
		cmocka_unit_test(records_without_a_power_sensor_are_skipped),
		cmocka_unit_test(factors_of_a_reading),
		cmocka_unit_test(invalid_readings_are_refused),
		cmocka_unit_test(states_of_a_supply),
		cmocka_unit_test(parts_of_a_record),
	};

	return unit_run(tests);
}
