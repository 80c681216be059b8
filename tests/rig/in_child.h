/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a function in a process of its own, because what it does to itself cannot be undone. */
#pragma once

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child's wait status; its exit status is what @body returns, without atexit() work. */
static inline int in_child(int (*body)(const void *), const void *argument)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		_exit(body(argument));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}
