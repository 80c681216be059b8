// SPDX-License-Identifier: Apache-2.0
/*
 * A record is read in parts. The first two, its head and its units, show whether it is in watts;
 * most records are not read further. A reservation ends when records change, or another program
 * requests one: then a new one is made, and the part is requested again.
 */
#include "bmc/ipmi_sensors.h"

#include <errno.h>

#define RESERVATIONS_MAX 8 /* in one search */
#define HEAD_SIZE        5 /* of a record; a shorter one cannot be asked for more */

struct search {
	struct ipmi_device *device;
	uint16_t reservation;
	unsigned reserved;
	struct ipmi_sensors found;
	bool has_machine;
};

static int reserve(struct search *search, struct diag *diag)
{
	struct ipmi_request request;
	struct ipmi_answer answer;
	int r;

	if (search->reserved++ == RESERVATIONS_MAX)
		return diag_set(diag, -EBUSY, "its records are always changed");
	sdr_reserve_request(&request);
	r = ipmi_device_ask(search->device, &request, &answer, diag);
	return r < 0 ? r : sdr_reserve_parse(&answer, &search->reservation, diag);
}

static int read_part(struct search *search, uint16_t id, size_t offset, size_t count,
		     uint16_t *ret_next, uint8_t *record, struct diag *diag)
{
	struct ipmi_request request;
	struct ipmi_answer answer;
	int r;

	for (;;) {
		sdr_get_request(search->reservation, id, offset, count, &request);
		r = ipmi_device_ask(search->device, &request, &answer, diag);
		if (r == 0)
			r = sdr_get_parse(&answer, count, ret_next, record + offset, diag);
		if (r != -ESTALE)
			return r;
		r = reserve(search, diag);
		if (r < 0)
			return r;
	}
}

/* Its bytes [from, to). */
static int read_bytes(struct search *search, uint16_t id, size_t from, size_t to,
		      uint16_t *ret_next, uint8_t *record, struct diag *diag)
{
	for (; from < to; from += SDR_PART_SIZE) {
		size_t count = to - from < SDR_PART_SIZE ? to - from : SDR_PART_SIZE;
		int r = read_part(search, id, from, count, ret_next, record, diag);

		if (r < 0)
			return r;
	}
	return 0;
}

static void take(struct search *search, enum sdr_role role, const struct sdr_sensor *sensor)
{
	struct ipmi_sensors *found = &search->found;

	if (role == SDR_OTHER || search->has_machine)
		return;
	if (role == SDR_MACHINE) {
		search->has_machine = true;
		found->count = 0;
	}
	if (found->count < IPMI_SENSORS_MAX)
		found->sensors[found->count] = *sensor;
	found->count++; /* more than fit give no sum */
}

/* @record has its head. */
static int look_at_states(struct search *search, uint16_t id, uint16_t *ret_next, uint8_t *record,
			  struct diag *diag)
{
	struct ipmi_sensors *found = &search->found;
	int r = 0;

	if (sdr_length(record) < SDR_UNITS_AT || found->state_count == IPMI_SENSORS_MAX)
		return 0;
	r = read_bytes(search, id, HEAD_SIZE, SDR_UNITS_AT, ret_next, record, diag);
	if (r == 0)
		found->state_count +=
			sdr_read_supply_state(record, &found->states[found->state_count]);
	return r;
}

static int look_at(struct search *search, uint16_t id, uint16_t *ret_next, struct diag *diag)
{
	uint8_t record[SDR_SIZE] = { 0 };
	struct sdr_sensor sensor;
	size_t len;
	int r = read_bytes(search, id, 0, HEAD_SIZE, ret_next, record, diag);

	if (r < 0)
		return r;
	if (record[3] == SDR_COMPACT)
		return look_at_states(search, id, ret_next, record, diag);
	len = sdr_length(record);
	if (record[3] != SDR_FULL_SENSOR || len < SDR_NAME_AT)
		return 0;
	if (len > SDR_SIZE)
		len = SDR_SIZE;
	r = read_bytes(search, id, SDR_UNITS_AT, SDR_UNITS_AT + SDR_PART_SIZE, ret_next, record,
		       diag);
	if (r < 0 || !sdr_has_watts(record))
		return r;
	r = read_bytes(search, id, HEAD_SIZE, SDR_UNITS_AT, ret_next, record, diag);
	if (r == 0)
		r = read_bytes(search, id, SDR_UNITS_AT + SDR_PART_SIZE, len, ret_next, record,
			       diag);
	if (r == 0)
		take(search, sdr_read(record, len, &sensor), &sensor);
	return r;
}

