// SPDX-License-Identifier: Apache-2.0
/*
 * The guard is a child of a child that has ended, so nothing is left to be waited for: the filter
 * of system calls, which comes later, does not allow that. The process that begins it may have
 * threads, so it only makes system calls.
 */
#include "service/file_guard.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEP 'k'

static void wait_and_remove(int fd, const char *path)
{
	char word = 0;

	while (read(fd, &word, 1) < 0 && errno == EINTR)
		;
	if (word != KEEP)
		(void)unlink(path);
	_exit(0);
}

static void begin_child(const int ends[2], const char *path)
{
	pid_t pid;

	(void)close(ends[0]);
	pid = fork();
	if (pid == 0)
		wait_and_remove(ends[1], path);
	_exit(pid < 0);
}

/* 0, or -errno. */
static int begin(const int ends[2], const char *path)
{
	pid_t pid = fork();
	int status = 0;

	if (pid < 0)
		return -errno;
	if (pid == 0)
		begin_child(ends, path);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0 ? 0 : -EAGAIN;
}

int file_guard_begin(struct file_guard *self, const char *path, struct diag *diag)
{
	int ends[2] = { -1, -1 };
	int r = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 ? -errno : 0;

	if (r == 0) {
		r = begin(ends, path);
		(void)close(ends[1]);
	}
	if (r == 0)
		self->fd = ends[0];
	else if (ends[0] >= 0)
		(void)close(ends[0]);
	return r < 0 ? diag_set(diag, r, "cannot guard %.200s: %s", path, strerrordesc_np(-r)) : 0;
}

void file_guard_end(struct file_guard *self, bool keep)
{
	char word = keep ? KEEP : 0;

	if (self->fd < 0)
		return;
	/* A helper that was forked meanwhile may hold this end open: so send a message. */
	if (write(self->fd, &word, 1) == 1)
		while (read(self->fd, &word, 1) < 0 && errno == EINTR)
			; /* until it has ended */
	(void)close(self->fd);
	self->fd = -1;
}
