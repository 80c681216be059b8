// SPDX-License-Identifier: Apache-2.0
#include "trial/load_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"

#define SLICE "system.slice"

static bool join(const char *cgroup)
{
	char path[LOAD_CGROUP_PATH + 16];

	if (path_join(path, sizeof(path), cgroup, "cgroup.procs") < 0)
		return false;
	CLEANUP_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, "0", 1) == 1;
}

/*
 * A cgroup that can be made need not take a process: not a cpuset without CPUs, nor one outside
 * this process's cgroup namespace. A child tries.
 */
static bool takes_processes(const char *cgroup)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(join(cgroup) ? EXIT_SUCCESS : EXIT_FAILURE);
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

/* An open descriptor that holds the lock of @cgroup; -EBUSY: another program has it. */
static int lock(const char *cgroup)
{
	CLEANUP_FD int fd = open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return TAKE_FD(fd);
}

/* 0, also where the hierarchy cannot be used; or -EBUSY. */
static int add_hierarchy(struct load_cgroup *cgroup, const char *mount)
{
	char slice[LOAD_CGROUP_PATH];
	size_t i = cgroup->count;
	int fd = -ENOENT;

	if (i == LOAD_CGROUPS_MAX || path_join(slice, sizeof(slice), mount, SLICE) < 0 ||
	    path_join(cgroup->paths[i], LOAD_CGROUP_PATH, slice, LOAD_CGROUP) < 0)
		return 0;
	cgroup->parent_is_ours[i] = mkdir(slice, 0755) == 0;
	if (mkdir(cgroup->paths[i], 0755) == 0 || errno == EEXIST) {
		fd = lock(cgroup->paths[i]);
		if (fd == -EBUSY)
			return fd;
		if (fd >= 0 && takes_processes(cgroup->paths[i])) {
			cgroup->locks[cgroup->count++] = fd;
			return 0;
		}
		(void)rmdir(cgroup->paths[i]);
		if (fd >= 0)
			(void)close(fd);
	}
	if (cgroup->parent_is_ours[i])
		(void)rmdir(slice);
	return 0;
}

int load_cgroup_make(const char *mounts_path, struct load_cgroup *ret)
{
	*ret = (struct load_cgroup){ 0 };
	FILE *mounts = setmntent(mounts_path, "re");
	struct mntent entry;
	char text[4096];
	int r = 0;

	while (r == 0 && mounts && getmntent_r(mounts, &entry, text, sizeof(text)))
		if (strcmp(entry.mnt_type, "cgroup2") == 0 || strcmp(entry.mnt_type, "cgroup") == 0)
			r = add_hierarchy(ret, entry.mnt_dir);
	if (mounts)
		(void)endmntent(mounts);
	if (r < 0)
		load_cgroup_remove(ret);
	return r;
}

void load_cgroup_join(const struct load_cgroup *cgroup)
{
	/* One hierarchy that refuses later is enough of a name elsewhere. */
	for (size_t i = 0; i < cgroup->count; i++)
		(void)join(cgroup->paths[i]);
}

void load_cgroup_remove(struct load_cgroup *cgroup)
{
	for (size_t i = 0; i < cgroup->count; i++) {
		char *path = cgroup->paths[i];

		(void)rmdir(path);
		(void)close(cgroup->locks[i]);
		*strrchr(path, '/') = '\0';
		if (cgroup->parent_is_ours[i])
			(void)rmdir(path);
	}
	cgroup->count = 0;
}
