// SPDX-License-Identifier: Apache-2.0
#include "trainers/folder.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "repository/archive.h"

struct files {
	struct archive_file list[ARCHIVE_FILES_MAX]; /* names and data are owned */
	size_t count, bytes;
};

static void files_release(struct files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		free((char *)(uintptr_t)files->list[i].name);
		free((void *)(uintptr_t)files->list[i].data);
	}
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static FTS *open_folder(const char *folder)
{
	char *paths[] = { (char *)(uintptr_t)folder, NULL };

	return fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
}

static int add_file(struct files *files, const char *path, const char *name)
{
	struct archive_file *file = &files->list[files->count];
	char *data = NULL;
	int r;

	if (files->count == ARCHIVE_FILES_MAX || files->bytes > ARCHIVE_TOTAL_MAX)
		return -ENOSPC;
	r = read_file_alloc(path, ARCHIVE_FILE_MAX, &data, &file->len);
	if (r < 0)
		return r;
	file->data = data;
	file->name = strdup(name);
	files->bytes += file->len;
	files->count++;
	return file->name ? 0 : -ENOMEM;
}

static int read_files(FTS *walk, size_t root_len, struct files *ret)
{
	const FTSENT *entry;
	int r = 0;

	while (r == 0 && (entry = fts_read(walk))) {
		if (entry->fts_info == FTS_F)
			r = add_file(ret, entry->fts_path, entry->fts_path + root_len + 1);
		else if (entry->fts_info == FTS_ERR || entry->fts_info == FTS_DNR)
			r = -entry->fts_errno;
	}
	return r;
}

int folder_zip(const char *folder, struct strbuf *out, struct diag *diag)
{
	CLEANUP_FREE struct files *files = calloc(1, sizeof(*files));
	FTS *walk = files ? open_folder(folder) : NULL;
	int r;

	if (!walk)
		return diag_set(diag, files ? -errno : -ENOMEM, "%s: cannot be read: %s", folder,
				strerrordesc_np(files ? errno : ENOMEM));
	r = read_files(walk, strlen(folder), files);
	if (r == 0)
		r = archive_write(files->list, files->count, out);
	(void)fts_close(walk);
	files_release(files);
	return r < 0 ? diag_set(diag, r, "%s: cannot become an archive: %s", folder,
				strerrordesc_np(-r))
		     : 0;
}

int folder_make(char ret[FOLDER_PATH_MAX])
{
	const char *below = getenv("TMPDIR");

	if (snprintf(ret, FOLDER_PATH_MAX, "%s/kepler-train-XXXXXX",
		     below && *below ? below : "/tmp") >= FOLDER_PATH_MAX)
		return -ENAMETOOLONG;
	return mkdtemp(ret) ? 0 : -errno;
}

/* A folder is empty when it is visited for the second time. */
void folder_remove(const char *folder)
{
	FTS *walk = open_folder(folder);
	const FTSENT *entry;

	while (walk && (entry = fts_read(walk))) {
		if (entry->fts_info == FTS_DP)
			(void)rmdir(entry->fts_path);
		else if (entry->fts_info != FTS_D)
			(void)unlink(entry->fts_path);
	}
	if (walk)
		(void)fts_close(walk);
}
