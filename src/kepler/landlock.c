// SPDX-License-Identifier: Apache-2.0
/*
 * Landlock knows what is allowed, not what is forbidden: all of the root's folders but the private
 * ones are allowed to be read. libc has no functions for its three calls.
 */
#include "kepler/landlock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macro.h"

/* Newer than the headers that this is built with. */
#define ACCESS_TRUNCATE (1ULL << 14) /* version 3, Linux 6.2 */

#define ACCESS_READ     (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define ACCESS_WRITE                                                                               \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |                          \
	 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK)
#define ACCESS_NEVER                                                                               \
	(LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_MAKE_CHAR |                            \
	 LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_FIFO |                              \
	 LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM)

static const char *const private_folders[] = { "home", "root",  "srv",       "boot",
					       "mnt",  "media", "lost+found" };

int landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return abi < 0 ? 0 : (int)abi;
}

static int allow(int ruleset_fd, int dir_fd, const char *path, uint64_t access)
{
	struct landlock_path_beneath_attr rule = { .allowed_access = access };
	CLEANUP_FD int fd = openat(dir_fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == EACCES ? 0 : -errno;
	rule.parent_fd = fd;
	return syscall(SYS_landlock_add_rule, ruleset_fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0
		       ? -errno
		       : 0;
}

/* Does @path lie in the folder @name of the root? Links are followed as far as the path exists. */
static bool lies_in(const char *path, const char *name)
{
	CLEANUP_FREE char *real = realpath(path, NULL);
	const char *from = real ? real : path;
	size_t len = strlen(name);

	return from[0] == '/' && strncmp(from + 1, name, len) == 0 &&
	       (from[1 + len] == '/' || from[1 + len] == '\0');
}

static bool is_private(const char *name, const struct landlock_paths *paths)
{
	bool found = false;

	for (size_t i = 0; !found && i < ARRAY_SIZE(private_folders); i++)
		found = strcmp(name, private_folders[i]) == 0;
	for (size_t i = 0; found && i < paths->used_count; i++)
		found = !lies_in(paths->used[i], name);
	for (size_t i = 0; found && i < paths->writable_count; i++)
		found = !lies_in(paths->writable[i], name);
	return found;
}

static int allow_reading(int ruleset_fd, const struct landlock_paths *paths)
{
	DIR *root = opendir("/");
	struct dirent *entry;
	int r = 0;

	if (!root)
		return -errno;
	while (r == 0 && (entry = readdir(root))) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    !is_private(entry->d_name, paths))
			r = allow(ruleset_fd, dirfd(root), entry->d_name, ACCESS_READ);
	}
	(void)closedir(root);
	return r;
}

static int allow_all(int ruleset_fd, const struct landlock_paths *paths, uint64_t truncate)
{
	int r = allow_reading(ruleset_fd, paths);

	for (size_t i = 0; r == 0 && i < paths->writable_count; i++)
		r = allow(ruleset_fd, AT_FDCWD, paths->writable[i],
			  ACCESS_READ | ACCESS_WRITE | truncate);
	return r;
}

int landlock_enter(const struct landlock_paths *paths, struct diag *diag)
{
	int abi = landlock_abi(), r;
	uint64_t truncate = abi >= 3 ? ACCESS_TRUNCATE : 0;
	struct landlock_ruleset_attr attr = { ACCESS_READ | ACCESS_WRITE | ACCESS_NEVER |
					      truncate };
	CLEANUP_FD int ruleset_fd = -1;

	if (!abi)
		return diag_set(diag, -EOPNOTSUPP, "the kernel has no Landlock");
	ruleset_fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (ruleset_fd < 0)
		return diag_set(diag, -errno, "Landlock takes no rules: %s",
				strerrordesc_np(errno));
	r = allow_all(ruleset_fd, paths, truncate);
	if (r == 0 && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		       syscall(SYS_landlock_restrict_self, ruleset_fd, 0) < 0))
		r = -errno;
	return r < 0 ? diag_set(diag, r, "Landlock refuses: %s", strerrordesc_np(-r)) : abi;
}
