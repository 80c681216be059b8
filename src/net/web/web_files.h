/* SPDX-License-Identifier: Apache-2.0 */
/* A few files, and whether one of them has changed since the last look: replaced, or rewritten. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#define WEB_FILES_MAX 4

/* All zero: none. */
struct web_files {
	struct web_file {
		char *path;
		struct stat at; /* as it was; all zero where it could not be looked at */
	} list[WEB_FILES_MAX];
	size_t count;
};

/* Looks at the file @path, and keeps the path. 0 or -ENOMEM. At most WEB_FILES_MAX. */
int web_files_add(struct web_files *files, const char *path);
/* Copies all of it into *ret. 0 or -ENOMEM. */
int web_files_copy(const struct web_files *files, struct web_files *ret);
/* Looks at all files again; true: one is not as it was. They may be on a mount that hangs. */
bool web_files_look(struct web_files *files);
void web_files_release(struct web_files *files);
