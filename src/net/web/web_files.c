// SPDX-License-Identifier: Apache-2.0
#include "net/web/web_files.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct stat look_at(const char *path)
{
	struct stat at;

	if (stat(path, &at) < 0)
		memset(&at, 0, sizeof(at));
	return at;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mode == b->st_mode && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

int web_files_add(struct web_files *files, const char *path)
{
	char *copy = strdup(path);

	assert(files->count < WEB_FILES_MAX);
	if (!copy)
		return -ENOMEM;
	files->list[files->count++] = (struct web_file){ copy, look_at(path) };
	return 0;
}

int web_files_copy(const struct web_files *files, struct web_files *ret)
{
	struct web_files copy = { .count = files->count };

	for (size_t i = 0; i < files->count; i++) {
		copy.list[i] = (struct web_file){ strdup(files->list[i].path), files->list[i].at };
		if (!copy.list[i].path) {
			web_files_release(&copy);
			return -ENOMEM;
		}
	}
	*ret = copy;
	return 0;
}

bool web_files_look(struct web_files *files)
{
	bool changed = false;

	for (size_t i = 0; i < files->count; i++) {
		const struct stat now = look_at(files->list[i].path);

		changed = changed || !is_same(&files->list[i].at, &now);
		files->list[i].at = now;
	}
	return changed;
}

void web_files_release(struct web_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->list[i].path);
	*files = (struct web_files){ .count = 0 };
}
