// SPDX-License-Identifier: Apache-2.0
#include "samples/sample_spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define BUFFER_ROWS 4096
#define DISK_LEFT   (256ULL << 20)

static int failed(const struct sample_spool *spool, int err, struct diag *diag)
{
	return diag_set(diag, err,
			"%.200s: rows that do not fit in memory cannot be kept there: %s; name "
			"another folder with --spool-dir",
			spool->folder, strerrordesc_np(-err));
}

/* Where the file system has no files without names, the name is removed at once. */
static int open_nameless(const char *folder)
{
	char path[300];
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
	(void)snprintf(path, sizeof(path), "%s/kepler-model-XXXXXX", folder);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		(void)unlink(path);
	return fd;
}

int sample_spool_open(struct sample_spool *ret, const char *folder, size_t columns,
		      struct diag *diag)
{
	struct sample_spool spool = { .columns = columns };

	(void)snprintf(spool.folder, sizeof(spool.folder), "%s", folder);
	spool.fd = open_nameless(spool.folder);
	if (spool.fd < 0)
		return failed(&spool, -errno, diag);
	spool.buffer = calloc(BUFFER_ROWS * columns, sizeof(*spool.buffer));
	if (!spool.buffer) {
		(void)close(spool.fd);
		return diag_set(diag, -ENOMEM, "out of memory");
	}
	*ret = spool;
	return 0;
}

int sample_spool_finish(struct sample_spool *spool, struct diag *diag)
{
	const char *at = (const char *)spool->buffer;
	size_t left = spool->buffered * spool->columns * sizeof(double);
	struct statvfs disk;

	if (fstatvfs(spool->fd, &disk) == 0 &&
	    (uint64_t)disk.f_bavail * disk.f_frsize < DISK_LEFT + left)
		return failed(spool, -ENOSPC, diag);
	while (left > 0) {
		ssize_t len = write(spool->fd, at, left);

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return failed(spool, -errno, diag);
		at += len;
		left -= (size_t)len;
	}
	spool->buffered = 0;
	return 0;
}

int sample_spool_add(struct sample_spool *spool, const double *row, struct diag *diag)
{
	memcpy(spool->buffer + spool->buffered * spool->columns, row,
	       spool->columns * sizeof(*row));
	spool->rows++;
	return ++spool->buffered < BUFFER_ROWS ? 0 : sample_spool_finish(spool, diag);
}

int sample_spool_read(const struct sample_spool *spool, uint64_t first, size_t count, double *ret,
		      struct diag *diag)
{
	size_t row = spool->columns * sizeof(double), left = count * row;
	char *at = (char *)ret;
	off_t offset = (off_t)(first * row);

	while (left > 0) {
		ssize_t len = pread(spool->fd, at, left, offset);

		if (len < 0 && errno == EINTR)
			continue;
		if (len <= 0)
			return failed(spool, len < 0 ? -errno : -EIO, diag);
		at += len;
		offset += len;
		left -= (size_t)len;
	}
	return 0;
}

void sample_spool_close(struct sample_spool *spool)
{
	if (spool->buffer)
		(void)close(spool->fd);
	free(spool->buffer);
	*spool = (struct sample_spool){ .fd = -1 };
}
