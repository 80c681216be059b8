// SPDX-License-Identifier: Apache-2.0
/* A file that may be packed: it is read in bounded memory, to its end or to a diagnosis. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/macro.h"
#include "samples/packed_file.h"

#define READ_MAX (8U << 20) /* bytes: what follows is more of the same */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(packed_file_cleanup) struct packed_file *file = NULL;
	CLEANUP_FD int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct diag diag = { "" };
	char path[64], block[4096];
	size_t sum = 0;
	ssize_t len;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) != (ssize_t)size || packed_file_open(path, &file, &diag) < 0)
		return 0;
	while (sum < READ_MAX && (len = packed_file_read(file, block, sizeof(block), &diag)) > 0)
		sum += (size_t)len;
	if (sum < READ_MAX && (len < 0) != (diag.text[0] != '\0'))
		abort();
	return 0;
}
