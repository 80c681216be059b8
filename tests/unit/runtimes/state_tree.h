/* SPDX-License-Identifier: Apache-2.0 */
/* A made-up root directory in which tests lay out the state of runtimes. */
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/rig/remove_tree.h"
#include "tests/unit/unit.h"

struct state_tree {
	char root[64];
};

static inline void tree_make(struct state_tree *tree)
{
	(void)snprintf(tree->root, sizeof(tree->root), "/tmp/kepler-test-XXXXXX");
	assert_non_null(mkdtemp(tree->root));
}

/* PATH and all below it; "" is the whole tree. */
static inline void tree_remove(const struct state_tree *tree, const char *path)
{
	char full[1024];

	(void)snprintf(full, sizeof(full), "%s%s", tree->root, path);
	(void)remove_tree(full);
}

/* Makes all directories that @path is in. */
static inline void tree_parents(const struct state_tree *tree, const char *path)
{
	char full[1024];

	(void)snprintf(full, sizeof(full), "%s%s", tree->root, path);
	for (char *slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(full, 0755); /* it may be there */
		*slash = '/';
	}
}

static inline void tree_write_bytes(const struct state_tree *tree, const char *path,
				    const void *data, size_t len)
{
	char full[1024];
	int fd;

	tree_parents(tree, path);
	(void)snprintf(full, sizeof(full), "%s%s", tree->root, path);
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), (ssize_t)len);
	assert_int_equal(close(fd), 0);
}

static inline void tree_write(const struct state_tree *tree, const char *path, const char *text)
{
	tree_write_bytes(tree, path, text, strlen(text));
}

static inline void tree_link(const struct state_tree *tree, const char *path, const char *target)
{
	char full[1024];

	tree_parents(tree, path);
	(void)snprintf(full, sizeof(full), "%s%s", tree->root, path);
	assert_int_equal(symlink(target, full), 0);
}

static inline void tree_fifo(const struct state_tree *tree, const char *path)
{
	char full[1024];

	tree_parents(tree, path);
	(void)snprintf(full, sizeof(full), "%s%s", tree->root, path);
	assert_int_equal(mkfifo(full, 0644), 0);
}
