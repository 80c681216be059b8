// SPDX-License-Identifier: Apache-2.0
#include "repository/file_tree.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/macro.h"
#include "repository/archive.h"

#define PATH_SIZE 2048
#define ZIP_END   ".zip"

struct file_tree {
	char *root; /* absolute, without links */
	char name[ARCHIVE_NAME_MAX];
	struct archive *archive; /* NULL: a folder */
	char *bytes;             /* borrowed by the archive */
};

/* ---- opening ---- */

static void take_name(struct file_tree *tree)
{
	const char *slash = strrchr(tree->root, '/');
	size_t len, end = strlen(ZIP_END);

	(void)snprintf(tree->name, sizeof(tree->name), "%s", slash ? slash + 1 : tree->root);
	len = strlen(tree->name);
	if (tree->archive && len > end && strcmp(tree->name + len - end, ZIP_END) == 0)
		tree->name[len - end] = '\0';
}

static int open_archive(struct file_tree *tree, const char *path, struct diag *diag)
{
	size_t len = 0;
	int r = read_file_alloc(tree->root, FILE_TREE_ARCHIVE_MAX, &tree->bytes, &len);

	if (r < 0)
		return diag_set(diag, r, "%s: cannot be read: %s", path, strerrordesc_np(-r));
	if (len < 2 || memcmp(tree->bytes, "PK", 2) != 0)
		return diag_set(diag, -ENOTDIR,
				"%s: must be a folder with pipelines of models, or a zip archive "
				"of one",
				path);
	return archive_open_pipeline(path, tree->bytes, len, &tree->archive, diag);
}

int file_tree_open(const char *path, struct file_tree **ret, struct diag *diag)
{
	CLEANUP(file_tree_cleanup) struct file_tree *tree = calloc(1, sizeof(*tree));
	struct stat st;
	int r = 0;

	if (!tree)
		return diag_set(diag, -ENOMEM, "out of memory");
	tree->root = realpath(path, NULL);
	if (!tree->root || stat(tree->root, &st) < 0)
		return diag_set(diag, -errno, "%s: cannot be opened: %s", path,
				strerrordesc_np(errno));
	if (!S_ISDIR(st.st_mode))
		r = open_archive(tree, path, diag);
	else if (access(tree->root, R_OK | X_OK) < 0)
		r = diag_set(diag, -errno, "%s: cannot be read: %s", path, strerrordesc_np(errno));
	if (r < 0)
		return r;
	take_name(tree);
	*ret = TAKE_PTR(tree);
	return 0;
}

void file_tree_free(struct file_tree *tree)
{
	if (!tree)
		return;
	archive_close(tree->archive);
	free(tree->bytes);
	free(tree->root);
	free(tree);
}

void file_tree_cleanup(struct file_tree **tree)
{
	file_tree_free(*tree);
}

const char *file_tree_name(const struct file_tree *tree)
{
	return tree->name;
}

/* ---- names ---- */

static int add_name(struct tree_names *names, const char *name, size_t len)
{
	if (ARRAY_RESERVE(names->list, names->size, names->count + 1) < 0)
		return -ENOMEM;
	names->list[names->count] = strndup(name, len);
	if (!names->list[names->count])
		return -ENOMEM;
	names->count++;
	return 0;
}

void tree_names_release(struct tree_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->list[i]);
	free(names->list);
	*names = (struct tree_names){ .count = 0 };
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts the files and drops duplicates, such as a folder that an archive has twice. */
static void order(struct tree_names *names)
{
	size_t kept = 0;

	if (names->count)
		qsort(names->list, names->count, sizeof(*names->list), by_bytes);
	for (size_t i = 0; i < names->count; i++) {
		if (kept && strcmp(names->list[kept - 1], names->list[i]) == 0)
			free(names->list[i]);
		else
			names->list[kept++] = names->list[i];
	}
	names->count = kept;
}

/* The part of an archive's file name after @path and a slash, or NULL. */
static const char *below(const char *name, const char *path)
{
	size_t len = strlen(path);

	if (!len)
		return name;
	return strncmp(name, path, len) == 0 && name[len] == '/' ? name + len + 1 : NULL;
}

