/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of hwmon chips in a temporary directory, as drivers show them. */
#pragma once

#include <errno.h>

#include "fake_tree.h"

/* Writes SYSFS/class/hwmon/NAME, with the directories that it needs. */
static inline void hwmon_put(const struct fake_tree *tree, const char *name, const char *text)
{
	char path[512];
	size_t root = (size_t)snprintf(path, sizeof(path), "%s/", tree->sysfs);
	int fd;

	(void)snprintf(path + root, sizeof(path) - root, "class/hwmon/%s", name);
	for (char *at = strchr(path + root, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
		*at = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(close(fd), 0);
}

/* hwmonN of a driver of today: its name, and the link to its device ("" for none). */
static inline void hwmon_chip(const struct fake_tree *tree, const char *hwmon, const char *name,
			      const char *device)
{
	char path[512], target[128];

	(void)snprintf(path, sizeof(path), "%s/name", hwmon);
	hwmon_put(tree, path, name);
	if (!device[0])
		return;
	(void)snprintf(path, sizeof(path), "%s/class/hwmon/%s/device", tree->sysfs, hwmon);
	(void)snprintf(target, sizeof(target), "../../../devices/%s", device);
	assert_int_equal(symlink(target, path), 0);
}

/* hwmonN of a driver whose files are in the device's directory, where @device leads to. */
static inline void hwmon_old_chip(const struct fake_tree *tree, const char *hwmon, const char *name,
				  const char *device)
{
	char path[512], target[128];

	(void)snprintf(path, sizeof(path), "../../devices/%s/name", device);
	hwmon_put(tree, path, name);
	(void)snprintf(path, sizeof(path), "%s/uevent", hwmon);
	hwmon_put(tree, path, "");
	(void)snprintf(path, sizeof(path), "%s/class/hwmon/%s/device", tree->sysfs, hwmon);
	(void)snprintf(target, sizeof(target), "../../../devices/%s", device);
	assert_int_equal(symlink(target, path), 0);
}

static inline void hwmon_drop(const struct fake_tree *tree, const char *name)
{
	char path[512];

	(void)snprintf(path, sizeof(path), "../hwmon/%s", name);
	tree_drop(tree, path);
}

static inline void hwmon_rename(const struct fake_tree *tree, const char *from, const char *to)
{
	char old_name[256], new_name[256];

	(void)snprintf(old_name, sizeof(old_name), "../hwmon/%s", from);
	(void)snprintf(new_name, sizeof(new_name), "../hwmon/%s", to);
	tree_rename(tree, old_name, new_name);
}
