// SPDX-License-Identifier: Apache-2.0
/*
 * Records state that a sensor measures power, and name the part (the entity), but not which power
 * of that part: only its name shows that, and vendors choose names. So a name is accepted if it is
 * explicit, without its blanks and signs; all others are not the machine's power.
 */
#include "bmc/ipmi_sdr.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/macro.h"
#include "base/text/ascii.h"
#include "bmc/part_name.h"

#define STORAGE       0x0A /* NetFn */
#define SENSOR_EVENT  0x04
#define RESERVE       0x22
#define GET_SDR       0x23
#define GET_READING   0x2D
#define OWNER_BMC     0x20
#define UNIT_WATTS    6
#define ENTITY_SUPPLY 10
#define TYPE_SUPPLY   0x08
#define STATES        0x6F /* a sensor's readings are the states of its own type */
#define PRESENT       0x01 /* states of a supply, table 42-3 */
#define INPUT_LOST    0x08
#define FORMAT_ONES   0x40 /* of units1: complement */
#define FORMAT_TWOS   0x80
#define FORMAT_NONE   0xC0
#define SCANNING      0x40 /* of a reading */
#define UNAVAILABLE   0x20
#define NAME_LATIN    0xC0 /* type of a name: 8 bits a letter */
#define NAME_SIZE     17

static const char *const machine_names[] = { "pwrconsumption", "powerconsumption", "syspower",
					     "syspwr",         "systempower",      "systempwr",
					     "totalpower",     "totalpwr",         "powermeter",
					     "nodepower",      "nodepwr",          "systemlevel" };
/*
 * Entities that are parts (IPMI 2.0, table 43-13): processors 3 and 9, disks and their bays 4, 15
 * and 26, memory 8 and 32, cards 11, expansion 16, processor boards 18, power modules 20, fans and
 * cooling 29 and 30, boards of processors, memory and I/O 43 to 45, PCI 48 and 49, DCMI's CPU 65.
 */
static const uint8_t part_entities[] = { 3,  4,  8,  9,  11, 15, 16, 18, 20, 26,
					 29, 30, 32, 43, 44, 45, 48, 49, 65 };
static const char *const supply_names[] = { "inputpower", "inputpwr", "powerin", "pwrin",
					    "inpower",    "inpwr",    "pin" };

void sdr_reserve_request(struct ipmi_request *ret)
{
	*ret = (struct ipmi_request){ .function = STORAGE, .command = RESERVE };
}

int sdr_reserve_parse(const struct ipmi_answer *answer, uint16_t *ret_reservation,
		      struct diag *diag)
{
	int r = ipmi_answer_check(answer, diag);

	if (r < 0)
		return r;
	if (answer->len < 3)
		return diag_set(diag, -EBADMSG, "the reservation has %zu bytes of 3", answer->len);
	*ret_reservation = (uint16_t)(answer->data[1] | answer->data[2] << 8);
	return 0;
}

void sdr_get_request(uint16_t reservation, uint16_t id, size_t offset, size_t count,
		     struct ipmi_request *ret)
{
	*ret = (struct ipmi_request){ .function = STORAGE,
				      .command = GET_SDR,
				      .len = 6,
				      .data = { (uint8_t)reservation, (uint8_t)(reservation >> 8),
						(uint8_t)id, (uint8_t)(id >> 8), (uint8_t)offset,
						(uint8_t)count } };
}

int sdr_get_parse(const struct ipmi_answer *answer, size_t count, uint16_t *ret_next, uint8_t *ret,
		  struct diag *diag)
{
	int r = ipmi_answer_check(answer, diag);

	if (r < 0)
		return r;
	if (answer->len < 3 + count)
		return diag_set(diag, -EBADMSG, "the part of a record has %zu bytes of %zu",
				answer->len, 3 + count);
	*ret_next = (uint16_t)(answer->data[1] | answer->data[2] << 8);
	memcpy(ret, answer->data + 3, count);
	return 0;
}

size_t sdr_length(const uint8_t head[static 5])
{
	return 5U + head[4];
}

bool sdr_has_watts(const uint8_t record[static SDR_UNITS_AT + SDR_PART_SIZE])
{
	/* No rate, no modifier, no percentage. */
	return (record[20] & FORMAT_NONE) != FORMAT_NONE && !(record[20] & 0x3F) &&
	       record[21] == UNIT_WATTS && (record[23] & 0x7F) == 0;
}

/* As it is written; "" where it is not in letters. */
static void read_name(const uint8_t *record, size_t len, char ret[static NAME_SIZE])
{
	size_t count = record[SDR_NAME_AT - 1] & 0x1F;

	if ((record[SDR_NAME_AT - 1] & 0xC0) != NAME_LATIN)
		count = 0;
	if (count > len - SDR_NAME_AT)
		count = len - SDR_NAME_AT;
	if (count > NAME_SIZE - 1)
		count = NAME_SIZE - 1;
	memcpy(ret, record + SDR_NAME_AT, count);
	ret[count] = '\0';
}

