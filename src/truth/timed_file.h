/* SPDX-License-Identifier: Apache-2.0 */
/* Short files, and folders, that are read with a deadline (truth/timed_call.h). */
#pragma once

#include <sys/types.h>
#include <time.h>

#define TIMED_FILE_MAX 128 /* bytes of the text, with its end */

struct timed_file;

/* 0 or -errno. */
int timed_file_new(const char *path, struct timed_file **ret);
/* Reads it as read_file_nowait_at() does, or fails as timed_call_make() does. */
ssize_t timed_file_read(struct timed_file *file, char *buf, size_t size);
/* When it was last written before the last read that succeeded, in s since 1970. */
time_t timed_file_changed(const struct timed_file *file);
/* Takes NULL. */
void timed_file_free(struct timed_file *file);
/* A single read. */
ssize_t timed_file_read_once(const char *path, char *buf, size_t size);

/* The names in a folder, one after another, each with its '\0'. */
struct timed_names {
	char *text; /* owned */
	size_t len;
};

/* 0 or -errno; timed_names_release() in any case. */
int timed_folder_read(const char *path, struct timed_names *ret);
/* The name after @name, or the first one for NULL; NULL after the last. */
const char *timed_names_next(const struct timed_names *names, const char *name);
void timed_names_release(struct timed_names *names);
