/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that grows by blocks of lines. Before a block would make it larger than a limit, the file
 * becomes PATH.1, PATH.1 becomes PATH.2 and so on; the oldest one is removed. A block is in it
 * whole, or not at all: what a full disk has taken in part is cut off again. Belongs to one thread.
 */
#pragma once

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

struct rotated_file {
	const char *path; /* borrowed */
	const char *head; /* the first line of each file, or "" */
	uint64_t max_bytes;
	unsigned max_files; /* in addition to PATH */
	int fd;             /* -1: closed */
	uint64_t size;
	uint64_t rotations;
};

/*
 * Opens or makes the file, which must not be a symbolic link; what it contains stays, and an
 * incomplete line at its end is cut off. 0, or -errno with a diagnosis.
 */
int rotated_file_open(struct rotated_file *file, struct diag *diag);
void rotated_file_close(struct rotated_file *file);
/*
 * Appends @len bytes at @block, lines that are whole. It opens the file if that is closed, or if
 * another program has moved it away. 0, or -errno with a diagnosis: nothing of it is in the file.
 */
int rotated_file_append(struct rotated_file *file, const char *block, size_t len,
			struct diag *diag);
