/* SPDX-License-Identifier: Apache-2.0 */
/* Small files: read whole, join paths, replace atomically. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Reads @path (relative to directory descriptor @dirfd, or AT_FDCWD) into @buf and terminates it.
 * Returns the length, or -errno; -EFBIG when the file has @size or more bytes. At most size - 1
 * bytes are stored.
 */
ssize_t read_file_at(int dirfd, const char *path, char *buf, size_t size);
/* The same, but a pipe is not waited for: -ESPIPE. */
ssize_t read_file_nowait_at(int dirfd, const char *path, char *buf, size_t size);
/*
 * The same for a name in a folder that others can write: -ENOTSUP for anything other than a regular
 * file, which is not opened. A link could lead to any file, and some devices act when they are
 * opened.
 */
ssize_t read_regular_file(const char *path, char *buf, size_t size);

/*
 * As read_file_at, from the start of an open descriptor (pread at 0 makes sysfs and procfs render).
 */
ssize_t read_fd(int fd, char *buf, size_t size);
/*
 * The same of a file that the kernel renders in one piece, which ends with a newline: an attribute
 * of sysfs, /proc/PID/stat. A read that returns less than it asked for, up to a newline, has
 * returned all of it, so that no second one has to find the end.
 */
ssize_t read_piece_fd(int fd, char *buf, size_t size);

/* Joins with one slash into @buf ("" and NAME: NAME); -ENAMETOOLONG when it does not fit. */
int path_join(char *buf, size_t size, const char *dir, const char *name);

/*
 * Reads all of @path into a new terminated string, up to @max bytes (-EFBIG beyond). Ownership of
 * *ret_text is given. -ENOTSUP for a pipe, which is not waited for.
 */
int read_file_alloc(const char *path, size_t max, char **ret_text, size_t *ret_len);

/*
 * Writes a new file next to @path (NAME.new-XXXXXXXX), fsyncs it, renames it over @path and fsyncs
 * the directory: a crash or a power cut leaves the old file or the new one, never a mix, and when
 * this returns 0 it is the new one. Removes files of this pattern that a killed writer left more
 * than a minute ago. Follows no link and never writes into an existing file. Anything other than a
 * regular file or a link to one, such as a device, is not replaced: -ENOTSUP.
 */
int write_file_atomic(const char *path, const void *data, size_t len, mode_t mode);

/*
 * The same with data that come piece by piece: the file at the path is replaced when all of them
 * are there. Initialise with { .is_open = false }; the path is borrowed until the end.
 */
struct file_replacement {
	bool is_open;
	int dir_fd; /* -1: nothing is renamed, the file at the path is written into */
	int fd;
	const char *name;
	char new_name[NAME_MAX + 1]; /* "": it has its name */
};

/* 0 or -errno, as write_file_atomic(). */
int file_replacement_open(struct file_replacement *ret, const char *path, mode_t mode);
/*
 * The same for a path that a user names: a device, a pipe or a link below /dev (/dev/null,
 * /dev/stdout) is written into, as a shell's ">" does. A link elsewhere may be another user's: what
 * it leads to is never written into, and a link to a device is -ENOTSUP.
 */
int file_output_open(struct file_replacement *ret, const char *path, mode_t mode);
int write_output_file(const char *path, const void *data, size_t len, mode_t mode);
int file_replacement_write(struct file_replacement *file, const void *data, size_t len);
/* Gives it its name, and closes it: 0, or -errno when it does not have it. */
int file_replacement_finish(struct file_replacement *file);
/* Removes what has not got its name; nothing where it is not open. */
void file_replacement_close(struct file_replacement *file);
