// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include "base/hostile.h"
#include "base/macro.h"

/*
 * Fills @buf from @fd until end of file, or until a newline ends a short read of @one_piece; asks
 * for one byte more than fits to tell "full" from "longer".
 */
static ssize_t fill(int fd, char *buf, size_t size, bool one_piece)
{
	size_t len = 0;

	while (len < size) {
		size_t asked = HOSTILE_LEAST(HOSTILE_PROC_READ, size - len);
		ssize_t n = pread(fd, buf + len, asked, (off_t)len);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		len += (size_t)n;
		if (n == 0 || (one_piece && (size_t)n < asked && buf[len - 1] == '\n')) {
			buf[len] = '\0';
			return (ssize_t)len;
		}
	}
	return -EFBIG;
}

ssize_t read_fd(int fd, char *buf, size_t size)
{
	return fill(fd, buf, size, false);
}

ssize_t read_piece_fd(int fd, char *buf, size_t size)
{
	return fill(fd, buf, size, true);
}

static ssize_t open_and_read(int dirfd, const char *path, int flags, char *buf, size_t size)
{
	CLEANUP_FD int fd = openat(dirfd, path, flags | O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return -errno;
	return read_fd(fd, buf, size);
}

ssize_t read_file_at(int dirfd, const char *path, char *buf, size_t size)
{
	return open_and_read(dirfd, path, 0, buf, size);
}

/* No extra call is needed to detect a pipe: pread() fails on it. */
ssize_t read_file_nowait_at(int dirfd, const char *path, char *buf, size_t size)
{
	return open_and_read(dirfd, path, O_NONBLOCK, buf, size);
}

ssize_t read_regular_file(const char *path, char *buf, size_t size)
{
	CLEANUP_FD int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char own[32];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOTSUP;
	(void)snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	return read_file_nowait_at(AT_FDCWD, own, buf, size);
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

/*
 * Opening a pipe would wait for a writer, and reading a terminal for input. A device such as
 * /dev/null is fine.
 */
static int open_file(const char *path)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISFIFO(st.st_mode))
		return -ENOTSUP;
	return TAKE_FD(fd);
}

