// SPDX-License-Identifier: Apache-2.0
/*
 * A cgroup id is the 64-bit kernfs id of its directory, which is also its file handle
 * (FILEID_KERNFS, include/linux/exportfs.h): open_by_handle_at() on the mounted hierarchy opens the
 * directory, and /proc/self/fd has its path, without a walk of the tree.
 *
 * Among several hierarchies, one with systemd's slices is used; a controller comes before the v2
 * tree of "hybrid" mode, because runtimes with the cgroupfs driver put containers into the
 * controllers only. Without systemd, it is the first one with sub-groups. In a container only a
 * part of the hierarchy may be mounted. A handle also opens cgroups outside of it, and the kernel
 * reports their paths from the real root.
 */
#include "workload/cgroup/hierarchy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/macro.h"

#define FILEID_KERNFS 0xfe
#define ROOT_ID       1 /* of every hierarchy's root: kernfs gives it to the first node */

struct candidate {
	const char *dir;        /* below the cgroup file system; "" is that itself */
	const char *controller; /* as the kernel names it */
	long magic;
};

/* In order of preference: v2 where it is all, then controllers that systemd enables for units. */
static const struct candidate candidates[] = {
	{ ".", "", CGROUP2_SUPER_MAGIC },
	{ "pids", "pids", CGROUP_SUPER_MAGIC },
	{ "memory", "memory", CGROUP_SUPER_MAGIC },
	{ "devices", "devices", CGROUP_SUPER_MAGIC },
	{ "cpu", "cpu", CGROUP_SUPER_MAGIC },
	{ "cpuacct", "cpuacct", CGROUP_SUPER_MAGIC },
	{ "blkio", "blkio", CGROUP_SUPER_MAGIC },
	{ "cpuset", "cpuset", CGROUP_SUPER_MAGIC },
	{ "freezer", "freezer", CGROUP_SUPER_MAGIC },
	{ "unified", "", CGROUP2_SUPER_MAGIC },
};

enum population { NOT_MOUNTED, EMPTY, HAS_GROUPS, HAS_SLICES };

static bool is_slice(const char *name)
{
	static const char suffix[] = ".slice";
	size_t len = strlen(name);

	return len > sizeof(suffix) - 1 && strcmp(name + len - (sizeof(suffix) - 1), suffix) == 0;
}

/* How useful the hierarchy at @fd is. */
static enum population population_of(int fd)
{
	enum population population = EMPTY;
	const struct dirent *entry;
	DIR *dir = fdopendir(fd);

	if (!dir) {
		(void)close(fd);
		return NOT_MOUNTED;
	}
	while ((entry = readdir(dir)) && population != HAS_SLICES) {
		if (entry->d_name[0] == '.' || entry->d_type != DT_DIR)
			continue;
		population = is_slice(entry->d_name) ? HAS_SLICES : HAS_GROUPS;
	}
	(void)closedir(dir);
	return population;
}

static int open_candidate(int cgroup_fd, const struct candidate *candidate)
{
	CLEANUP_FD int fd = openat(cgroup_fd, candidate->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;

	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &fs) < 0)
		return -errno;
	if (fs.f_type != candidate->magic)
		return -ENODEV;
	return TAKE_FD(fd);
}

static const struct candidate *choose(int cgroup_fd, unsigned *ret_mounted)
{
	const struct candidate *best = NULL;
	enum population best_population = NOT_MOUNTED;

	for (size_t i = 0; i < ARRAY_SIZE(candidates); i++) {
		int fd = open_candidate(cgroup_fd, &candidates[i]);
		enum population population = fd < 0 ? NOT_MOUNTED : population_of(fd);

		*ret_mounted += population != NOT_MOUNTED;
		if (population > best_population) {
			best = &candidates[i];
			best_population = population;
		}
	}
	return best;
}

static int fd_path(int fd, char *buf, size_t size)
{
	char link[64];
	ssize_t len;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, buf, size);
	if (len < 0)
		return -errno;
	if ((size_t)len >= size)
		return -ENAMETOOLONG;
	buf[len] = '\0';
	return (int)len;
}

void hierarchy_open(const char *cgroupfs, struct hierarchy *ret)
{
	CLEANUP_FD int cgroup_fd = open(cgroupfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unsigned mounted = 0;
	const struct candidate *candidate = cgroup_fd < 0 ? NULL : choose(cgroup_fd, &mounted);
	CLEANUP_FD int fd = candidate ? open_candidate(cgroup_fd, candidate) : -1;
	struct stat st;

	*ret = (struct hierarchy){ .fd = -1 };
	if (fd < 0 || fd_path(fd, ret->root, sizeof(ret->root)) < 0)
		return;
	(void)snprintf(ret->controller, sizeof(ret->controller), "%s", candidate->controller);
	ret->is_one_of_several = mounted > 1;
	ret->is_part = fstat(fd, &st) == 0 && st.st_ino != ROOT_ID;
	ret->fd = TAKE_FD(fd);
}

void hierarchy_release(struct hierarchy *hierarchy)
{
	if (hierarchy->fd >= 0)
		(void)close(hierarchy->fd);
	hierarchy->fd = -1;
}

int hierarchy_path(const struct hierarchy *hierarchy, uint64_t id, char *buf, size_t size)
{
	union {
		struct file_handle handle;
		char space[sizeof(struct file_handle) + sizeof(uint64_t)];
	} at = { .handle = { .handle_bytes = sizeof(id), .handle_type = FILEID_KERNFS } };
	size_t root_len = strlen(hierarchy->root);
	CLEANUP_FD int fd = -1;
	int len;

	if (hierarchy->fd < 0)
		return -ENODEV;
	memcpy(at.space + sizeof(struct file_handle), &id, sizeof(id));
	fd = open_by_handle_at(hierarchy->fd, &at.handle, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	len = fd_path(fd, buf, size);
	if (len < 0)
		return len;
	if ((size_t)len < root_len || memcmp(buf, hierarchy->root, root_len) != 0)
		return hierarchy->is_part ? len : -EXDEV;
	len -= (int)root_len;
	memmove(buf, buf + root_len, (size_t)len + 1);
	if (len == 0 && hierarchy->is_part)
		return -EXDEV;
	if (len == 0)
		len = snprintf(buf, size, "/");
	return len;
}

bool hierarchy_has(const struct hierarchy *hierarchy, const char *path)
{
	struct stat st;

	return hierarchy->fd >= 0 && !hierarchy->is_part && path[0] == '/' && path[1] &&
	       fstatat(hierarchy->fd, path + 1, &st, AT_SYMLINK_NOFOLLOW) == 0;
}
