/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a recording (docs/record-format.md): records, compressed or not, with a CRC. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "record/recording.h"

#define RECORD_HEADER_BYTES 16
#define RECORD_BLOCK_HEAD   20

void record_block_add_header(struct strbuf *out);
/* A compressed block of @records, RECORD_BLOCK_MAX bytes at most. 0, -EFBIG or -ENOMEM. */
int record_block_add(struct strbuf *out, const struct strbuf *records);

/* 0, or -EBADMSG with a diagnosis: no recording, or of another version. */
int record_block_check_header(const uint8_t *bytes, size_t len, struct diag *diag);
/*
 * The records of the block at @bytes [len] into @ret, which is emptied first. The bytes of the
 * block; 0: it is cut off; -EBADMSG with a diagnosis, or -ENOMEM.
 */
int64_t record_block_read(const uint8_t *bytes, size_t len, struct strbuf *ret, struct diag *diag);
