// SPDX-License-Identifier: Apache-2.0
/*
 * openat2(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS) would do the same in one call, but older kernels
 * and the system call filter lack it. A walk with O_NOFOLLOW over names that hold no slash cannot
 * leave the directory either: "..", the only name that leads out, is refused.
 */
#include "runtimes/state_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hostile.h"
#include "base/macro.h"

#define COMPONENT_MAX 255

bool container_id_is_valid(const char *id)
{
	size_t len = strnlen(id, CONTAINER_ID_MAX + 1);

	if (len == 0 || len > CONTAINER_ID_MAX || memchr("._-", id[0], 3))
		return false;
	for (size_t i = 0; i < len; i++) {
		bool alnum = (id[i] >= '0' && id[i] <= '9') || (id[i] >= 'a' && id[i] <= 'z') ||
			     (id[i] >= 'A' && id[i] <= 'Z');

		if (!alnum && !memchr("._-", id[i], 3))
			return false;
	}
	return true;
}

int state_dir_open(const char *root, const char *path)
{
	char full[4096];
	int n = snprintf(full, sizeof(full), "%s%s", root, path), fd;

	if (n < 0 || (size_t)n >= sizeof(full))
		return -ENAMETOOLONG;
	fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Copies the next component of *path and steps over it. */
static int next_component(const char **path, char component[COMPONENT_MAX + 1])
{
	size_t len = strcspn(*path, "/");

	if (len > COMPONENT_MAX)
		return -ENAMETOOLONG;
	memcpy(component, *path, len);
	component[len] = '\0';
	if (len == 0 || strcmp(component, ".") == 0 || strcmp(component, "..") == 0)
		return -EINVAL;
	*path += len + ((*path)[len] == '/');
	return 0;
}

/* Opens all components but the last as directories; the last one goes to @last. */
static int open_parent(int dirfd, const char *path, char last[COMPONENT_MAX + 1])
{
	int fd CLEANUP_FD = fcntl(dirfd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	for (;;) {
		int r = next_component(&path, last), below;

		if (r < 0)
			return r;
		if (*path == '\0')
			return TAKE_FD(fd);
		below = openat(fd, last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below < 0)
			return -errno;
		(void)close(fd);
		fd = below;
	}
}

static int open_below(int dirfd, const char *path, int flags)
{
	char last[COMPONENT_MAX + 1];
	int parent CLEANUP_FD = open_parent(dirfd, path, last);
	int fd;

	if (parent < 0)
		return parent;
	fd = openat(parent, last,
		    flags | O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int state_dir_open_below(int dirfd, const char *path)
{
	return open_below(dirfd, path, O_DIRECTORY);
}

static int walk(DIR *dir, state_dir_fn *fn, void *userdata)
{
	for (unsigned seen = 0; seen <= STATE_DIR_ENTRIES_MAX; seen++) {
		const struct dirent *entry;
		int r;

		errno = 0;
		entry = readdir(dir); // NOLINT(concurrency-mt-unsafe): a DIR of our own
		if (!entry)
			return -errno;
		if ((entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN) ||
		    !container_id_is_valid(entry->d_name))
			continue;
		r = fn(userdata, dirfd(dir), entry->d_name, entry->d_ino);
		if (r != 0)
			return r;
	}
	return -E2BIG;
}

int state_dir_each(int dirfd, state_dir_fn *fn, void *userdata)
{
	int own = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir;
	int r;

	if (own < 0)
		return -errno;
	dir = fdopendir(own); /* has it from then on */
	if (!dir) {
		r = -errno;
		(void)close(own);
		return r;
	}
	r = walk(dir, fn, userdata);
	(void)closedir(dir);
	return r;
}

static int read_all(int fd, char *buf, size_t size, size_t *ret_len)
{
	size_t len = 0;

	while (len < size) {
		ssize_t n = read(fd, buf + len, HOSTILE_LEAST(HOSTILE_READ, size - len));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	if (len == size)
		return -EFBIG; /* it grew while it was read */
	buf[len] = '\0';
	*ret_len = len;
	return 0;
}

int state_dir_read(int dirfd, const char *path, size_t max, char **ret_text, size_t *ret_len)
{
	int fd CLEANUP_FD = open_below(dirfd, path, 0), r;
	char *text CLEANUP_FREE = NULL;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if ((uint64_t)st.st_size > max)
		return -EFBIG;
	text = malloc((size_t)st.st_size + 2);
	if (!text)
		return -ENOMEM;
	r = read_all(fd, text, (size_t)st.st_size + 2, ret_len);
	if (r < 0)
		return r;
	*ret_text = TAKE_PTR(text);
	return 0;
}

int state_dir_stamp(int dirfd, const char *path, uint64_t *ret_stamp)
{
	char last[COMPONENT_MAX + 1];
	int parent CLEANUP_FD = open_parent(dirfd, path, last);
	struct stat st;
	uint64_t stamp;

	if (parent < 0)
		return parent;
	if (fstatat(parent, last, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	stamp = (uint64_t)st.st_ino * 0x9e3779b97f4a7c15ULL; /* 2^64 / golden ratio: spreads */
	stamp = (stamp ^ (uint64_t)st.st_size) * 0x9e3779b97f4a7c15ULL;
	stamp = (stamp ^ (uint64_t)st.st_mtim.tv_sec) * 0x9e3779b97f4a7c15ULL;
	stamp = (stamp ^ (uint64_t)st.st_mtim.tv_nsec) * 0x9e3779b97f4a7c15ULL;
	*ret_stamp = (stamp ^ (uint64_t)st.st_ctim.tv_nsec) + (uint64_t)st.st_ctim.tv_sec;
	return 0;
}
