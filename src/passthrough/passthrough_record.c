// SPDX-License-Identifier: Apache-2.0
/*
 * The binary form. A reader of a stream looks for the magic, which ends with a byte that does not
 * occur in text, and takes a record only if version, length and CRC are right. If any of these is
 * wrong, it searches on from the next byte, so a torn record cannot hide a whole one after it.
 */
#include "passthrough/passthrough_record.h"

#include <endian.h>
#include <string.h>

#include "base/hash.h"
#include "base/macro.h"
#include "passthrough/crc32c.h"

#define UUID_LEN 36

/* Offsets. */
enum {
	AT_VERSION = 4,
	AT_ZONE_COUNT = 5,
	AT_LENGTH = 6,
	AT_EPOCH = 8,
	AT_SEQUENCE = 16,
	AT_REALTIME = 24,
	AT_BOOTTIME = 32,
	AT_INTERVAL = 40,
	AT_VM_HASH = 48,
	AT_CPU_TIME = 56,
	AT_FLAGS = 64,
	AT_PERIOD = 68,
	AT_ZONES = 72,
	/* In a zone: */
	ZONE_AT_QUALITY = 16,
	ZONE_AT_UNCERTAINTY = 20,
	ZONE_AT_DYNAMIC = 24,
	ZONE_AT_IDLE = 32,
	ZONE_SIZE = 40,
	SUM_SIZE = 4,
};
_Static_assert(AT_ZONES + PASSTHROUGH_ZONES_MAX * ZONE_SIZE + SUM_SIZE <= PASSTHROUGH_RECORD_MAX,
	       "the longest record");

static const uint8_t magic[] = { 'K', 'E', 'P', 0xEB };

static void put_u64(uint8_t *at, uint64_t value)
{
	value = htole64(value);
	memcpy(at, &value, sizeof(value));
}

static void put_u32(uint8_t *at, uint32_t value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof(value));
}

static uint64_t get_u64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

static uint32_t get_u32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static uint16_t get_u16(const uint8_t *at)
{
	return (uint16_t)(at[0] | at[1] << 8);
}

const char *passthrough_record_fault(const struct passthrough_record *record)
{
	if (!record->epoch || !record->sequence)
		return "epoch and sequence begin at 1";
	if (record->zone_count > PASSTHROUGH_ZONES_MAX)
		return "it has too many zones";
	for (size_t i = 0; i < record->zone_count; i++) {
		const struct passthrough_zone *zone = &record->zones[i];
		uint64_t sum;

		if (zone->idle_uj && !(record->flags & PASSTHROUGH_IDLE))
			return "it has idle energy without the flag for it";
		if (__builtin_add_overflow(zone->dynamic_uj, zone->idle_uj, &sum))
			return "a zone's energy exceeds 64 bits";
		for (size_t k = 0; k < i; k++) {
			if (record->zones[k].kind == zone->kind &&
			    record->zones[k].quality == zone->quality)
				return "it has a zone twice";
		}
	}
	return NULL;
}

static void write_zone(const struct passthrough_zone *zone, uint8_t *at)
{
	const char *name = zone_kind_name(zone->kind);

	memcpy(at, name, strlen(name));
	at[ZONE_AT_QUALITY] = zone->quality == QUALITY_ESTIMATED;
	put_u32(at + ZONE_AT_UNCERTAINTY, zone->uncertainty_ppm);
	put_u64(at + ZONE_AT_DYNAMIC, zone->dynamic_uj);
	put_u64(at + ZONE_AT_IDLE, zone->idle_uj);
}

size_t passthrough_record_write(const struct passthrough_record *record,
				uint8_t ret[static PASSTHROUGH_RECORD_MAX])
{
	size_t end = AT_ZONES + record->zone_count * ZONE_SIZE, len = end + SUM_SIZE;

	if (passthrough_record_fault(record))
		return 0;
	memset(ret, 0, len);
	memcpy(ret, magic, sizeof(magic));
	ret[AT_VERSION] = PASSTHROUGH_VERSION;
	ret[AT_ZONE_COUNT] = (uint8_t)record->zone_count;
	ret[AT_LENGTH] = (uint8_t)len;
	ret[AT_LENGTH + 1] = (uint8_t)(len >> 8);
	put_u64(ret + AT_EPOCH, record->epoch);
	put_u64(ret + AT_SEQUENCE, record->sequence);
	put_u64(ret + AT_REALTIME, record->realtime_ns);
	put_u64(ret + AT_BOOTTIME, record->boottime_ns);
	put_u64(ret + AT_INTERVAL, record->interval_ns);
	put_u64(ret + AT_VM_HASH, record->vm_hash);
	put_u64(ret + AT_CPU_TIME, record->cpu_time_us);
	put_u32(ret + AT_FLAGS, record->flags);
	put_u32(ret + AT_PERIOD, record->period_ms);
	for (size_t i = 0; i < record->zone_count; i++)
		write_zone(&record->zones[i], ret + AT_ZONES + i * ZONE_SIZE);
	put_u32(ret + end, crc32c(ret, end));
	return len;
}

