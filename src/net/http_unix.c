// SPDX-License-Identifier: Apache-2.0
/*
 * bind() creates the file with the socket's own mode less the umask; so the mode is set on the
 * socket before and on the file after, and is never wider than intended. It is created under a
 * temporary name and renamed: an old socket stays until the new one listens.
 */
#include "net/http_unix.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/macro.h"

#define NEW_SUFFIX ".new"

const char *http_unix_path(const char *address)
{
	size_t len = strlen(HTTP_UNIX_PREFIX);

	return strncmp(address, HTTP_UNIX_PREFIX, len) == 0 ? address + len : NULL;
}

int http_unix_check(const char *path, struct diag *diag)
{
	size_t len = strlen(path);

	if (path[0] == '/' && path[len - 1] != '/' && len <= HTTP_UNIX_PATH_MAX)
		return 0;
	return diag_set(diag, -EINVAL,
			"\"" HTTP_UNIX_PREFIX "%.200s\": want an absolute path of at most %d bytes",
			path, HTTP_UNIX_PATH_MAX);
}

int http_unix_parse_mode(const char *text, mode_t *ret, struct diag *diag)
{
	size_t digits = strspn(text, "01234567");
	mode_t mode = 0;

	for (size_t i = 0; i < digits && digits <= 4; i++)
		mode = mode * 8 + (mode_t)(text[i] - '0');
	if (text[digits] || digits < 3 || digits > 4 || mode > 0777)
		return diag_set(diag, -EINVAL, "must be an octal mode, 0000 to 0777, not \"%.40s\"",
				text);
	*ret = mode;
	return 0;
}

_Static_assert(HTTP_UNIX_PATH_MAX + sizeof(NEW_SUFFIX) <=
		       sizeof(((struct sockaddr_un *)NULL)->sun_path),
	       "fits");

static struct sockaddr_un address_of(const char *path, const char *suffix)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s%s", path, suffix);
	return address;
}

/* 0 when @path can be taken: nothing is there, or a socket without a listener. */
static int check_place(const char *path, struct diag *diag)
{
	struct sockaddr_un address = address_of(path, "");
	CLEANUP_FD int fd = -1;
	struct stat st;

	if (lstat(path, &st) < 0)
		return 0; /* bind() reports errors of the directory */
	if (!S_ISSOCK(st.st_mode))
		return diag_set(diag, -EEXIST,
				"cannot listen on \"" HTTP_UNIX_PREFIX
				"%.200s\": the path exists and is not a socket",
				path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return diag_set(diag, -errno, "cannot make a socket: %s", strerror(errno));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 &&
	    errno == ECONNREFUSED)
		return 0;
	return diag_set(diag, -EADDRINUSE,
			"cannot listen on \"" HTTP_UNIX_PREFIX
			"%.200s\": another program listens there",
			path);
}

static int make(const char *path, mode_t mode, struct stat *ret_made)
{
	struct sockaddr_un new_ = address_of(path, NEW_SUFFIX);
	CLEANUP_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int r = 0;

	if (fd < 0 || fchmod(fd, mode) < 0)
		return -errno;
	if (lstat(new_.sun_path, ret_made) == 0 && S_ISSOCK(ret_made->st_mode))
		(void)unlink(new_.sun_path); /* left by a process that was killed in between */
	if (bind(fd, (const struct sockaddr *)&new_, sizeof(new_)) < 0)
		return -errno;
	if (chmod(new_.sun_path, mode) < 0 || listen(fd, HTTP_LISTEN_BACKLOG) < 0 ||
	    lstat(new_.sun_path, ret_made) < 0 || rename(new_.sun_path, path) < 0) {
		r = -errno;
		(void)unlink(new_.sun_path);
	}
	return r < 0 ? r : TAKE_FD(fd);
}

int http_unix_listen(const char *path, mode_t mode, struct stat *ret_made, struct diag *diag)
{
	int r = http_unix_check(path, diag);

	if (r == 0)
		r = check_place(path, diag);
	if (r < 0)
		return r;
	r = make(path, mode, ret_made);
	if (r < 0)
		return diag_set(diag, r, "cannot listen on \"" HTTP_UNIX_PREFIX "%.200s\": %s%s",
				path, strerror(-r),
				r == -ENOENT ? "; its directory must exist" : "");
	return r;
}

void http_unix_remove(const char *path, const struct stat *made)
{
	struct stat st;

	if (lstat(path, &st) == 0 && st.st_dev == made->st_dev && st.st_ino == made->st_ino)
		(void)unlink(
			path); /* a directory that is not writable keeps it, as a stale socket */
}
