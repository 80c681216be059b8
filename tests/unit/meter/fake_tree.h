/* SPDX-License-Identifier: Apache-2.0 */
/* A powercap tree in a temporary directory, whose files tests write, swap and remove. */
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/rig/remove_tree.h"
#include "tests/unit/unit.h"

struct fake_tree {
	char sysfs[64];
};

static inline void tree_path(const struct fake_tree *tree, const char *name, char *buf, size_t size)
{
	int n = snprintf(buf, size, "%s/class/powercap/%s", tree->sysfs, name);

	assert_true(n > 0 && (size_t)n < size);
}

static inline void tree_make(struct fake_tree *tree)
{
	char path[256];

	(void)snprintf(tree->sysfs, sizeof(tree->sysfs), "/tmp/kepler-test-XXXXXX");
	assert_non_null(mkdtemp(tree->sysfs));
	(void)snprintf(path, sizeof(path), "%s/class", tree->sysfs);
	assert_int_equal(mkdir(path, 0755), 0);
	(void)snprintf(path, sizeof(path), "%s/class/powercap", tree->sysfs);
	assert_int_equal(mkdir(path, 0755), 0);
}

static inline void tree_remove(struct fake_tree *tree)
{
	(void)remove_tree(tree->sysfs);
}

static inline void tree_mkdir(const struct fake_tree *tree, const char *name)
{
	char path[512];

	tree_path(tree, name, path, sizeof(path));
	assert_int_equal(mkdir(path, 0755), 0);
}

/* Writes DIR/NAME in place: a reader that has it open gets the new text. */
static inline void tree_write(const struct fake_tree *tree, const char *dir, const char *name,
			      const char *text)
{
	char at[256], path[512];
	int fd;

	(void)snprintf(at, sizeof(at), "%s/%s", dir, name);
	tree_path(tree, at, path, sizeof(path));
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(close(fd), 0);
}

static inline void tree_energy(const struct fake_tree *tree, const char *dir, uint64_t raw_uj)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%lu\n", raw_uj);
	tree_write(tree, dir, "energy_uj", text);
}

static inline void tree_zone_range(const struct fake_tree *tree, const char *dir, const char *name,
				   const char *range, uint64_t raw_uj)
{
	char text[64];

	tree_mkdir(tree, dir);
	(void)snprintf(text, sizeof(text), "%s\n", name);
	tree_write(tree, dir, "name", text);
	tree_write(tree, dir, "max_energy_range_uj", range);
	tree_energy(tree, dir, raw_uj);
}

static inline void tree_zone(const struct fake_tree *tree, const char *dir, const char *name,
			     uint64_t raw_uj)
{
	tree_zone_range(tree, dir, name, "262143328850\n", raw_uj);
}

static inline void tree_link(const struct fake_tree *tree, const char *name, const char *target)
{
	char path[512];

	tree_path(tree, name, path, sizeof(path));
	assert_int_equal(symlink(target, path), 0);
}

static inline void tree_rename(const struct fake_tree *tree, const char *from, const char *to)
{
	char old_path[512], new_path[512];

	tree_path(tree, from, old_path, sizeof(old_path));
	tree_path(tree, to, new_path, sizeof(new_path));
	assert_int_equal(rename(old_path, new_path), 0);
}

static inline void tree_drop(const struct fake_tree *tree, const char *name)
{
	char path[512];

	tree_path(tree, name, path, sizeof(path));
	(void)remove_tree(path);
}
