// SPDX-License-Identifier: Apache-2.0
#include "kepler/profile/held_command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"

/* Signals are blocked in this process only, which reads them from a descriptor. */
static _Noreturn void run_child(int go_fd, int error_fd, char *const *argv, const sigset_t *signals,
				const struct sigaction *of_children)
{
	char byte;
	int err;

	if (read(go_fd, &byte, 1) != 1)
		_exit(126); /* measuring did not begin */
	(void)sigprocmask(SIG_SETMASK, signals, NULL);
	(void)sigaction(SIGCHLD, of_children, NULL);
	(void)execvp(argv[0], argv);
	err = errno;
	(void)!write(error_fd, &err, sizeof(err));
	_exit(127);
}

int held_command_start(struct held_command *command, char *const *argv, struct diag *diag)
{
	int go[2], error[2];
	struct sigaction of_children;
	sigset_t signals;

	(void)sigprocmask(SIG_SETMASK, NULL, &signals);
	(void)sigaction(SIGCHLD, NULL, &of_children);
	if (pipe2(go, O_CLOEXEC) < 0)
		return diag_set(diag, -errno, "%s: %s", argv[0], strerrordesc_np(errno));
	if (pipe2(error, O_CLOEXEC) < 0) {
		(void)close(go[0]);
		(void)close(go[1]);
		return diag_set(diag, -errno, "%s: %s", argv[0], strerrordesc_np(errno));
	}
	command->pid = fork();
	if (command->pid == 0) {
		(void)close(go[1]);
		run_child(go[0], error[1], argv, &signals, &of_children);
	}
	(void)close(go[0]);
	(void)close(error[1]);
	command->go_fd = go[1];
	command->error_fd = error[0];
	if (command->pid < 0)
		return diag_set(diag, -errno, "%s: %s", argv[0], strerrordesc_np(errno));
	command->pid_fd = (int)syscall(SYS_pidfd_open, command->pid, 0);
	return command->pid_fd < 0
		       ? diag_set(diag, -errno, "%s: %s", argv[0], strerrordesc_np(errno))
		       : 0;
}

int held_command_release(struct held_command *command, char *const *argv, struct diag *diag)
{
	const struct sigaction usual = { .sa_handler = SIG_DFL };
	int err = 0;

	/* While it is ignored, as helpers of the measurement have set it, the status is lost. */
	(void)sigaction(SIGCHLD, &usual, NULL);
	(void)!write(command->go_fd, "", 1);
	(void)close(command->go_fd);
	command->go_fd = -1;
	/* The other end is closed by exec. */
	if (read(command->error_fd, &err, sizeof(err)) == sizeof(err))
		return diag_set(diag, -err, "%s: %s", argv[0], strerrordesc_np(err));
	return 0;
}

int held_command_wait(struct held_command *command)
{
	int status = 0;

	while (waitpid(command->pid, &status, 0) < 0) {
		if (errno != EINTR)
			return EXIT_FAILURE;
	}
	command->pid = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void held_command_close(struct held_command *command)
{
	if (command->go_fd >= 0)
		(void)close(command->go_fd); /* it ends by itself */
	if (command->pid > 0 && command->go_fd >= 0)
		(void)held_command_wait(command);
	if (command->error_fd >= 0)
		(void)close(command->error_fd);
	if (command->pid_fd >= 0)
		(void)close(command->pid_fd);
}
