// SPDX-License-Identifier: Apache-2.0
/*
 * When descriptors run out (-EMFILE, -ENFILE) the budget shrinks to half of the kept ones; slots
 * above it release theirs after their next read. The read that got no descriptor fails and is
 * counted by the caller.
 */
#include "activity/proc_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>

#include "base/file.h"
#include "base/macro.h"

int proc_files_open(const char *procfs, struct proc_files *ret)
{
	struct rlimit limit = { .rlim_cur = 1024 };
	int fd = open(procfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	(void)getrlimit(RLIMIT_NOFILE, &limit);
	*ret = (struct proc_files){
		.dirfd = fd,
		.budget = limit.rlim_cur / 4 > UINT32_MAX ? UINT32_MAX
							  : (uint32_t)(limit.rlim_cur / 4),
	};
	return 0;
}

void proc_files_close(struct proc_files *files)
{
	if (files->dirfd >= 0)
		(void)close(files->dirfd);
	files->dirfd = -1;
}

void proc_files_drop(struct proc_files *files, struct proc_file_slot *slot)
{
	if (slot->fd < 0)
		return;
	(void)close(slot->fd);
	slot->fd = -1;
	files->kept--;
}

static int open_file(struct proc_files *files, uint32_t pid, enum proc_file file)
{
	static const char *const names[] = {
		[PROC_FILE_STAT] = "stat",
		[PROC_FILE_SCHEDSTAT] = "schedstat",
	};
	char path[32];
	int fd;

	(void)snprintf(path, sizeof(path), "%u/%s", pid, names[file]);
	fd = openat(files->dirfd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd >= 0)
		return fd;
	if (errno == EMFILE || errno == ENFILE)
		files->budget = files->kept / 2;
	return -errno;
}

ssize_t proc_files_read(struct proc_files *files, struct proc_file_slot *slot, uint32_t pid,
			enum proc_file file, int keep, char *buf, size_t size)
{
	CLEANUP_FD int fd = -1;
	ssize_t n;

	if (keep && slot->file != file)
		proc_files_drop(files, slot);
	if (slot->fd >= 0 && slot->file == file) {
		n = read_piece_fd(slot->fd, buf, size);
		if (files->kept > files->budget)
			proc_files_drop(files, slot);
		return n;
	}
	fd = open_file(files, pid, file);
	if (fd < 0)
		return fd;
	n = read_piece_fd(fd, buf, size);
	if (n >= 0 && keep && files->kept < files->budget) {
		*slot = (struct proc_file_slot){ .fd = TAKE_FD(fd), .file = file };
		files->kept++;
	}
	return n;
}
