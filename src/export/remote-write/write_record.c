// SPDX-License-Identifier: Apache-2.0
#include "export/remote-write/write_record.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "export/remote-write/write_batch.h"

#define MAGIC 0x3257524bU /* "KRW2" */

struct head {
	uint32_t magic, len, crc, series;
	uint64_t time_ms;
};
_Static_assert(sizeof(struct head) == WRITE_RECORD_HEAD, "no padding");

static struct head head_of(const struct write_record *record)
{
	return (struct head){ htole32(MAGIC), htole32(record->len), 0, htole32(record->series),
			      htole64((uint64_t)record->time_ms) };
}

static uint32_t crc_of(const struct write_record *record, const char *message)
{
	const struct head head = head_of(record);
	uLong crc = crc32(0, (const Bytef *)&head, sizeof(head));

	return (uint32_t)crc32(crc, (const Bytef *)message, record->len);
}

void write_record_head(const struct write_record *record, const char *message,
		       unsigned char ret[WRITE_RECORD_HEAD])
{
	struct head head = head_of(record);

	head.crc = htole32(crc_of(record, message));
	memcpy(ret, &head, sizeof(head));
}

int write_record_parse(const unsigned char head[WRITE_RECORD_HEAD], struct write_record *ret)
{
	struct head read;

	memcpy(&read, head, sizeof(read));
	*ret = (struct write_record){ le32toh(read.len), le32toh(read.series), le32toh(read.crc),
				      (int64_t)le64toh(read.time_ms) };
	return le32toh(read.magic) == MAGIC && ret->len > 0 && ret->len <= WRITE_MESSAGE_MAX
		       ? 0
		       : -EBADMSG;
}

int write_record_check(const struct write_record *record, const char *message)
{
	return crc_of(record, message) == record->crc ? 0 : -EBADMSG;
}