int read_file_alloc(const char *path, size_t max, char **ret_text, size_t *ret_len)
{
	CLEANUP_FD int fd = open_file(path);
	CLEANUP_FREE char *text = NULL;
	size_t len = 0, size = HOSTILE_OR(1, 4096);

	if (fd < 0)
		return fd;
	for (;;) {
		char *bigger = realloc(text, size + 1);
		ssize_t n;

		if (!bigger)
			return -ENOMEM;
		text = bigger;
		n = read(fd, text + len, HOSTILE_LEAST(HOSTILE_READ, size - len));
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
		ssize_t n = write(fd, data, HOSTILE_LEAST(HOSTILE_READ, len));

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

#define NEW_SUFFIX ".new-"
#define NEW_DIGITS 8
/* A file that is being written is younger; an older one was left by a program that was killed. */
#define STALE_S 60

/* Opens the directory that @path lies in; *ret_name is the last part of @path in any case. */
static int open_directory_of(const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	char dir[4096];
	int n = slash ? snprintf(dir, sizeof(dir), "%.*s/", (int)(slash - path), path)
		      : snprintf(dir, sizeof(dir), ".");
	int fd;

	*ret_name = slash ? slash + 1 : path;
	if (n < 0 || (size_t)n >= sizeof(dir))
		return -ENAMETOOLONG;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Removes files that earlier writers of @name left behind in @dir_fd. Errors are ignored. */
static void remove_stale(int dir_fd, const char *name)
{
	size_t len = strlen(name);
	time_t now = time(NULL);
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	struct stat st;

	if (!dir && fd >= 0)
		(void)close(fd);
	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, name, len) != 0 ||
		    strncmp(entry->d_name + len, NEW_SUFFIX, strlen(NEW_SUFFIX)) != 0 ||
		    fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (st.st_mtime < now - STALE_S)
			(void)unlinkat(dir_fd, entry->d_name, 0);
	}
	if (dir)
		(void)closedir(dir);
}

/* Creates a file that did not exist, under an unpredictable name. */
static int create_new(int dir_fd, const char *name, mode_t mode, char new_name[NAME_MAX + 1])
{
	for (int tries = 0; tries < 8; tries++) {
		uint32_t chance = 0;
		int n, fd;

		if (getrandom(&chance, sizeof(chance), GRND_NONBLOCK) < 0)
			chance = (uint32_t)tries; /* early in the boot */
		n = snprintf(new_name, NAME_MAX + 1, "%s" NEW_SUFFIX "%0*x", name, NEW_DIGITS,
			     chance);
		if (n < 0 || n > NAME_MAX)
			return -ENAMETOOLONG;
		fd = openat(dir_fd, new_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
			    mode);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int sync_directory(int dir_fd)
{
	/* EINVAL: the file system has nothing to write for a directory. */
	return fsync(dir_fd) < 0 && errno != EINVAL ? -errno : 0;
}

/* A device, a pipe or a socket; a directory is refused by rename(). */
static bool is_special(const struct stat *st)
{
	return !S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode) && !S_ISLNK(st->st_mode);
}

int file_replacement_open(struct file_replacement *ret, const char *path, mode_t mode)
{
	struct file_replacement own = { .fd = -1 };
	struct stat st;

	own.dir_fd = open_directory_of(path, &own.name);
	if (own.dir_fd < 0)
		return own.dir_fd;
	if (fstatat(own.dir_fd, own.name, &st, 0) == 0 && is_special(&st)) {
		(void)close(own.dir_fd);
		return -ENOTSUP;
	}
	remove_stale(own.dir_fd, own.name);
	own.fd = create_new(own.dir_fd, own.name, mode, own.new_name);
	if (own.fd < 0) {
		(void)close(own.dir_fd);
		return own.fd;
	}
	own.is_open = true;
	*ret = own;
	return 0;
}

int file_output_open(struct file_replacement *ret, const char *path, mode_t mode)
{
	static const char devices[] = "/dev/";
	bool is_link = false, exists;
	struct stat st;
	int fd;

	exists = lstat(path, &st) == 0;
	if (exists)
		is_link = S_ISLNK(st.st_mode) && strncmp(path, devices, strlen(devices)) == 0;
	if (!exists || (!is_special(&st) && !is_link))
		return file_replacement_open(ret, path, mode);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY | (is_link ? 0 : O_NOFOLLOW));
	if (fd < 0)
		return -errno;
	*ret = (struct file_replacement){ .is_open = true, .dir_fd = -1, .fd = fd };
	return 0;
}

int file_replacement_write(struct file_replacement *file, const void *data, size_t len)
{
	return write_all(file->fd, data, len);
}

int file_replacement_finish(struct file_replacement *file)
{
	int r = 0;

	if (file->dir_fd < 0) {
		file_replacement_close(file);
		return 0;
	}
	if (fsync(file->fd) < 0 ||
	    renameat(file->dir_fd, file->new_name, file->dir_fd, file->name) < 0)
		r = -errno;
	if (r == 0) {
		r = sync_directory(file->dir_fd);
		*file->new_name = '\0';
	}
	file_replacement_close(file);
	return r;
}

void file_replacement_close(struct file_replacement *file)
{
	if (!file->is_open)
		return;
	if (*file->new_name)
		(void)unlinkat(file->dir_fd, file->new_name, 0); /* another failure matters */
	(void)close(file->fd);
	if (file->dir_fd >= 0)
		(void)close(file->dir_fd);
	file->is_open = false;
}

/* Writes all of it to a file that was opened with the result @r. */
static int write_whole(struct file_replacement *file, int r, const void *data, size_t len)
{
	if (r != 0)
		return r;
	r = file_replacement_write(file, data, len);
	if (r == 0)
		return file_replacement_finish(file);
	file_replacement_close(file);
	return r;
}

int write_file_atomic(const char *path, const void *data, size_t len, mode_t mode)
{
	struct file_replacement file = { .fd = -1 };
	int r = file_replacement_open(&file, path, mode);

	return write_whole(&file, r, data, len);
}

int write_output_file(const char *path, const void *data, size_t len, mode_t mode)
{
	struct file_replacement file = { .fd = -1 };
	int r = file_output_open(&file, path, mode);

	return write_whole(&file, r, data, len);
}
