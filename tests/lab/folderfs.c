// SPDX-License-Identifier: Apache-2.0
/*
 * folderfs - the files of a folder once more, through FUSE: a disk that hangs while this process is
 * stopped (SIGSTOP), as a dead server of NFS does, and responds again after SIGCONT.
 *
 *   folderfs FOLDER MOUNT     in the foreground; SIGTERM ends it
 *
 * It serves one caller at a time, and has what a program needs that appends, renames and removes.
 */
#define FUSE_USE_VERSION 31

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int root_fd = -1;

/* FUSE has paths that begin with "/". */
static const char *below(const char *path)
{
	return path[1] ? path + 1 : ".";
}

static int result(int r)
{
	return r < 0 ? -errno : 0;
}

static int get_attributes(const char *path, struct stat *ret, struct fuse_file_info *file)
{
	(void)file;
	return result(fstatat(root_fd, below(path), ret, AT_SYMLINK_NOFOLLOW));
}

static int list(const char *path, void *buf, fuse_fill_dir_t fill, off_t offset,
		struct fuse_file_info *file, enum fuse_readdir_flags flags)
{
	int fd = openat(root_fd, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	(void)offset;
	(void)file;
	(void)flags;
	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		(void)fill(buf, entry->d_name, NULL, 0, 0);
	(void)closedir(dir);
	return 0;
}

static int open_file(const char *path, struct fuse_file_info *file)
{
	/* The kernel has made the offset of an append. */
	int fd = openat(root_fd, below(path), (file->flags & ~O_APPEND) | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	file->fh = (uint64_t)fd;
	return 0;
}

static int create_file(const char *path, mode_t mode, struct fuse_file_info *file)
{
	int fd = openat(root_fd, below(path), O_RDWR | O_CREAT | O_CLOEXEC, mode);

	if (fd < 0)
		return -errno;
	file->fh = (uint64_t)fd;
	return 0;
}

static int read_file(const char *path, char *buf, size_t size, off_t offset,
		     struct fuse_file_info *file)
{
	ssize_t len = pread((int)file->fh, buf, size, offset);

	(void)path;
	return len < 0 ? -errno : (int)len;
}

static int write_file(const char *path, const char *buf, size_t size, off_t offset,
		      struct fuse_file_info *file)
{
	ssize_t len = pwrite((int)file->fh, buf, size, offset);

	(void)path;
	return len < 0 ? -errno : (int)len;
}

static int close_file(const char *path, struct fuse_file_info *file)
{
	(void)path;
	return result(close((int)file->fh));
}

static int synchronise(const char *path, int only_data, struct fuse_file_info *file)
{
	(void)path;
	return result(only_data ? fdatasync((int)file->fh) : fsync((int)file->fh));
}

static int cut(const char *path, off_t size, struct fuse_file_info *file)
{
	int fd = file ? (int)file->fh : openat(root_fd, below(path), O_WRONLY | O_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	r = result(ftruncate(fd, size));
	if (!file)
		(void)close(fd);
	return r;
}

static int make_folder(const char *path, mode_t mode)
{
	return result(mkdirat(root_fd, below(path), mode));
}

static int remove_folder(const char *path)
{
	return result(unlinkat(root_fd, below(path), AT_REMOVEDIR));
}

static int remove_file(const char *path)
{
	return result(unlinkat(root_fd, below(path), 0));
}

static int rename_file(const char *from, const char *to, unsigned flags)
{
	return flags ? -EINVAL : result(renameat(root_fd, below(from), root_fd, below(to)));
}

static int set_mode(const char *path, mode_t mode, struct fuse_file_info *file)
{
	(void)file;
	return result(fchmodat(root_fd, below(path), mode, 0));
}

int main(int argc, char **argv)
{
	static const struct fuse_operations operations = {
		.getattr = get_attributes,
		.readdir = list,
		.open = open_file,
		.create = create_file,
		.read = read_file,
		.write = write_file,
		.release = close_file,
		.fsync = synchronise,
		.truncate = cut,
		.mkdir = make_folder,
		.rmdir = remove_folder,
		.unlink = remove_file,
		.rename = rename_file,
		.chmod = set_mode,
	};
	char program[] = "folderfs", foreground[] = "-f", single[] = "-s", option[] = "-o";
	/* Nothing is remembered: each look at a name hangs at once when this process is stopped. */
	char options[] = "allow_other,attr_timeout=0,entry_timeout=0";

	if (argc != 3) {
		(void)fprintf(stderr, "usage: folderfs FOLDER MOUNT\n");
		return 2;
	}
	root_fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0) {
		perror(argv[1]);
		return 1;
	}
	char *args[] = { program, argv[2], foreground, single, option, options, NULL };

	(void)umask(0);
	return fuse_main(6, args, &operations, NULL);
}