int ipmi_sensors_find(struct ipmi_device *device, struct ipmi_sensors *ret, struct diag *diag)
{
	struct search search = { .device = device };
	uint16_t id = SDR_FIRST, next = SDR_LAST;
	int r = reserve(&search, diag);

	for (size_t i = 0; r == 0 && id != SDR_LAST && i < IPMI_RECORDS_MAX; i++) {
		r = look_at(&search, id, &next, diag);
		id = next;
	}
	if (r < 0)
		return r;
	if (search.found.count == 0)
		return diag_set(diag, -EOPNOTSUPP, "it has no sensor for the machine's power");
	if (search.found.count > IPMI_SENSORS_MAX)
		return diag_set(diag, -EOPNOTSUPP, "it has over %d power supplies",
				IPMI_SENSORS_MAX);
	if (search.has_machine)
		search.found.state_count = 0;
	*ret = search.found;
	return 0;
}

static int ask_reading(struct ipmi_device *device, uint8_t number, struct ipmi_answer *ret,
		       struct diag *diag)
{
	struct ipmi_request request;

	sdr_reading_request(number, &request);
	return ipmi_device_ask(device, &request, ret, diag);
}

/* Returns true if each supply that is @silent, the bits of their indices, takes no power. */
static int check_silent(struct ipmi_device *device, const struct ipmi_sensors *sensors,
			unsigned silent, struct diag *diag)
{
	bool any_present = false;
	unsigned absent = 0, dead = 0;

	for (size_t k = 0; k < sensors->state_count; k++) {
		const struct sdr_supply_state *state = &sensors->states[k];
		enum sdr_supply supply;
		struct ipmi_answer answer;
		int r = ask_reading(device, state->number, &answer, diag);

		if (r < 0)
			return r;
		supply = sdr_supply_parse(&answer);
		any_present = any_present || supply == SDR_SUPPLY_PRESENT;
		for (size_t i = 0; i < sensors->count; i++) {
			if (sensors->sensors[i].instance != state->instance)
				continue;
			absent |= (unsigned)(supply == SDR_SUPPLY_ABSENT) << i;
			dead |= (unsigned)(supply == SDR_SUPPLY_DEAD) << i;
		}
	}
	return silent & ~(dead | (any_present ? absent : 0)) ? -ENODATA : 0;
}

int ipmi_sensors_read(struct ipmi_device *device, const struct ipmi_sensors *sensors,
		      uint64_t *ret_uw, struct diag *diag)
{
	uint64_t sum_uw = 0;
	unsigned silent = 0;
	int r = 0;

	for (size_t i = 0; i < sensors->count; i++) {
		struct ipmi_answer answer;
		uint64_t uw = 0;

		r = ask_reading(device, sensors->sensors[i].number, &answer, diag);
		if (r == 0)
			r = sdr_reading_parse(&answer, &sensors->sensors[i], &uw,
					      silent ? NULL : diag);
		if (r < 0 && r != -ENODATA)
			return r;
		silent |= (unsigned)(r < 0) << i;
		sum_uw += uw;
	}
	if (silent) {
		r = check_silent(device, sensors, silent, diag);
		if (r < 0)
			return r;
	}
	if (!sum_uw)
		return diag_set(diag, -ENODATA, "its sensors report 0 W");
	*ret_uw = sum_uw;
	return 0;
}
