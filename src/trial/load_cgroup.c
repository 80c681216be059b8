// SPDX-License-Identifier: Apache-2.0
#include "trial/load_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"

#define MOUNTS "/proc/self/mounts"
#define SLICE  "system.slice"

static void add_hierarchy(struct load_cgroup *cgroup, const char *mount)
{
	char slice[LOAD_CGROUP_PATH];
	size_t i = cgroup->count;

	if (i == LOAD_CGROUPS_MAX || path_join(slice, sizeof(slice), mount, SLICE) < 0 ||
	    path_join(cgroup->paths[i], LOAD_CGROUP_PATH, slice, LOAD_CGROUP) < 0)
		return;
	cgroup->parent_is_ours[i] = mkdir(slice, 0755) == 0;
	if (mkdir(cgroup->paths[i], 0755) == 0 || errno == EEXIST)
		cgroup->count++;
	else if (cgroup->parent_is_ours[i])
		(void)rmdir(slice);
}

void load_cgroup_make(struct load_cgroup *ret)
{
	*ret = (struct load_cgroup){ 0 };
	FILE *mounts = setmntent(MOUNTS, "re");
	struct mntent entry;
	char text[4096];

	while (mounts && getmntent_r(mounts, &entry, text, sizeof(text)))
		/* A cpuset without CPUs takes no process. */
		if (strcmp(entry.mnt_type, "cgroup2") == 0 ||
		    (strcmp(entry.mnt_type, "cgroup") == 0 && !strstr(entry.mnt_opts, "cpuset")))
			add_hierarchy(ret, entry.mnt_dir);
	if (mounts)
		(void)endmntent(mounts);
}

void load_cgroup_join(const struct load_cgroup *cgroup)
{
	char path[LOAD_CGROUP_PATH + 16];

	for (size_t i = 0; i < cgroup->count; i++) {
		if (path_join(path, sizeof(path), cgroup->paths[i], "cgroup.procs") < 0)
			continue;
		CLEANUP_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
		/* One hierarchy that refuses is enough of a name elsewhere. */
		if (fd >= 0 && write(fd, "0", 1) < 0)
			continue;
	}
}

void load_cgroup_remove(struct load_cgroup *cgroup)
{
	for (size_t i = 0; i < cgroup->count; i++) {
		char *path = cgroup->paths[i];

		(void)rmdir(path);
		*strrchr(path, '/') = '\0';
		if (cgroup->parent_is_ours[i])
			(void)rmdir(path);
	}
	cgroup->count = 0;
}
