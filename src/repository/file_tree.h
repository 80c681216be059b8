/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files below a folder on the disk, or in a zip archive, by the same names: a pipeline can be
 * read in place and as it was downloaded. An archive is held in memory, packed, and checked by
 * archive.h; nothing of it is ever written to the disk. Links are not followed. Paths are below the
 * tree, with "/" between their parts; "" is the tree itself.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define FILE_TREE_ARCHIVE_MAX (256U << 20) /* bytes of an archive, packed */

struct file_tree;

enum file_kind { FILE_TREE_OTHER, FILE_TREE_FOLDER, FILE_TREE_FILE };

struct tree_names {
	char **list; /* [count], by bytes; each once */
	size_t count, size;
};

/*
 * 0; -ENOTDIR: it is neither a folder nor an archive; -EINVAL: the archive is refused; -errno. All
 * with a diagnosis that names @path.
 */
int file_tree_open(const char *path, struct file_tree **ret, struct diag *diag);
void file_tree_free(struct file_tree *tree); /* NULL is fine */
void file_tree_cleanup(struct file_tree **tree);

/* The last part of its path; of an archive without ".zip". */
const char *file_tree_name(const struct file_tree *tree);
/* FILE_TREE_OTHER for a link, and if nothing is there. */
enum file_kind file_tree_kind(const struct file_tree *tree, const char *path);
/* Lists the folder @path, except names that begin with a dot: 0 or -ENOMEM. */
int file_tree_list(const struct file_tree *tree, const char *path, struct tree_names *ret);
void tree_names_release(struct tree_names *names);
/*
 * A number that changes with the file's content, from its size and times; all files of an archive
 * have the same one, as it is held in memory. 0: there is no such file.
 */
uint64_t file_tree_identity(const struct file_tree *tree, const char *path);
/* The file's bytes, terminated, given to the caller: 0, -EFBIG beyond @max, or another -errno. */
int file_tree_read(const struct file_tree *tree, const char *path, size_t max, char **ret,
		   size_t *ret_len);
