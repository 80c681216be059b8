// SPDX-License-Identifier: Apache-2.0
#include "trial/load_program.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

#define END_S 5

bool load_program_is_installed(const char *name)
{
	const char *at = getenv("PATH");
	char path[512];

	while (at && *at) {
		size_t len = strcspn(at, ":");

		if (snprintf(path, sizeof(path), "%.*s/%s", (int)len, at, name) <
			    (int)sizeof(path) &&
		    access(path, X_OK) == 0)
			return true;
		at += len + (at[len] == ':');
	}
	return false;
}

__attribute__((noreturn)) static void be_program(char *const *argv, int output, pid_t worker)
{
	sigset_t none;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGTERM, SIG_DFL);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == worker && dup2(output, STDOUT_FILENO) >= 0 &&
	    dup2(output, STDERR_FILENO) >= 0)
		(void)execvp(argv[0], argv);
	_exit(EXIT_FAILURE);
}

int load_program_start(char *const *argv, struct load_program *ret)
{
	pid_t worker = getpid();
	int output = memfd_create("kv-output", MFD_CLOEXEC);

	if (output < 0)
		return -errno;
	pid_t pid = fork();
	if (pid == 0)
		be_program(argv, output, worker);
	if (pid < 0) {
		int r = -errno;

		(void)close(output);
		return r;
	}
	*ret = (struct load_program){ pid, output };
	return 0;
}

size_t load_program_stop(struct load_program *program, char *buf, size_t size)
{
	const struct timespec most = { END_S, 0 };
	sigset_t child, before;
	pid_t ended;

	if (program->pid == 0)
		return 0;
	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child, &before);
	(void)kill(program->pid, SIGTERM);
	ended = waitpid(program->pid, NULL, WNOHANG);
	if (ended == 0)
		(void)sigtimedwait(&child, NULL, &most);
	if (ended == 0 && waitpid(program->pid, NULL, WNOHANG) == 0) {
		(void)kill(program->pid, SIGKILL);
		while (waitpid(program->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	ssize_t len = read_fd(program->output, buf, size);
	(void)close(program->output);
	*program = (struct load_program){ 0 };
	return len > 0 ? (size_t)len : 0;
}
