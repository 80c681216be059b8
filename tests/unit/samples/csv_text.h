/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a text, read as the file of a user is. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/macro.h"
#include "samples/sample_input.h"

/* As sample_input_read(). The name in messages is not a file's. */
static inline int csv_text_read(const char *text, size_t size, struct sample_table *ret,
				struct diag *diag)
{
	CLEANUP_FD int fd = memfd_create("rows", MFD_CLOEXEC);
	char path[64];

	if (fd < 0 || write(fd, text, size) != (ssize_t)size)
		abort();
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return sample_input_read(path, ret, diag);
}
