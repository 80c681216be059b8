// SPDX-License-Identifier: Apache-2.0
#include "record/record_cursor.h"

#include <errno.h>
#include <string.h>

#include "record/recording.h"

#define VARINT_BITS 64

void record_fail(struct record_cursor *from, const char *wrong)
{
	if (!from->wrong) {
		from->wrong = wrong;
		from->error = -EBADMSG;
	}
	from->at = from->end;
}

void record_fail_memory(struct record_cursor *from)
{
	record_fail(from, "out of memory");
	from->error = -ENOMEM;
}

uint64_t record_take_varint(struct record_cursor *from)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < VARINT_BITS; shift += 7) {
		uint8_t byte;

		if (from->at == from->end)
			break;
		byte = *from->at++;
		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	record_fail(from, "a number that is cut off, or has more than 64 bits");
	return 0;
}

uint32_t record_take_up_to(struct record_cursor *from, uint32_t max, const char *wrong)
{
	uint64_t value = record_take_varint(from);

	if (value <= max)
		return (uint32_t)value;
	record_fail(from, wrong);
	return 0;
}

int64_t record_take_signed(struct record_cursor *from)
{
	uint64_t value = record_take_varint(from);

	return (int64_t)((value >> 1) ^ (0 - (value & 1)));
}

double record_take_double(struct record_cursor *from)
{
	uint64_t bits = 0;
	double value;

	if (from->end - from->at < 8) {
		record_fail(from, "a number that is cut off");
		return 0;
	}
	for (size_t i = 0; i < 8; i++)
		bits |= (uint64_t)from->at[i] << (8 * i);
	from->at += 8;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

struct record_cursor record_take_part(struct record_cursor *from)
{
	uint64_t len = record_take_varint(from);
	struct record_cursor part = { from->at, from->at, NULL, 0 };

	if (len > (uint64_t)(from->end - from->at)) {
		record_fail(from, "a length beyond the end");
		part.at = part.end = from->end;
		return part;
	}
	part.end = from->at + len;
	from->at = part.end;
	return part;
}

void record_take_text(struct record_cursor *from, char *buf, size_t size)
{
	struct record_cursor part = record_take_part(from);
	size_t len = (size_t)(part.end - part.at);

	if (len >= size || memchr(part.at, 0, len)) {
		record_fail(from, "a text that is too long, or has a byte 0");
		len = 0;
	}
	memcpy(buf, part.at, len);
	buf[len] = '\0';
}

size_t record_take_count(struct record_cursor *from)
{
	uint32_t count =
		record_take_up_to(from, RECORD_ENTRIES_MAX, "a list with too many entries");

	if (count <= (size_t)(from->end - from->at))
		return count;
	record_fail(from, "a list that is cut off");
	return 0;
}

uint32_t record_take_id(struct record_cursor *from)
{
	return record_take_up_to(from, RECORD_IDS_MAX - 1, "an id beyond 2^22");
}

uint32_t record_take_zone(struct record_cursor *from)
{
	return record_take_up_to(from, ZONES_MAX - 1, "a zone beyond the 1,034th");
}

uint32_t record_take_device(struct record_cursor *from)
{
	return record_take_up_to(from, DEVICES_MAX - 1, "a device beyond the 128th");
}