static int list_archive(const struct file_tree *tree, const char *path, struct tree_names *ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < archive_count(tree->archive); i++) {
		const char *rest = below(archive_name(tree->archive, i), path);

		if (rest && *rest && *rest != '.')
			r = add_name(ret, rest, strcspn(rest, "/"));
	}
	return r;
}

/* A folder that cannot be read has nothing in it. */
static int list_folder(const struct file_tree *tree, const char *path, struct tree_names *ret)
{
	char full[PATH_SIZE];
	const struct dirent *entry;
	DIR *dir = path_join(full, sizeof(full), tree->root, path) == 0 ? opendir(full) : NULL;
	int r = 0;

	while (dir && r == 0 && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.')
			r = add_name(ret, entry->d_name, strlen(entry->d_name));
	}
	if (dir)
		(void)closedir(dir);
	return r;
}

int file_tree_list(const struct file_tree *tree, const char *path, struct tree_names *ret)
{
	struct tree_names names = { .count = 0 };
	int r = tree->archive ? list_archive(tree, path, &names) : list_folder(tree, path, &names);

	if (r < 0) {
		tree_names_release(&names);
		return r;
	}
	order(&names);
	*ret = names;
	return 0;
}

static enum file_kind kind_in_archive(const struct file_tree *tree, const char *path)
{
	if (archive_find(tree->archive, path) != SIZE_MAX)
		return FILE_TREE_FILE;
	for (size_t i = 0; i < archive_count(tree->archive); i++) {
		if (below(archive_name(tree->archive, i), path))
			return FILE_TREE_FOLDER;
	}
	return FILE_TREE_OTHER;
}

enum file_kind file_tree_kind(const struct file_tree *tree, const char *path)
{
	char full[PATH_SIZE];
	struct stat st;

	if (tree->archive)
		return kind_in_archive(tree, path);
	if (path_join(full, sizeof(full), tree->root, path) < 0 || lstat(full, &st) < 0)
		return FILE_TREE_OTHER;
	return S_ISDIR(st.st_mode)   ? FILE_TREE_FOLDER
	       : S_ISREG(st.st_mode) ? FILE_TREE_FILE
				     : FILE_TREE_OTHER;
}

/* ---- files ---- */

static int read_from_archive(const struct file_tree *tree, const char *path, size_t max, char **ret,
			     size_t *ret_len)
{
	CLEANUP_FREE char *text = NULL;
	size_t index = archive_find(tree->archive, path), len;
	int r = index == SIZE_MAX ? -ENOENT : archive_read(tree->archive, index, &text, &len, NULL);

	if (r < 0)
		return r;
	if (len > max)
		return -EFBIG;
	*ret = TAKE_PTR(text);
	*ret_len = len;
	return 0;
}

static uint64_t identity_of(const struct stat *st)
{
	struct {
		uint64_t device, inode, size;
		uint64_t changed_s, changed_ns, written_s, written_ns;
	} facts;
	uint64_t hash;

	memset(&facts, 0, sizeof(facts));
	facts.device = st->st_dev;
	facts.inode = st->st_ino;
	facts.size = (uint64_t)st->st_size;
	facts.written_s = (uint64_t)st->st_mtim.tv_sec;
	facts.written_ns = (uint64_t)st->st_mtim.tv_nsec;
	facts.changed_s = (uint64_t)st->st_ctim.tv_sec;
	facts.changed_ns = (uint64_t)st->st_ctim.tv_nsec;
	hash = hash64_bytes(HASH64_START, (const char *)&facts, sizeof(facts));
	return hash ? hash : 1;
}

uint64_t file_tree_identity(const struct file_tree *tree, const char *path)
{
	char full[PATH_SIZE];
	struct stat st;

	if (tree->archive)
		return archive_find(tree->archive, path) != SIZE_MAX;
	if (path_join(full, sizeof(full), tree->root, path) < 0 || lstat(full, &st) < 0 ||
	    !S_ISREG(st.st_mode))
		return 0;
	return identity_of(&st);
}

int file_tree_read(const struct file_tree *tree, const char *path, size_t max, char **ret,
		   size_t *ret_len)
{
	char full[PATH_SIZE];
	int r;

	if (tree->archive)
		return read_from_archive(tree, path, max, ret, ret_len);
	r = path_join(full, sizeof(full), tree->root, path);
	return r < 0 ? r : read_file_alloc(full, max, ret, ret_len);
}
