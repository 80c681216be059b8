// SPDX-License-Identifier: Apache-2.0
#include "export/file/rotated_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"

#define TAIL_BYTES 65536 /* a line is shorter */

static int fail(const struct rotated_file *file, int error, const char *what, struct diag *diag)
{
	return diag_set(diag, error, "%s: %s: %s", file->path, what, strerrordesc_np(-error));
}

void rotated_file_close(struct rotated_file *file)
{
	if (file->fd >= 0)
		(void)close(file->fd);
	file->fd = -1;
}

/* The size up to the last end of a line: after a power failure, more may follow it. */
static int whole_size(const struct rotated_file *file, uint64_t size, uint64_t *ret)
{
	uint64_t begin = size > TAIL_BYTES ? size - TAIL_BYTES : 0;
	CLEANUP_FREE char *tail = malloc(TAIL_BYTES);
	const char *end;
	ssize_t len;

	if (!tail)
		return -ENOMEM;
	len = pread(file->fd, tail, (size_t)(size - begin), (off_t)begin);
	if (len < 0)
		return -errno;
	end = memrchr(tail, '\n', (size_t)len);
	*ret = end ? begin + (uint64_t)(end + 1 - tail) : begin;
	return 0;
}

static int write_whole(const struct rotated_file *file, const char *bytes, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = write(file->fd, bytes + done, len - done);

		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int rotated_file_open(struct rotated_file *file, struct diag *diag)
{
	struct stat st;
	int r = 0;

	file->fd = open(
		file->path,
		O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW, 0640);
	if (file->fd < 0)
		return fail(file, -errno,
			    errno == ELOOP ? "must not be a symbolic link" : "cannot be opened",
			    diag);
	if (fstat(file->fd, &st) < 0)
		r = -errno;
	else if (!S_ISREG(st.st_mode))
		r = -EINVAL;
	if (r == 0)
		r = whole_size(file, (uint64_t)st.st_size, &file->size);
	if (r == 0 && file->size < (uint64_t)st.st_size &&
	    ftruncate(file->fd, (off_t)file->size) < 0)
		r = -errno;
	if (r == 0 && file->size == 0) {
		r = write_whole(file, file->head, strlen(file->head));
		file->size = strlen(file->head);
	}
	if (r < 0) {
		rotated_file_close(file);
		return fail(file, r, r == -EINVAL ? "is not a regular file" : "cannot be used",
			    diag);
	}
	return 0;
}

static bool name_of(const struct rotated_file *file, unsigned number, char buf[PATH_MAX])
{
	int len = number ? snprintf(buf, PATH_MAX, "%s.%u", file->path, number)
			 : snprintf(buf, PATH_MAX, "%s", file->path);

	return len > 0 && len < PATH_MAX;
}

static int rotate(struct rotated_file *file, struct diag *diag)
{
	char from[PATH_MAX], to[PATH_MAX];

	rotated_file_close(file);
	for (unsigned number = file->max_files; number > 0; number--) {
		if (!name_of(file, number - 1, from) || !name_of(file, number, to))
			return fail(file, -ENAMETOOLONG, "cannot be rotated", diag);
		if (rename(from, to) < 0 && errno != ENOENT)
			return fail(file, -errno, "cannot be rotated", diag);
	}
	if (!file->max_files && unlink(file->path) < 0)
		return fail(file, -errno, "cannot be removed", diag);
	file->rotations++;
	return rotated_file_open(file, diag);
}

/* logrotate and people move files away. */
static bool is_moved(const struct rotated_file *file)
{
	struct stat own, named;

	return fstat(file->fd, &own) < 0 || stat(file->path, &named) < 0 ||
	       own.st_ino != named.st_ino || own.st_dev != named.st_dev ||
	       (uint64_t)own.st_size != file->size;
}

int rotated_file_append(struct rotated_file *file, const char *block, size_t len, struct diag *diag)
{
	int r = 0;

	if (file->fd >= 0 && is_moved(file))
		rotated_file_close(file);
	if (file->fd < 0)
		r = rotated_file_open(file, diag);
	if (r == 0 && file->size + len > file->max_bytes && file->size > strlen(file->head))
		r = rotate(file, diag);
	if (r < 0)
		return r;
	r = write_whole(file, block, len);
	if (r < 0) {
		if (ftruncate(file->fd, (off_t)file->size) < 0)
			rotated_file_close(file); /* its end is found again when it is opened */
		return fail(file, r, "cannot be written", diag);
	}
	file->size += len;
	return 0;
}
