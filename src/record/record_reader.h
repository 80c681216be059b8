/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording, record by record. A file that ends inside a block was cut off: the part before it is
 * read, which is not an error. Damage ends the reading with a message: file, byte, block.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "record/recording.h"

struct record_reader;

/* 0, or -errno with a diagnosis. */
int record_reader_open(const char *path, struct record_reader **ret, struct diag *diag);
/* From memory, which is borrowed; @name stands for the file in messages. */
int record_reader_open_memory(const char *name, const uint8_t *bytes, size_t len,
			      struct record_reader **ret, struct diag *diag);
/* 1; 0 at the end; -EBADMSG with a diagnosis, or -ENOMEM. */
int record_reader_next(struct record_reader *reader, struct record *ret, struct diag *diag);
/* At the end: whether the last block is missing a part. */
bool record_reader_is_cut(const struct record_reader *reader);
void record_reader_close(struct record_reader *reader);
