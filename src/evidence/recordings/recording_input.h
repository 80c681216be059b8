/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of a recording (docs/record-format.md), and the numbers in them. This is a reader of
 * the validator's own, after that page: a judge that shared the recorder's code would share its
 * faults.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "evidence/text_input.h"

/* Bytes that are taken from the front. Once too few are left, each number is 0. */
struct record_bytes {
	const uint8_t *at, *end;
	bool is_wrong; /* something was taken that is not there, or is longer than permitted */
};

uint64_t record_bytes_number(struct record_bytes *from);
int64_t record_bytes_signed(struct record_bytes *from);
void record_bytes_skip(struct record_bytes *from, size_t len);
/* A length and as many bytes. */
struct record_bytes record_bytes_part(struct record_bytes *from);
/* A text; one that is longer than @size - 1 is cut. */
void record_bytes_text(struct record_bytes *from, char *buf, size_t size);

struct recording_input {
	struct text_input *input; /* borrowed */
	uint8_t *stored, *plain;  /* a block; owned */
	struct record_bytes rest; /* of the block */
	uint64_t blocks;
	const char *end; /* why the readable part ends before the file does, in words; or NULL */
};

/* True if the file begins as a recording does; it takes nothing. */
bool recording_input_is(struct text_input *input);
/* Takes the header. 0, or -errno with a diagnosis. @input lives longer. */
int recording_input_open(struct text_input *input, struct recording_input *ret, struct diag *diag);
/* The next record: 1, 0 at the end of what can be read, or -errno with a diagnosis. */
int recording_input_next(struct recording_input *recording, uint64_t *ret_type,
			 struct record_bytes *ret, struct diag *diag);
void recording_input_release(struct recording_input *recording);
