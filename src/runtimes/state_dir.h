/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories of a runtime's state, read without ever leaving them.
 *
 * The path of the directory itself is configured and may have symlinks. Below it every name is
 * untrusted: one component is opened at a time, none of them a symlink, "." or "..", only regular
 * files are read (nothing that could block), and only up to a size.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTAINER_ID_MAX 127
/* Entries of one directory that are read. */
#define STATE_DIR_ENTRIES_MAX 65536

/*
 * Letters, digits, and inside "_.-", which every runtime accepts as an id; 1 to CONTAINER_ID_MAX.
 */
bool container_id_is_valid(const char *id);

/* Descriptor of @root + @path (two strings that are joined as they are), or -errno. */
int state_dir_open(const char *root, const char *path);
/*
 * Opens directory @path ("NAME" or "NAME/NAME…") below @dirfd. -ELOOP or -ENOTDIR: a component is a
 * symlink or a file; -EINVAL: "." or "..", or an empty one.
 */
int state_dir_open_below(int dirfd, const char *path);

/* inode: of the entry; a result other than 0 ends the walk with it. */
typedef int state_dir_fn(void *userdata, int dirfd, const char *name, uint64_t inode);
/*
 * Calls @fn for each subdirectory of @dirfd with a valid container id as its name. -E2BIG: more
 * than STATE_DIR_ENTRIES_MAX entries, the others were not read.
 */
int state_dir_each(int dirfd, state_dir_fn *fn, void *userdata);

/*
 * The file at @path below @dirfd as a new terminated string. -EFBIG: more than @max bytes; -EINVAL:
 * not a regular file.
 */
int state_dir_read(int dirfd, const char *path, size_t max, char **ret_text, size_t *ret_len);
/* Changes when the file does: of its inode, size and times. -errno. */
int state_dir_stamp(int dirfd, const char *path, uint64_t *ret_stamp);
