/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes as records (docs/record-format.md). Nothing of the input is trusted: every count, id and
 * length is checked before it is used, and what a record refers to is left to its user.
 */
#pragma once

#include "base/diag.h"
#include "record/recording.h"

struct record_decoder;

/* 0 or -ENOMEM. */
int record_decoder_new(struct record_decoder **ret);
void record_decoder_free(struct record_decoder *decoder);
/*
 * The next record of @bytes [len] from *@at on, which moves past it; unknown records are skipped.
 * 1; 0 at the end; -EBADMSG with a diagnosis, or -ENOMEM. @bytes is unchanged while *@ret is used.
 */
int record_decode(struct record_decoder *decoder, const uint8_t *bytes, size_t len, size_t *at,
		  struct record *ret, struct diag *diag);
