// SPDX-License-Identifier: Apache-2.0
#include "record/record_block.h"

#include <errno.h>
#include <zlib.h>

#define BLOCK_MAGIC "KBLK"
#define LEVEL       1 /* 65,536 bytes of intervals: 1 ms */

enum { COMPRESSION_NONE, COMPRESSION_ZLIB };

static void put_number(uint8_t *at, uint32_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

static uint32_t get_number(const uint8_t *at, size_t bytes)
{
	uint32_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value |= (uint32_t)at[i] << (8 * i);
	return value;
}

void record_block_add_header(struct strbuf *out)
{
	uint8_t head[RECORD_HEADER_BYTES] = { 0 };

	memcpy(head, RECORD_MAGIC, 8);
	put_number(head + 8, RECORD_MAJOR, 2);
	put_number(head + 10, RECORD_MINOR, 2);
	strbuf_add(out, head, sizeof(head));
}

int record_block_add(struct strbuf *out, const struct strbuf *records)
{
	uLongf stored = compressBound(records->len);
	uint8_t *head;

	if (records->len > RECORD_BLOCK_MAX)
		return -EFBIG;
	if (!records->len)
		return 0;
	if (!strbuf_reserve(out, RECORD_BLOCK_HEAD + stored + 1))
		return -ENOMEM;
	head = (uint8_t *)out->data + out->len;
	if (compress2(head + RECORD_BLOCK_HEAD, &stored, (const Bytef *)records->data, records->len,
		      LEVEL) != Z_OK)
		return -ENOMEM;
	if (stored > RECORD_BLOCK_MAX)
		return -EFBIG;
	memcpy(head, BLOCK_MAGIC, 4);
	put_number(head + 4, COMPRESSION_ZLIB, 4);
	put_number(head + 8, (uint32_t)stored, 4);
	put_number(head + 12, (uint32_t)records->len, 4);
	put_number(head + 16, (uint32_t)crc32(0, head + RECORD_BLOCK_HEAD, (uInt)stored), 4);
	out->len += RECORD_BLOCK_HEAD + stored;
	return 0;
}

int record_block_check_header(const uint8_t *bytes, size_t len, struct diag *diag)
{
	if (len < RECORD_HEADER_BYTES || memcmp(bytes, RECORD_MAGIC, 8) != 0)
		return diag_set(diag, -EBADMSG, "no recording of Kepler");
	if (get_number(bytes + 8, 2) != RECORD_MAJOR)
		return diag_set(diag, -EBADMSG,
				"a recording of version %u.%u; this Kepler reads version %d",
				get_number(bytes + 8, 2), get_number(bytes + 10, 2), RECORD_MAJOR);
	return 0;
}

static int unpack(const uint8_t *payload, uint32_t stored, uint32_t raw, uint32_t compression,
		  struct strbuf *ret, struct diag *diag)
{
	uLongf got = raw;

	if (compression == COMPRESSION_NONE) {
		if (stored != raw)
			return diag_set(diag, -EBADMSG,
					"two sizes of a block that is not "
					"compressed");
		strbuf_add(ret, payload, raw);
		return strbuf_error(ret);
	}
	if (compression != COMPRESSION_ZLIB)
		return diag_set(diag, -EBADMSG, "unknown compression %u", compression);
	if (!strbuf_reserve(ret, (size_t)raw + 1))
		return -ENOMEM;
	if (uncompress((Bytef *)ret->data, &got, payload, stored) != Z_OK || got != raw)
		return diag_set(diag, -EBADMSG, "compressed data that is damaged");
	ret->len = raw;
	return 0;
}

int64_t record_block_read(const uint8_t *bytes, size_t len, struct strbuf *ret, struct diag *diag)
{
	uint32_t stored, raw;
	int r;

	strbuf_reset(ret);
	if (len < RECORD_BLOCK_HEAD)
		return 0;
	stored = get_number(bytes + 8, 4);
	raw = get_number(bytes + 12, 4);
	if (memcmp(bytes, BLOCK_MAGIC, 4) != 0 || stored > RECORD_BLOCK_MAX ||
	    raw > RECORD_BLOCK_MAX)
		return diag_set(diag, -EBADMSG, "no block begins here");
	if (stored > len - RECORD_BLOCK_HEAD)
		return 0;
	if (crc32(0, bytes + RECORD_BLOCK_HEAD, stored) != get_number(bytes + 16, 4))
		return diag_set(diag, -EBADMSG, "a block with a wrong checksum");
	r = unpack(bytes + RECORD_BLOCK_HEAD, stored, raw, get_number(bytes + 4, 4), ret, diag);
	return r < 0 ? r : (int64_t)RECORD_BLOCK_HEAD + stored;
}
