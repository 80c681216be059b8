// SPDX-License-Identifier: Apache-2.0
#include "modelling/bench_step.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"

static sigset_t waited_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD };
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		(void)sigaddset(&set, numbers[i]);
	return set;
}

void bench_step_add(struct bench_step *step, const char *format, ...)
{
	va_list values;

	if (step->count == BENCH_WORDS_MAX) {
		step->is_incomplete = true;
		return;
	}
	va_start(values, format);
	if (vasprintf(&step->words[step->count], format, values) < 0) {
		step->words[step->count] = NULL;
		step->is_incomplete = true;
	} else {
		step->count++;
	}
	va_end(values);
}

void bench_step_block_signals(void)
{
	const sigset_t set = waited_signals();

	(void)sigprocmask(SIG_BLOCK, &set, NULL);
}

/* In the new process: never returns. */
static void become(const struct bench_step *step, pid_t parent)
{
	sigset_t none;

	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_FAILURE); /* it has ended before that was set */
	if (step->output) {
		int fd = open(step->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

		if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0) {
			(void)fprintf(stderr, "kepler-model bench: %s: cannot be written: %m\n",
				      step->output);
			_exit(EXIT_FAILURE);
		}
		(void)close(fd);
	}
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	exit(step->run(step->count, step->words, environ));
}

static bool has_ended(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	/* It stays to be waited for. */
	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid;
}

int bench_step_run(struct bench_step *step)
{
	const sigset_t set = waited_signals();
	bool was_stopped = false;
	pid_t pid, parent = getpid();
	int status;

	if (step->is_incomplete) {
		(void)fputs("kepler-model bench: out of memory, or too many options\n", stderr);
		return EXIT_FAILURE;
	}
	(void)fflush(NULL);
	pid = fork();
	if (pid == 0)
		become(step, parent);
	if (pid < 0) {
		(void)fprintf(stderr, "kepler-model bench: cannot start a process: %m\n");
		return EXIT_FAILURE;
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		bool is_asked = sigwaitinfo(&set, NULL) != SIGCHLD;

		if (!is_asked && !(step->companion && has_ended(step->companion)))
			continue;
		was_stopped = true;
		(void)kill(pid, SIGTERM);
	}
	if (was_stopped || !WIFEXITED(status))
		return BENCH_STOPPED;
	return WEXITSTATUS(status);
}

void bench_step_release(struct bench_step *step)
{
	for (int i = 0; i < step->count; i++)
		free(step->words[i]);
	*step = (struct bench_step){ .count = 0 };
}
