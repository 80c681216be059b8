// SPDX-License-Identifier: Apache-2.0
#include "workbench/stress_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"

/* Never returns; the status is 0 if all was restored. */
static void guard(int fd, const struct cpu_limits *limits)
{
	pid_t group = 0;

	/* A terminal's signals are for the group of the process that is watched. */
	(void)setsid();
	for (int number = 1; number < SIGRTMIN; number++)
		(void)signal(number, SIG_IGN);
	for (;;) {
		pid_t next;
		ssize_t len = read(fd, &next, sizeof(next));

		if (len == (ssize_t)sizeof(next))
			group = next;
		else if (len >= 0 || errno != EINTR)
			break;
	}
	if (group > 1)
		(void)kill(-group, SIGKILL);
	_exit(cpu_limits_restore(limits) ? EXIT_FAILURE : EXIT_SUCCESS);
}

int stress_guard_start(const struct cpu_limits *limits, struct stress_guard *ret)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		(void)close(ends[1]);
		guard(ends[0], limits);
	}
	(void)close(ends[0]);
	if (pid < 0) {
		int r = -errno;

		(void)close(ends[1]);
		return r;
	}
	*ret = (struct stress_guard){ pid, ends[1] };
	return 0;
}

void stress_guard_watch(struct stress_guard *guard, pid_t group)
{
	/* Writes this small are atomic; without a guard there is no reader. */
	if (write(guard->fd, &group, sizeof(group)) < 0)
		return;
}

int stress_guard_end(struct stress_guard *guard)
{
	int status;
	pid_t pid;

	(void)close(guard->fd);
	do
		pid = waitpid(guard->pid, &status, 0);
	while (pid < 0 && errno == EINTR);
	return pid == guard->pid && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}
