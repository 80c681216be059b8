// SPDX-License-Identifier: Apache-2.0
/*
 * A Landlock rule allows and cannot forbid: so all directories of the root except the private ones
 * get a rule that allows reading. libc has no functions for its three calls.
 *
 * Directories are opened without O_DIRECTORY, which would trigger automounters. For a directory
 * rule on a file the kernel returns EINVAL, and EBADFD for a file that is in no file system, such
 * as a memory file.
 */
#include "service/landlock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <linux/landlock.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
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
#define ACCESS_TREE    (ACCESS_WRITE | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR)
#define ACCESS_DEVICE  (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE)
#define ACCESS_SOCKETS (LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_REMOVE_FILE)
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

/* The rules made so far, and the function that decides for each path whether it may be touched. */
struct rules {
	int fd;
	landlock_ask_fn *ask;
	void *userdata;
};

/*
 * 1, also where @path must not be touched; 0 where it is not a directory or does not exist; or
 * -errno.
 */
static int allow(const struct rules *rules, const char *path, uint64_t access)
{
	struct landlock_path_beneath_attr rule = { .allowed_access = access };
	CLEANUP_FD int fd = -1;

	if (rules->ask && !rules->ask(rules->userdata, path))
		return 1;
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : 0;
	rule.parent_fd = fd;
	if (syscall(SYS_landlock_add_rule, rules->fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0)
		return 1;
	return errno == EINVAL || errno == EBADFD ? 0 : -errno;
}

static bool is_private(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(private_folders); i++) {
		if (strcmp(name, private_folders[i]) == 0)
			return true;
	}
	return false;
}

static int allow_reading(const struct rules *rules)
{
	DIR *root = opendir("/");
	struct dirent *entry;
	int r = 0;

	if (!root)
		return -errno;
	while (r >= 0 && (entry = readdir(root))) {
		char path[NAME_MAX + 2];

		(void)snprintf(path, sizeof(path), "/%s", entry->d_name);
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    !is_private(entry->d_name))
			r = allow(rules, path, ACCESS_READ);
	}
	(void)closedir(root);
	return r;
}

/*
 * Allows @path if it is a directory, else the directory that contains it, or would; never the root.
 */
static int allow_folder_of(const struct rules *rules, const char *path)
{
	char folder[PATH_MAX];
	int n = snprintf(folder, sizeof(folder), "%s", path), r;

	if (n < 0 || (size_t)n >= sizeof(folder) || folder[0] != '/')
		return 0;
	do {
		char *slash;

		r = folder[1] ? allow(rules, folder, ACCESS_READ) : 1;
		slash = strrchr(folder, '/');
		slash[slash == folder] = '\0';
	} while (r == 0);
	return r;
}

/* Allows the targets of links, too. */
static int allow_use(const struct rules *rules, const char *path)
{
	int r = allow_folder_of(rules, path);
	char *real;

	if (r < 0 || (rules->ask && !rules->ask(rules->userdata, path)))
		return r;
	real = realpath(path, NULL);
	if (real && strcmp(real, path) != 0)
		r = allow_folder_of(rules, real);
	free(real);
	return r;
}

/* Each by itself: what else is in /dev stays as it is. */
static int allow_devices(const struct rules *rules, const char *prefix)
{
	char pattern[NAME_MAX + 2];
	glob_t found = { 0 };
	int r = 0;

	(void)snprintf(pattern, sizeof(pattern), "%s*", prefix);
	if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0) {
		for (size_t i = 0; r >= 0 && i < found.gl_pathc; i++)
			r = allow(rules, found.gl_pathv[i], ACCESS_DEVICE);
	}
	globfree(&found);
	return r;
}

static int allow_all(const struct rules *rules, const struct landlock_paths *paths,
		     uint64_t truncate)
{
	int r = allow_reading(rules);

	for (size_t i = 0; r >= 0 && i < paths->used_count; i++)
		r = allow_use(rules, paths->used[i]);
	for (size_t i = 0; r >= 0 && i < paths->writable_count; i++)
		r = allow(rules, paths->writable[i], ACCESS_READ | ACCESS_WRITE | truncate);
	for (size_t i = 0; r >= 0 && i < paths->tree_count; i++)
		r = allow(rules, paths->trees[i], ACCESS_READ | ACCESS_TREE | truncate);
	for (size_t i = 0; r >= 0 && i < paths->socket_count; i++)
		r = allow(rules, paths->sockets[i], ACCESS_SOCKETS);
	for (size_t i = 0; r >= 0 && i < LANDLOCK_DEVICES_MAX && paths->devices[i]; i++)
		r = allow_devices(rules, paths->devices[i]);
	return r;
}

int landlock_rules(const struct landlock_paths *paths, landlock_ask_fn *ask, void *userdata,
		   struct diag *diag)
{
	int abi = landlock_abi(), r;
	uint64_t truncate = abi >= 3 ? ACCESS_TRUNCATE : 0;
	struct landlock_ruleset_attr attr = { ACCESS_READ | ACCESS_WRITE | ACCESS_NEVER |
					      truncate };
	CLEANUP_FD int fd = -1;

	if (!abi)
		return diag_set(diag, -EOPNOTSUPP, "the kernel has no Landlock");
	fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (fd < 0)
		return diag_set(diag, -errno, "Landlock cannot create rules: %s",
				strerrordesc_np(errno));
	r = allow_all(&(struct rules){ fd, ask, userdata }, paths, truncate);
	return r < 0 ? diag_set(diag, r, "Landlock rejected a rule: %s", strerrordesc_np(-r))
		     : TAKE_FD(fd);
}

int landlock_enter(int rules_fd, struct diag *diag)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_landlock_restrict_self, rules_fd, 0) < 0)
		return diag_set(diag, -errno, "Landlock cannot confine the process: %s",
				strerrordesc_np(errno));
	return landlock_abi();
}
