// SPDX-License-Identifier: Apache-2.0
#include "samples/packed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/macro.h"

#define GZIP_BUFFER (1U << 17)
#define WINDOW_LOG  27 /* 128 MiB */

struct packed_file {
	char *path;
	gzFile gzip; /* of what is no Zstandard; NULL: it is */
	/* ---- Zstandard ---- */
	int fd;
	ZSTD_DStream *stream;
	char *stored; /* [stored_size] */
	size_t stored_size;
	ZSTD_inBuffer in;
	uint64_t done;
	bool is_within; /* a frame that has not ended */
};

static int cannot_read(const struct packed_file *file, const char *why, struct diag *diag)
{
	return diag_set(diag, -EIO, "%.200s: cannot be read: %.100s", file->path, why);
}

/* ---- opening ---- */

static bool is_zstd(int fd)
{
	static const unsigned char magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
	unsigned char begin[sizeof(magic)];

	return pread(fd, begin, sizeof(begin), 0) == (ssize_t)sizeof(begin) &&
	       memcmp(begin, magic, sizeof(magic)) == 0;
}

static int open_zstd(struct packed_file *file)
{
	file->stored_size = ZSTD_DStreamInSize();
	file->stored = malloc(file->stored_size);
	file->stream = ZSTD_createDStream();
	if (!file->stored || !file->stream ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(file->stream, ZSTD_d_windowLogMax, WINDOW_LOG)))
		return -ENOMEM;
	file->in.src = file->stored;
	return 0;
}

static int open_gzip(struct packed_file *file)
{
	file->gzip = gzdopen(file->fd, "r");
	if (!file->gzip)
		return -ENOMEM;
	file->fd = -1; /* gzclose_r() closes it */
	(void)gzbuffer(file->gzip, GZIP_BUFFER);
	return 0;
}

int packed_file_open(const char *path, struct packed_file **ret, struct diag *diag)
{
	CLEANUP(packed_file_cleanup) struct packed_file *file = calloc(1, sizeof(*file));
	int r;

	if (!file)
		return diag_set(diag, -ENOMEM, "out of memory");
	file->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (file->fd < 0)
		return diag_set(diag, -errno, "%.200s: cannot be read: %s", path,
				strerrordesc_np(errno));
	file->path = strdup(path);
	r = file->path ? 0 : -ENOMEM;
	if (r == 0)
		r = is_zstd(file->fd) ? open_zstd(file) : open_gzip(file);
	if (r < 0)
		return diag_set(diag, r, "out of memory");
	*ret = TAKE_PTR(file);
	return 0;
}

void packed_file_close(struct packed_file *file)
{
	if (!file)
		return;
	if (file->gzip)
		(void)gzclose_r(file->gzip); /* errors were seen when it was read */
	if (file->fd >= 0)
		(void)close(file->fd);
	(void)ZSTD_freeDStream(file->stream);
	free(file->stored);
	free(file->path);
	free(file);
}

void packed_file_cleanup(struct packed_file **file)
{
	packed_file_close(*file);
}

/* ---- reading ---- */

static ssize_t read_gzip(struct packed_file *file, char *buf, size_t size, struct diag *diag)
{
	int len = gzread(file->gzip, buf, (unsigned)size), err;
	const char *what = gzerror(file->gzip, &err);

	/* A stream of gzip that ends too early gives no bytes, and says so. */
	if (len < 0 || (err != Z_OK && err != Z_STREAM_END))
		return cannot_read(file, err == Z_ERRNO ? strerrordesc_np(errno) : what, diag);
	return len;
}

/* More bytes as they are stored: their number, 0 at the end, -errno. */
static ssize_t refill(struct packed_file *file)
{
	ssize_t len;

	do {
		len = read(file->fd, file->stored, file->stored_size);
	} while (len < 0 && errno == EINTR);
	if (len < 0)
		return -errno;
	file->in.size = (size_t)len;
	file->in.pos = 0;
	file->done += (uint64_t)len;
	return len;
}

static ssize_t read_zstd(struct packed_file *file, char *buf, size_t size, struct diag *diag)
{
	ZSTD_outBuffer out = { .dst = buf, .size = size };

	while (out.pos < size) {
		ssize_t len = file->in.pos < file->in.size ? 1 : refill(file);
		size_t left;

		if (len < 0)
			return cannot_read(file, strerrordesc_np((int)-len), diag);
		if (len == 0 && file->is_within && out.pos == 0)
			return cannot_read(file, "it ends too early", diag);
		if (len == 0)
			break;
		left = ZSTD_decompressStream(file->stream, &out, &file->in);
		if (ZSTD_isError(left))
			return cannot_read(file, ZSTD_getErrorName(left), diag);
		file->is_within = left != 0;
	}
	return (ssize_t)out.pos;
}

ssize_t packed_file_read(struct packed_file *file, char *buf, size_t size, struct diag *diag)
{
	return file->gzip ? read_gzip(file, buf, size, diag) : read_zstd(file, buf, size, diag);
}

uint64_t packed_file_done(const struct packed_file *file)
{
	return file->gzip ? (uint64_t)gzoffset(file->gzip) : file->done;
}
