// SPDX-License-Identifier: Apache-2.0
#include "samples/packed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/macro.h"

#define GZIP_BUFFER (1U << 17)

struct packed_file {
	char *path;
	gzFile gzip; /* also of a file that is not packed */
};

static int open_file(struct packed_file *file, const char *path, struct diag *diag)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return diag_set(diag, -errno, "%.200s: cannot be read: %s", path,
				strerrordesc_np(errno));
	file->path = strdup(path);
	file->gzip = gzdopen(fd, "r");
	if (!file->gzip)
		(void)close(fd);
	if (!file->path || !file->gzip)
		return diag_set(diag, -ENOMEM, "out of memory");
	(void)gzbuffer(file->gzip, GZIP_BUFFER);
	return 0;
}

int packed_file_open(const char *path, struct packed_file **ret, struct diag *diag)
{
	CLEANUP(packed_file_cleanup) struct packed_file *file = calloc(1, sizeof(*file));
	int r = file ? open_file(file, path, diag) : diag_set(diag, -ENOMEM, "out of memory");

	if (r == 0)
		*ret = TAKE_PTR(file);
	return r;
}

void packed_file_close(struct packed_file *file)
{
	if (!file)
		return;
	if (file->gzip)
		(void)gzclose_r(file->gzip); /* errors were seen when it was read */
	free(file->path);
	free(file);
}

void packed_file_cleanup(struct packed_file **file)
{
	packed_file_close(*file);
}

ssize_t packed_file_read(struct packed_file *file, char *buf, size_t size, struct diag *diag)
{
	int len = gzread(file->gzip, buf, (unsigned)size), err;
	const char *what = gzerror(file->gzip, &err);

	/* A stream of gzip that ends too early gives no bytes, and says so. */
	if (len < 0 || (err != Z_OK && err != Z_STREAM_END))
		return diag_set(diag, -EIO, "%.200s: cannot be read: %.100s", file->path,
				err == Z_ERRNO ? strerrordesc_np(errno) : what);
	return len;
}