/* Letters and digits of a name, small. */
static void plain_name(const char *name, char ret[static NAME_SIZE])
{
	size_t used = 0;

	for (; *name; name++) {
		if (ascii_is_alnum(*name))
			ret[used++] = ascii_lower(*name);
	}
	ret[used] = '\0';
}

static bool has_any(const char *name, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strstr(name, words[i]))
			return true;
	}
	return false;
}

/* The entity decides before the name. */
static enum sdr_role role_of(uint8_t entity, const char *name)
{
	char plain[NAME_SIZE];

	plain_name(name, plain);
	if (entity == ENTITY_SUPPLY)
		return has_any(plain, supply_names, ARRAY_SIZE(supply_names)) ? SDR_SUPPLY
									      : SDR_OTHER;
	if (memchr(part_entities, entity, sizeof(part_entities)) || part_name_is_of_a_part(name))
		return SDR_OTHER;
	return has_any(plain, machine_names, ARRAY_SIZE(machine_names)) ? SDR_MACHINE : SDR_OTHER;
}

/* Two's complement of @bits bits. */
static int signed_bits(unsigned value, unsigned bits)
{
	return value & 1U << (bits - 1) ? (int)value - (1 << bits) : (int)value;
}

enum sdr_role sdr_read(const uint8_t *record, size_t len, struct sdr_sensor *ret)
{
	char name[NAME_SIZE];

	if (len < SDR_NAME_AT || record[3] != SDR_FULL_SENSOR || record[5] != OWNER_BMC ||
	    record[6] != 0 || !sdr_has_watts(record))
		return SDR_OTHER;
	read_name(record, len, name);
	*ret = (struct sdr_sensor){
		.number = record[7],
		.instance = record[9],
		.format = record[20] & FORMAT_NONE,
		.m = (int16_t)signed_bits(record[24] | (record[25] & 0xC0U) << 2, 10),
		.b = (int16_t)signed_bits(record[26] | (record[27] & 0xC0U) << 2, 10),
		.exponent = (int8_t)signed_bits(record[29] >> 4, 4),
		.b_exponent = (int8_t)signed_bits(record[29] & 0x0F, 4),
	};
	return role_of(record[8], name);
}

bool sdr_read_supply_state(const uint8_t record[static SDR_UNITS_AT], struct sdr_supply_state *ret)
{
	if (record[3] != SDR_COMPACT || record[5] != OWNER_BMC || record[6] != 0 ||
	    record[8] != ENTITY_SUPPLY || record[12] != TYPE_SUPPLY || record[13] != STATES)
		return false;
	*ret = (struct sdr_supply_state){ .number = record[7], .instance = record[9] };
	return true;
}

void sdr_reading_request(uint8_t number, struct ipmi_request *ret)
{
	*ret = (struct ipmi_request){
		.function = SENSOR_EVENT, .command = GET_READING, .len = 1, .data = { number }
	};
}

static int raw_value(const struct sdr_sensor *sensor, uint8_t raw)
{
	if (sensor->format == FORMAT_TWOS)
		return signed_bits(raw, 8);
	if (sensor->format == FORMAT_ONES)
		return raw & 0x80 ? -(int)(uint8_t)~raw : raw;
	return raw;
}

static bool has_reading(const struct ipmi_answer *answer)
{
	return (answer->data[2] & SCANNING) && !(answer->data[2] & UNAVAILABLE);
}

int sdr_reading_parse(const struct ipmi_answer *answer, const struct sdr_sensor *sensor,
		      uint64_t *ret_uw, struct diag *diag)
{
	int r = ipmi_answer_check(answer, diag);
	double watts;

	if (r < 0)
		return r;
	if (answer->len < 3)
		return diag_set(diag, -EBADMSG, "the reading has %zu bytes of 3", answer->len);
	if (!has_reading(answer))
		return diag_set(diag, -ENODATA, "sensor %u has no reading now", sensor->number);
	watts = (sensor->m * raw_value(sensor, answer->data[1]) +
		 sensor->b * pow(10, sensor->b_exponent)) *
		pow(10, sensor->exponent);
	if (watts < 0)
		return diag_set(diag, -ENODATA, "sensor %u reads less than 0 W", sensor->number);
	if (watts > 1e6)
		return diag_set(diag, -ENODATA, "sensor %u reads over 1 MW", sensor->number);
	*ret_uw = (uint64_t)llround(watts * 1e6);
	return 0;
}

enum sdr_supply sdr_supply_parse(const struct ipmi_answer *answer)
{
	if (ipmi_answer_check(answer, NULL) < 0 || answer->len < 4 || !has_reading(answer))
		return SDR_SUPPLY_UNKNOWN;
	if (answer->data[3] & INPUT_LOST)
		return SDR_SUPPLY_DEAD;
	return answer->data[3] & PRESENT ? SDR_SUPPLY_PRESENT : SDR_SUPPLY_ABSENT;
}
