/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A short file that is read with a deadline. A driver, a mount or a file system in user space can
 * keep a read waiting for ever, so a process of the file's own reads it. A read that hangs costs
 * its caller the deadline once: until it returns, further calls fail at once.
 */
#pragma once

#include <sys/types.h>
#include <time.h>

#define TIMED_FILE_MAX      128 /* bytes of the text, with its end */
#define TIMED_FILE_LIMIT_MS 2000

struct timed_file;

/* 0 or -errno. */
int timed_file_new(const char *path, struct timed_file **ret);
/*
 * Reads it as read_file_nowait_at() does. -ETIMEDOUT: the read takes longer than
 * TIMED_FILE_LIMIT_MS, or one before still hangs; -EINTR: a signal came meanwhile. What a read
 * returns after its deadline is discarded.
 */
ssize_t timed_file_read(struct timed_file *file, char *buf, size_t size);
/* When it was last written before the last read that succeeded, in s since 1970. */
time_t timed_file_changed(const struct timed_file *file);
/* Takes NULL. A read that hangs is left to its process. */
void timed_file_free(struct timed_file *file);
/* A single read. */
ssize_t timed_file_read_once(const char *path, char *buf, size_t size);
