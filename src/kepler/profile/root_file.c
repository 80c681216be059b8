// SPDX-License-Identifier: Apache-2.0
#include "kepler/profile/root_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macro.h"

/* A pipe or device in place of the file must not be waited for. */
#define HOW_TO_OPEN (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

static int keep_regular(int fd, struct stat *ret)
{
	int r = fd < 0                  ? -errno
		: fstat(fd, ret) < 0    ? -errno
		: S_ISREG(ret->st_mode) ? fd
					: -EINVAL;

	if (fd >= 0 && r < 0)
		(void)close(fd);
	return r;
}

int root_file_open(uint32_t pid, const char *path, struct stat *ret)
{
	const struct open_how how = { .flags = HOW_TO_OPEN, .resolve = RESOLVE_IN_ROOT };
	char root[32];
	CLEANUP_FD int folder = -1;

	(void)snprintf(root, sizeof(root), "/proc/%u/root", pid);
	folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return -errno;
	return keep_regular((int)syscall(SYS_openat2, folder, path, &how, sizeof(how)), ret);
}

int regular_file_open(const char *path, struct stat *ret)
{
	return keep_regular(open(path, HOW_TO_OPEN), ret);
}
