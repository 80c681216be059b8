/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers and texts of a record, taken from untrusted bytes one after the other
 * (docs/record-format.md). The first fault is final: it is kept, and every number after it is 0 and
 * every text "", so that the caller checks once, at the end.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct record_cursor {
	const uint8_t *at, *end;
	const char *wrong; /* the first fault, in words; NULL: there is none */
	int error;         /* of that fault: -EBADMSG or -ENOMEM */
};

/* Notes a fault: @wrong, a constant text, and -EBADMSG; out of memory, and -ENOMEM. */
void record_fail(struct record_cursor *from, const char *wrong);
void record_fail_memory(struct record_cursor *from);

uint64_t record_take_varint(struct record_cursor *from);
/* A number beyond @max is the fault @wrong. */
uint32_t record_take_up_to(struct record_cursor *from, uint32_t max, const char *wrong);
int64_t record_take_signed(struct record_cursor *from);
double record_take_double(struct record_cursor *from);
/* A length and that many bytes, as a cursor of their own, which begins without a fault. */
struct record_cursor record_take_part(struct record_cursor *from);
/* A text into @buf of @size; a longer one, and one with a byte 0, is a fault. */
void record_take_text(struct record_cursor *from, char *buf, size_t size);
/* The length of a list; it is a fault if fewer bytes follow, as each entry takes at least one. */
size_t record_take_count(struct record_cursor *from);
/* An id of an owner or a process, a zone and a device; one beyond its limit is a fault. */
uint32_t record_take_id(struct record_cursor *from);
uint32_t record_take_zone(struct record_cursor *from);
uint32_t record_take_device(struct record_cursor *from);
