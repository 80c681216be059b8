/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that is read from its beginning to its end, as it is or unpacked: gzip (RFC 1952) and
 * Zstandard (RFC 8878) are told by their first bytes. Memory is bounded whatever the file says: a
 * window of 128 MiB at most, which is what the zstd program writes without --long.
 *
 * A pipe is read as it is or as gzip: its first bytes cannot be looked at beforehand.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"

struct packed_file;

/* 0, or -errno with a diagnosis that names @path. */
int packed_file_open(const char *path, struct packed_file **ret, struct diag *diag);
void packed_file_close(struct packed_file *file); /* NULL is fine */
void packed_file_cleanup(struct packed_file **file);
/*
 * Up to @size bytes, fewer only at the end: their number, 0 at the end; -EIO with a diagnosis,
 * also where what is packed ends too early.
 */
ssize_t packed_file_read(struct packed_file *file, char *buf, size_t size, struct diag *diag);
/* How many bytes of the file, as it is stored, have been read. */
uint64_t packed_file_done(const struct packed_file *file);
