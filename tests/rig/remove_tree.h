/* SPDX-License-Identifier: Apache-2.0 */
/* Takes away a directory that a test has filled. */
#pragma once

#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>

static int remove_tree_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* @path and all that is below it; links are removed, not followed. 0, or what nftw() returns. */
static inline int remove_tree(const char *path)
{
	return nftw(path, remove_tree_entry, 16, FTW_DEPTH | FTW_PHYS);
}
