// SPDX-License-Identifier: Apache-2.0
/*
 * STATE/io.containerd.runtime.v2.task/NAMESPACE/ID/ is the bundle of each task that runs: written
 * before it starts, never changed, removed when it is deleted. So the inode of its directory shows
 * whether it is the same, and a known container costs no system call of its own. Docker's tasks
 * (namespace moby) have no names here.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "runtimes/scan.h"
#include "runtimes/state_dir.h"

#define TASKS "/io.containerd.runtime.v2.task"

static int one_bundle(void *userdata, int dirfd, const char *id, uint64_t inode)
{
	char path[CONTAINER_ID_MAX + 16];

	(void)snprintf(path, sizeof(path), "%s/config.json", id);
	return scan_container(userdata, dirfd, path, id, inode, containerd_bundle_names);
}

static int one_namespace(void *userdata, int dirfd, const char *name, uint64_t inode)
{
	int fd CLEANUP_FD = -1;

	(void)inode;
	if (strcmp(name, "moby") == 0)
		return 0;
	fd = state_dir_open_below(dirfd, name);
	if (fd < 0)
		return 0; /* gone, or no directory */
	return state_dir_each(fd, one_bundle, userdata);
}

static int scan_state(struct scan *scan, const char *state)
{
	char path[4096];
	int fd CLEANUP_FD = -1, n = snprintf(path, sizeof(path), "%s%s", state, TASKS);

	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	fd = scan_open(scan, path);
	return fd < 0 ? fd : state_dir_each(fd, one_namespace, scan);
}

int scan_containerd(struct scan *scan)
{
	static const char *const states[] = { "/run/containerd", "/run/k3s/containerd",
					      "/var/snap/microk8s/common/run/containerd" };
	int result = -ENOENT;

	if (scan->paths.containerd_state)
		return scan_state(scan, scan->paths.containerd_state);
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		int r = scan_state(scan, states[i]);

		if (r != -ENOENT && (result == -ENOENT || result == 0))
			result = r;
	}
	return result;
}
