/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file or a pipe that is read from its beginning to its end, as it is or unpacked: gzip (RFC
 * 1952) is recognised by its first bytes.
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
 * also if the packed bytes end too early.
 */
ssize_t packed_file_read(struct packed_file *file, char *buf, size_t size, struct diag *diag);
