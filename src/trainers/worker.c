// SPDX-License-Identifier: Apache-2.0
/*
 * The server has threads, so that between fork() and exec() only system calls are made; everything
 * else is prepared before.
 */
#include "trainers/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"

#define WORDS_MAX 64
#define NICE_MOST 19

/* A worker uses one thread; the rest of its environment is inherited. */
static const char *const own_environment[] = { "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1" };

static bool is_replaced(const char *variable)
{
	for (size_t i = 0; i < ARRAY_SIZE(own_environment); i++) {
		size_t len = strcspn(own_environment[i], "=") + 1;

		if (strncmp(variable, own_environment[i], len) == 0)
			return true;
	}
	return strncmp(variable, "KEPLER_MODEL_", strlen("KEPLER_MODEL_")) == 0;
}

/* The worker does not get the server's options. NULL: no memory. */
static char **make_environment(void)
{
	size_t count = 0, used = 0;
	char **all;

	while (environ[count])
		count++;
	all = calloc(count + ARRAY_SIZE(own_environment) + 1, sizeof(char *));
	for (size_t i = 0; all && i < count; i++) {
		if (!is_replaced(environ[i]))
			all[used++] = environ[i];
	}
	for (size_t i = 0; all && i < ARRAY_SIZE(own_environment); i++)
		all[used++] = (char *)(uintptr_t)own_environment[i];
	return all;
}

static void limit(__rlimit_resource_t resource, uint64_t most)
{
	const struct rlimit both = { most, most };

	if (most)
		(void)setrlimit(resource, &both);
}

static void take_fd(int fd, int as)
{
	if (fd >= 0 && dup2(fd, as) < 0)
		_exit(EXIT_FAILURE);
}

/* In the new process: never returns. */
static void become(const struct worker_command *command, char *const *argv, char *const *env,
		   int null_fd, pid_t parent)
{
	const struct sched_param idle = { .sched_priority = 0 };
	sigset_t none;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE); /* it has ended before that was set */
	take_fd(command->in_fd >= 0 ? command->in_fd : null_fd, STDIN_FILENO);
	take_fd(command->out_fd, STDOUT_FILENO);
	take_fd(command->err_fd, STDERR_FILENO);
#if !defined(__SANITIZE_ADDRESS__)
	limit(RLIMIT_AS, command->limits.memory_bytes);
#endif
	limit(RLIMIT_CPU, command->limits.cpu_s);
	limit(RLIMIT_FSIZE, command->limits.file_bytes);
	limit(RLIMIT_CORE, 0);
	if (command->limits.only_idle) {
		(void)setpriority(PRIO_PROCESS, 0, NICE_MOST);
		(void)sched_setscheduler(0, SCHED_IDLE, &idle);
	}
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)execve("/proc/self/exe", argv, env);
	_exit(EXIT_FAILURE);
}

pid_t worker_start(const struct worker_command *command, struct diag *diag)
{
	char name[] = "kepler-model", *argv[WORDS_MAX + 2] = { name };
	CLEANUP_FREE char **env = make_environment();
	CLEANUP_FD int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	pid_t pid, parent = getpid();

	for (size_t i = 0; i < WORDS_MAX && command->words[i]; i++)
		argv[i + 1] = command->words[i];
	if (!env || null_fd < 0)
		return diag_set(diag, env ? -errno : -ENOMEM, "cannot start a process: %s",
				strerrordesc_np(env ? errno : ENOMEM));
	(void)fflush(NULL);
	pid = fork();
	if (pid == 0)
		become(command, argv, env, null_fd, parent);
	return pid < 0 ? diag_set(diag, -errno, "cannot start a process: %s",
				  strerrordesc_np(errno))
		       : pid;
}

bool worker_has_ended(pid_t pid, int *ret_status)
{
	pid_t ended = waitpid(pid, ret_status, WNOHANG);

	if (ended < 0)
		*ret_status = -1;
	return ended != 0;
}

void worker_describe_end(int status, char *buf, size_t size)
{
	if (status == -1)
		(void)snprintf(buf, size, "its end is unknown");
	else if (WIFSIGNALED(status))
		(void)snprintf(buf, size, "it was ended by signal %d (%s)", WTERMSIG(status),
			       strsignal(WTERMSIG(status)));
	else
		(void)snprintf(buf, size, "it has ended with status %d", WEXITSTATUS(status));
}
