/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sensors that a BMC has by IPMI 2.0: their records (section 43.1, Full Sensor Record), which say
 * what a sensor measures and what its readings mean, and these (section 35.14). Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bmc/ipmi_message.h"

#define SDR_FIRST       0x0000 /* record ids */
#define SDR_LAST        0xFFFF
#define SDR_FULL_SENSOR 0x01 /* the type of a record, at 3 */
#define SDR_COMPACT     0x02 /* the record of a sensor that has states, not a value */
#define SDR_UNITS_AT    16   /* units and factors of a record are in the part from here on */
#define SDR_PART_SIZE   16   /* that each BMC can return at once */
#define SDR_NAME_AT     48   /* in a record */
#define SDR_SIZE        (SDR_NAME_AT + 16)

/* Which power of the whole machine a sensor measures. */
enum sdr_role {
	SDR_OTHER,   /* none */
	SDR_MACHINE, /* all */
	SDR_SUPPLY,  /* what one of its power supplies takes */
};

/* The value of a reading x: (m x + b 10^b_exponent) 10^exponent, section 36.3. */
struct sdr_sensor {
	uint8_t number;
	uint8_t instance;            /* which of the entities of its kind it is of */
	uint8_t format;              /* how x is to be read: bits 7:6 of the record's units */
	int16_t m, b;                /* -512..511 */
	int8_t exponent, b_exponent; /* -8..7 */
};

/* Reserve SDR Repository, section 33.11, and its answer. */
void sdr_reserve_request(struct ipmi_request *ret);
int sdr_reserve_parse(const struct ipmi_answer *answer, uint16_t *ret_reservation,
		      struct diag *diag);
/* Get SDR, section 33.12: @count bytes of a record, SDR_PART_SIZE at most. */
void sdr_get_request(uint16_t reservation, uint16_t id, size_t offset, size_t count,
		     struct ipmi_request *ret);
/* 0, and exactly @count bytes, or what ipmi_answer_check() returns, or -EBADMSG. */
int sdr_get_parse(const struct ipmi_answer *answer, size_t count, uint16_t *ret_next, uint8_t *ret,
		  struct diag *diag);
/* The length of the record whose first 5 bytes are @head. */
size_t sdr_length(const uint8_t head[static 5]);
/*
 * Returns true if a full sensor record has linear readings in watts. Its bytes from SDR_UNITS_AT on
 * must be known.
 */
bool sdr_has_watts(const uint8_t record[static SDR_UNITS_AT + SDR_PART_SIZE]);
/*
 * The role of a record of @len bytes, and its sensor. SDR_OTHER also if the sensor is not the BMC's
 * own.
 */
enum sdr_role sdr_read(const uint8_t *record, size_t len, struct sdr_sensor *ret);

/* The sensor that has the state of a power supply (sensor type 08h, table 42-3). */
struct sdr_supply_state {
	uint8_t number;
	uint8_t instance; /* as in the supply's other sensors */
};

/* Returns true if a compact record, with so many known bytes, is of such a sensor. */
bool sdr_read_supply_state(const uint8_t record[static SDR_UNITS_AT], struct sdr_supply_state *ret);

/* The meaning of a supply's state for its input power. */
enum sdr_supply {
	SDR_SUPPLY_UNKNOWN, /* nothing */
	SDR_SUPPLY_PRESENT, /* it may take some */
	SDR_SUPPLY_ABSENT,  /* none: its bay is empty */
	SDR_SUPPLY_DEAD,    /* none: its input is lost */
};

/* Get Sensor Reading. */
void sdr_reading_request(uint8_t number, struct ipmi_request *ret);
/* µW: 0, or -ENODATA where it has no reading now or a negative one, or as sdr_get_parse(). */
int sdr_reading_parse(const struct ipmi_answer *answer, const struct sdr_sensor *sensor,
		      uint64_t *ret_uw, struct diag *diag);
enum sdr_supply sdr_supply_parse(const struct ipmi_answer *answer);
