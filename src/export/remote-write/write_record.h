/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record in a file of the queue: a head of WRITE_RECORD_HEAD bytes, and a message. Pure. Numbers
 * are little-endian: magic, length of the message, CRC-32 of all but itself, number of series (4
 * bytes each), time in ms (8).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define WRITE_RECORD_HEAD 24

struct write_record {
	uint32_t len, series, crc;
	int64_t time_ms;
};

void write_record_head(const struct write_record *record, const char *message,
		       unsigned char ret[WRITE_RECORD_HEAD]);
/* 0, or -EBADMSG: these bytes are no head. The message is not looked at. */
int write_record_parse(const unsigned char head[WRITE_RECORD_HEAD], struct write_record *ret);
/* 0, or -EBADMSG: the message is not the one that was written. */
int write_record_check(const struct write_record *record, const char *message);