/* False: it cannot be a zone. A zone of an unknown kind is counted only. */
static bool read_zone(const uint8_t *at, struct passthrough_record *record)
{
	struct passthrough_zone *zone = &record->zones[record->zone_count];
	const char *name = (const char *)at;
	size_t len = strnlen(name, PASSTHROUGH_NAME_SIZE);

	for (size_t i = len; i < PASSTHROUGH_NAME_SIZE; i++) {
		if (at[i])
			return false;
	}
	if (!len || at[ZONE_AT_QUALITY] >= QUALITY_COUNT)
		return false;
	zone->kind = 0;
	while (zone->kind < ZONE_KIND_COUNT && (strlen(zone_kind_name(zone->kind)) != len ||
						memcmp(zone_kind_name(zone->kind), name, len) != 0))
		zone->kind++;
	if (zone->kind == ZONE_KIND_COUNT) {
		record->unknown_zones++;
		return true;
	}
	zone->quality = at[ZONE_AT_QUALITY];
	zone->uncertainty_ppm = get_u32(at + ZONE_AT_UNCERTAINTY);
	zone->dynamic_uj = get_u64(at + ZONE_AT_DYNAMIC);
	zone->idle_uj = get_u64(at + ZONE_AT_IDLE);
	record->zone_count++;
	return true;
}

/* The error in the first AT_EPOCH bytes; *ret_len: the record's. */
static enum passthrough_refusal check_head(const uint8_t *bytes, size_t *ret_len)
{
	size_t len = get_u16(bytes + AT_LENGTH);

	if (bytes[AT_VERSION] != PASSTHROUGH_VERSION)
		return PASSTHROUGH_BAD_VERSION;
	if (bytes[AT_ZONE_COUNT] > PASSTHROUGH_ZONES_MAX || len > PASSTHROUGH_RECORD_MAX ||
	    len < AT_ZONES + (size_t)bytes[AT_ZONE_COUNT] * ZONE_SIZE + SUM_SIZE)
		return PASSTHROUGH_BAD_LENGTH;
	*ret_len = len;
	return PASSTHROUGH_OK;
}

enum passthrough_refusal passthrough_record_read(const uint8_t *bytes, size_t len,
						 struct passthrough_record *ret)
{
	struct passthrough_record record = { 0 };
	enum passthrough_refusal refusal;
	size_t own_len;

	if (len < AT_EPOCH || memcmp(bytes, magic, sizeof(magic)) != 0)
		return PASSTHROUGH_BAD_LENGTH;
	refusal = check_head(bytes, &own_len);
	if (refusal != PASSTHROUGH_OK)
		return refusal;
	if (own_len != len)
		return PASSTHROUGH_BAD_LENGTH;
	if (crc32c(bytes, len - SUM_SIZE) != get_u32(bytes + len - SUM_SIZE))
		return PASSTHROUGH_BAD_SUM;
	record.epoch = get_u64(bytes + AT_EPOCH);
	record.sequence = get_u64(bytes + AT_SEQUENCE);
	record.realtime_ns = get_u64(bytes + AT_REALTIME);
	record.boottime_ns = get_u64(bytes + AT_BOOTTIME);
	record.interval_ns = get_u64(bytes + AT_INTERVAL);
	record.vm_hash = get_u64(bytes + AT_VM_HASH);
	record.cpu_time_us = get_u64(bytes + AT_CPU_TIME);
	record.flags = get_u32(bytes + AT_FLAGS);
	record.period_ms = get_u32(bytes + AT_PERIOD);
	for (size_t i = 0; i < bytes[AT_ZONE_COUNT]; i++) {
		if (!read_zone(bytes + AT_ZONES + i * ZONE_SIZE, &record))
			return PASSTHROUGH_BAD_CONTENT;
	}
	if (passthrough_record_fault(&record))
		return PASSTHROUGH_BAD_CONTENT;
	*ret = record;
	return PASSTHROUGH_OK;
}

uint64_t passthrough_vm_hash(const char *uuid)
{
	size_t len = strcspn(uuid, "\n");
	uint64_t hash = HASH64_START;

	if (len != UUID_LEN)
		return 0;
	for (size_t i = 0; i < len; i++) {
		bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
		char c = uuid[i];

		if (c >= 'A' && c <= 'F')
			c = (char)(c - 'A' + 'a');
		if (is_dash ? c != '-' : !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			return 0;
		hash = hash64_byte(hash, (unsigned char)c);
	}
	return hash;
}

size_t passthrough_stream_add(struct passthrough_stream *stream, const void *bytes, size_t len)
{
	size_t room = sizeof(stream->bytes) - stream->len;

	if (len > room)
		len = room;
	memcpy(stream->bytes + stream->len, bytes, len);
	stream->len += len;
	return len;
}

static void drop(struct passthrough_stream *stream, size_t count)
{
	stream->len -= count;
	memmove(stream->bytes, stream->bytes + count, stream->len);
}

/* Drops what is before the next byte that may begin a record, from @from on. */
static void skip(struct passthrough_stream *stream, size_t from)
{
	while (from < stream->len) {
		size_t left = stream->len - from, len = left < sizeof(magic) ? left : sizeof(magic);

		if (memcmp(stream->bytes + from, magic, len) == 0)
			break;
		from++;
	}
	stream->skipped += from;
	drop(stream, from);
}

bool passthrough_stream_next(struct passthrough_stream *stream, struct passthrough_record *ret)
{
	enum passthrough_refusal refusal;
	size_t len = 0;

	skip(stream, 0);
	while (stream->len >= AT_EPOCH) {
		refusal = check_head(stream->bytes, &len);
		if (refusal == PASSTHROUGH_OK && len > stream->len)
			return false;
		if (refusal == PASSTHROUGH_OK)
			refusal = passthrough_record_read(stream->bytes, len, ret);
		if (refusal == PASSTHROUGH_OK) {
			drop(stream, len);
			return true;
		}
		stream->refused[refusal]++;
		if (refusal == PASSTHROUGH_BAD_CONTENT)
			drop(stream, len); /* whole: its end is known */
		else
			skip(stream, 1);
	}
	return false;
}
