// SPDX-License-Identifier: Apache-2.0
#include "record/record_ring.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/macro.h"

#define PREFIX "kepler-"
#define SUFFIX ".krec"

struct ring_file {
	char name[64];
	uint64_t bytes;
	int64_t changed_ms;
};

int record_ring_open_next(struct record_ring *ring, int64_t now_ms, struct diag *diag)
{
	char path[4096];
	int r, fd = -1;

	for (unsigned tries = 0; fd < 0 && tries < 100; tries++) {
		r = snprintf(path, sizeof(path), "%s/" PREFIX "%013lld-%05u" SUFFIX, ring->dir,
			     (long long)now_ms, ++ring->number % 100000);
		if (r < 0 || (size_t)r >= sizeof(path))
			return diag_set(diag, -ENAMETOOLONG, "%s: too long", ring->dir);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	if (fd < 0) {
		r = -errno;
		return diag_set(diag, r, "%s: cannot be made: %s", path, strerrordesc_np(-r));
	}
	return fd;
}

bool record_ring_is_due(const struct record_ring *ring, uint64_t bytes, uint64_t age_ms)
{
	return bytes >= ring->max_bytes / RECORD_RING_PARTS ||
	       age_ms >= ring->keep_ms / RECORD_RING_PARTS;
}

static bool is_ours(const char *name)
{
	size_t len = strlen(name);
	size_t digits = strspn(name + (len > strlen(PREFIX) ? strlen(PREFIX) : len), "0123456789-");

	return len < sizeof(((struct ring_file *)0)->name) &&
	       strncmp(name, PREFIX, strlen(PREFIX)) == 0 && digits > 0 &&
	       strcmp(name + strlen(PREFIX) + digits, SUFFIX) == 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct ring_file *)a)->name, ((const struct ring_file *)b)->name);
}

/* In order of age. Their number, or -errno. */
static int64_t list(DIR *dir, struct ring_file **files)
{
	size_t count = 0, size = 0;
	struct dirent *entry;

	while (count < RECORD_RING_FILES && (entry = readdir(dir))) {
		struct stat info;

		if (!is_ours(entry->d_name) ||
		    fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(info.st_mode))
			continue;
		if (ARRAY_RESERVE(*files, size, count + 1) < 0)
			return -ENOMEM;
		(*files)[count].bytes = (uint64_t)info.st_size;
		(*files)[count].changed_ms =
			(int64_t)info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1000000;
		(void)snprintf((*files)[count++].name, sizeof((*files)->name), "%s", entry->d_name);
	}
	if (count)
		qsort(*files, count, sizeof(**files), by_name);
	return (int64_t)count;
}

int64_t record_ring_trim(const struct record_ring *ring, int64_t now_ms, struct diag *diag)
{
	CLEANUP_FREE struct ring_file *files = NULL;
	DIR *dir = opendir(ring->dir);
	int64_t count = dir ? list(dir, &files) : -errno;
	uint64_t bytes = 0;
	int r = 0;

	for (int64_t i = 0; files && i < count; i++)
		bytes += files[i].bytes;
	for (int64_t i = 0; files && i + 1 < count; i++) {
		bool is_old = now_ms - files[i].changed_ms > (int64_t)ring->keep_ms;

		if (!is_old && bytes <= ring->max_bytes)
			break;
		if (unlinkat(dirfd(dir), files[i].name, 0) < 0 && errno != ENOENT)
			r = -errno;
		else
			bytes -= files[i].bytes;
	}
	if (dir)
		(void)closedir(dir);
	if (count < 0)
		r = (int)count;
	if (r < 0)
		return diag_set(diag, r, "%s: old recordings cannot be removed: %s", ring->dir,
				strerrordesc_np(-r));
	return (int64_t)bytes;
}

int record_ring_look(const char *path, struct record_ring_content *ret, struct diag *diag)
{
	CLEANUP_FREE struct ring_file *files = NULL;
	struct record_ring_content content = { 0 };
	DIR *dir = opendir(path);
	int64_t count = dir ? list(dir, &files) : -errno;

	for (int64_t i = 0; files && i < count; i++) {
		content.files++;
		content.bytes += files[i].bytes;
		if (files[i].changed_ms > content.changed_ms)
			content.changed_ms = files[i].changed_ms;
	}
	if (dir)
		(void)closedir(dir);
	if (count < 0)
		return diag_set(diag, (int)count, "%s: %s", path, strerrordesc_np((int)-count));
	*ret = content;
	return 0;
}

int64_t record_ring_list(const char *path, struct record_ring_file **ret, struct diag *diag)
{
	CLEANUP_FREE struct ring_file *files = NULL;
	struct record_ring_file *listed = NULL;
	DIR *dir = opendir(path);
	int64_t count = dir ? list(dir, &files) : -errno;

	if (dir)
		(void)closedir(dir);
	if (count >= 0)
		listed = calloc((size_t)count + 1, sizeof(*listed));
	if (count >= 0 && !listed)
		count = -ENOMEM;
	if (count < 0)
		return diag_set(diag, (int)count, "%s: %s", path, strerrordesc_np((int)-count));
	for (int64_t i = 0; files && i < count; i++) {
		memcpy(listed[i].name, files[i].name, sizeof(listed[i].name));
		listed[i].begun_ms = strtoll(files[i].name + strlen(PREFIX), NULL, 10);
	}
	*ret = listed;
	return count;
}
