// SPDX-License-Identifier: Apache-2.0
/*
 * DATA/containers/ID/config.v2.json: Docker rewrites it when a container is renamed, so the file's
 * own stamp shows whether it changed.
 */
#include <errno.h>
#include <stdio.h>

#include "base/macro.h"
#include "runtimes/scan.h"
#include "runtimes/state_dir.h"

static int parse(const char *text, size_t len, const char *id, names_fn *fn, void *userdata)
{
	(void)id; /* the file has the id itself, and scan_put() compares */
	return docker_config_names(text, len, fn, userdata);
}

static int one_container(void *userdata, int dirfd, const char *id, uint64_t inode)
{
	char path[CONTAINER_ID_MAX + 32];
	uint64_t stamp;

	(void)inode;
	(void)snprintf(path, sizeof(path), "%s/config.v2.json", id);
	if (state_dir_stamp(dirfd, path, &stamp) < 0)
		return 0; /* gone, or not written yet */
	return scan_container(userdata, dirfd, path, id, stamp, parse);
}

int scan_docker(struct scan *scan)
{
	const char *data = scan->paths.docker_state ? scan->paths.docker_state : "/var/lib/docker";
	char path[4096];
	int fd CLEANUP_FD = -1, n = snprintf(path, sizeof(path), "%s/containers", data);

	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	fd = scan_open(scan, path);
	return fd < 0 ? fd : state_dir_each(fd, one_container, scan);
}
