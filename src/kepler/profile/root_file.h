/* SPDX-License-Identifier: Apache-2.0 */
/* Files as a process sees them, which may be in a container. */
#pragma once

#include <stdint.h>
#include <sys/stat.h>

/*
 * Opens a regular file below the root of the process; links are resolved there and lead nowhere
 * else. A descriptor with the file's status in @ret, or -errno.
 */
int root_file_open(uint32_t pid, const char *path, struct stat *ret);
/* A regular file at @path of our own. */
int regular_file_open(const char *path, struct stat *ret);
