// SPDX-License-Identifier: Apache-2.0
#include "evidence/recordings/recording_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MAGIC       "KEPLREC\n"
#define MAGIC_LEN   8
#define HEADER_LEN  16
#define BLOCK_LEN   20
#define BLOCK_MAX   (32U << 20)
#define MAJOR       1
#define VARINT_BITS 64

enum compression { COMPRESSION_NONE, COMPRESSION_ZLIB };

uint64_t record_bytes_number(struct record_bytes *from)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < VARINT_BITS && from->at < from->end; shift += 7) {
		uint8_t byte = *from->at++;

		number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return number;
	}
	from->is_wrong = true;
	from->at = from->end;
	return 0;
}

int64_t record_bytes_signed(struct record_bytes *from)
{
	uint64_t number = record_bytes_number(from);

	return (int64_t)(number >> 1 ^ -(number & 1));
}

void record_bytes_skip(struct record_bytes *from, size_t len)
{
	bool has_all = len <= (size_t)(from->end - from->at);

	from->is_wrong |= !has_all;
	from->at = has_all ? from->at + len : from->end;
}

struct record_bytes record_bytes_part(struct record_bytes *from)
{
	uint64_t len = record_bytes_number(from);
	struct record_bytes part = { .at = from->at };

	record_bytes_skip(from, len);
	part.end = from->is_wrong ? part.at : from->at;
	return part;
}

void record_bytes_text(struct record_bytes *from, char *buf, size_t size)
{
	struct record_bytes text = record_bytes_part(from);
	size_t len = (size_t)(text.end - text.at);

	if (len > size - 1)
		len = size - 1;
	if (len > 0)
		memcpy(buf, text.at, len);
	buf[len] = '\0';
}

bool recording_input_is(struct text_input *input)
{
	return text_input_peek(input) != TEXT_INPUT_END && input->len - input->at >= MAGIC_LEN &&
	       memcmp(input->buffer + input->at, MAGIC, MAGIC_LEN) == 0;
}

/* Returns how many of @len bytes there were. */
static size_t take(struct text_input *input, uint8_t *buf, size_t len)
{
	size_t got = 0;

	while (got < len && text_input_peek(input) != TEXT_INPUT_END) {
		size_t ready = (size_t)(input->len - input->at);

		if (ready > len - got)
			ready = len - got;
		memcpy(buf + got, input->buffer + input->at, ready);
		input->at += (int)ready;
		got += ready;
	}
	return got;
}

static uint32_t u32_at(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

int recording_input_open(struct text_input *input, struct recording_input *ret, struct diag *diag)
{
	uint8_t header[HEADER_LEN];

	*ret = (struct recording_input){ .input = input };
	if (take(input, header, sizeof(header)) < sizeof(header))
		return diag_set(diag, -EBADMSG, "%s: the recording ends in its header",
				input->name);
	unsigned major = header[8] | (unsigned)header[9] << 8;
	if (major != MAJOR)
		return diag_set(diag, -EPROTONOSUPPORT,
				"%s: is a recording of version %u, and only version %d can be "
				"read",
				input->name, major, MAJOR);
	return 0;
}

/* 0 if the block is whole. */
static int unpack(struct recording_input *recording, const uint8_t *head)
{
	uint32_t stored = u32_at(head + 8), plain = u32_at(head + 12);
	uLongf len = plain;

	if (crc32(0, recording->stored, stored) != u32_at(head + 16))
		return -EBADMSG;
	recording->rest =
		(struct record_bytes){ .at = recording->plain, .end = recording->plain + plain };
	if (u32_at(head + 4) == COMPRESSION_NONE && stored == plain) {
		memcpy(recording->plain, recording->stored, plain);
		return 0;
	}
	return u32_at(head + 4) == COMPRESSION_ZLIB &&
			       uncompress(recording->plain, &len, recording->stored, stored) ==
				       Z_OK &&
			       len == plain
		       ? 0
		       : -EBADMSG;
}

/* 1: a block was read; 0: there is none; -ENOMEM, or the error of a read. */
static int next_block(struct recording_input *recording, struct diag *diag)
{
	uint8_t head[BLOCK_LEN];
	size_t got = take(recording->input, head, sizeof(head));

	if (recording->input->error < 0)
		return text_input_fail(recording->input, diag, " ");
	if (got < sizeof(head)) {
		recording->end = got > 0 ? "it is cut off" : NULL;
		return 0;
	}
	uint32_t stored = u32_at(head + 8), plain = u32_at(head + 12);

	recording->end = "it is damaged";
	if (memcmp(head, "KBLK", 4) != 0 || stored > BLOCK_MAX || plain > BLOCK_MAX)
		return 0;
	recording_input_release(recording);
	recording->stored = malloc(stored + 1);
	recording->plain = malloc(plain + 1);
	if (!recording->stored || !recording->plain)
		return diag_set(diag, -ENOMEM, "out of memory");
	if (take(recording->input, recording->stored, stored) < stored) {
		recording->end = "it is cut off";
		return 0;
	}
	if (unpack(recording, head) < 0)
		return 0;
	recording->end = NULL;
	recording->blocks++;
	return 1;
}

int recording_input_next(struct recording_input *recording, uint64_t *ret_type,
			 struct record_bytes *ret, struct diag *diag)
{
	while (recording->rest.at == recording->rest.end) {
		int r = recording->end ? 0 : next_block(recording, diag);

		if (r <= 0) {
			recording->rest = (struct record_bytes){ NULL, NULL, false };
			return r;
		}
	}
	*ret_type = record_bytes_number(&recording->rest);
	*ret = record_bytes_part(&recording->rest);
	if (!recording->rest.is_wrong)
		return 1;
	return diag_set(diag, -EBADMSG, "%s: block %llu has a record that is longer than the block",
			recording->input->name, (unsigned long long)recording->blocks);
}

void recording_input_release(struct recording_input *recording)
{
	free(recording->stored);
	free(recording->plain);
	recording->stored = recording->plain = NULL;
}
