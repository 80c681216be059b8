// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/macro.h"

/*
 * Fills @buf from @fd until end of file; asks for one byte more than fits to tell "full" from
 * "longer".
 */
ssize_t read_fd(int fd, char *buf, size_t size)
{
	size_t len = 0;

	while (len < size) {
		ssize_t n = pread(fd, buf + len, size - len, (off_t)len);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (n == 0) {
			buf[len] = '\0';
			return (ssize_t)len;
		}
		len += (size_t)n;
	}
	return -EFBIG;
}

ssize_t read_file_at(int dirfd, const char *path, char *buf, size_t size)
{
	CLEANUP_FD int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return -errno;
	return read_fd(fd, buf, size);
}

int path_join(char *buf, size_t size, const char *dir, const char *name)
{
	size_t len = strlen(dir);
	const char *slash;
	int n;

	while (len > 1 && dir[len - 1] == '/')
		len--;
	while (*name == '/')
		name++;
	slash = len == 0 || (len == 1 && *dir == '/') ? "" : "/";
	n = snprintf(buf, size, "%.*s%s%s", (int)len, dir, slash, name);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

int read_file_alloc(const char *path, size_t max, char **ret_text, size_t *ret_len)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	CLEANUP_FREE char *text = NULL;
	size_t len = 0, size = 4096;

	if (fd < 0)
		return -errno;
	for (;;) {
		char *bigger = realloc(text, size + 1);
		ssize_t n;

		if (!bigger)
			return -ENOMEM;
		text = bigger;
		n = read(fd, text + len, size - len);
		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (n == 0)
			break;
		len += (size_t)n;
		if (len > max)
			return -EFBIG;
		if (len == size)
			size *= 2;
	}
	text[len] = '\0';
	if (ret_len)
		*ret_len = len;
	*ret_text = TAKE_PTR(text);
	return 0;
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static int write_new(const char *path, const void *data, size_t len, mode_t mode)
{
	CLEANUP_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
	int r;

	if (fd < 0)
		return -errno;
	r = write_all(fd, data, len);
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	return r;
}

int write_file_atomic(const char *path, const void *data, size_t len, mode_t mode)
{
	char new_path[4096];
	int n = snprintf(new_path, sizeof(new_path), "%s.new", path);
	int r;

	if (n < 0 || (size_t)n >= sizeof(new_path))
		return -ENAMETOOLONG;
	r = write_new(new_path, data, len, mode);
	if (r == 0 && rename(new_path, path) < 0)
		r = -errno;
	if (r < 0)
		(void)unlink(new_path); /* the failure that matters is r */
	return r;
}
