// SPDX-License-Identifier: Apache-2.0
#include "workbench/stress_step.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"

#define ARGUMENTS_MAX (16 + 2 * STRESS_LOAD_KEYS_MAX)
#define GRACE_MS      10000 /* for a process that should have ended */

static sigset_t stop_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		(void)sigaddset(&set, numbers[i]);
	return set;
}

void stress_block_signals(void)
{
	sigset_t set = stop_signals();

	(void)sigaddset(&set, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
}

/* The number of a signal of the set that has come until then, or 0. */
static int wait_signal(const sigset_t *set, uint64_t until_ns)
{
	for (;;) {
		uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
		uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
		const struct timespec left = { .tv_sec = (time_t)(left_ns / NSEC_PER_SEC),
					       .tv_nsec = (long)(left_ns % NSEC_PER_SEC) };
		int number = sigtimedwait(set, NULL, &left);

		if (number > 0)
			return number;
		if (errno != EINTR)
			return 0;
	}
}

bool stress_wait(uint64_t ms)
{
	const sigset_t set = stop_signals();

	return wait_signal(&set, clock_ns(CLOCK_MONOTONIC) + ms * NSEC_PER_MSEC) > 0;
}

int stress_program_find(const char *name, char *ret, size_t size)
{
	const char *path = getenv("PATH");

	if (strchr(name, '/'))
		return access(name, X_OK) == 0 && snprintf(ret, size, "%s", name) < (int)size
			       ? 0
			       : -ENOENT;
	for (path = path ? path : "/usr/bin:/bin"; *path;) {
		size_t len = strcspn(path, ":");
		int all = snprintf(ret, size, "%.*s/%s", (int)len, path, name);

		if (all > 0 && (size_t)all < size && access(ret, X_OK) == 0)
			return 0;
		path += len + (path[len] == ':');
	}
	return -ENOENT;
}

/* In the new process: never returns. */
static void become(const struct stress_machine *machine, const struct stress_load *load,
		   uint32_t instance, uint64_t seconds, pid_t parent)
{
	char stressor[STRESS_NAME_MAX + 2], cpu[16], timeout[24];
	char keys[STRESS_LOAD_KEYS_MAX][STRESS_NAME_MAX + 2];
	const char *arguments[ARGUMENTS_MAX];
	sigset_t none;
	size_t count = 0;
	int null = open("/dev/null", O_RDWR);

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE); /* it has ended before that was set */
	(void)snprintf(stressor, sizeof(stressor), "--%s", load->name);
	(void)snprintf(cpu, sizeof(cpu), "%u", instance % machine->cpus);
	(void)snprintf(timeout, sizeof(timeout), "%llus", (unsigned long long)seconds);
	const char *const first[] = {
		machine->program, stressor,       "1",      "--taskset", cpu, "--timeout",
		timeout,          "--aggressive", "--quiet"
	};

	for (size_t i = 0; i < ARRAY_SIZE(first); i++)
		arguments[count++] = first[i];
	for (size_t i = 0; i < load->key_count; i++) {
		(void)snprintf(keys[i], sizeof(keys[i]), "--%s", load->keys[i]);
		arguments[count++] = keys[i];
		arguments[count++] = load->values[i];
	}
	arguments[count] = NULL;
	(void)dup2(null, STDIN_FILENO);
	(void)dup2(null, STDOUT_FILENO);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)execv(machine->program, (char *const *)(uintptr_t)arguments);
	_exit(EXIT_FAILURE);
}

/* Starts the processes in one group, which is returned; 0 where not even the first one starts. */
static pid_t start(const struct stress_machine *machine, const struct stress_step *step,
		   uint64_t seconds, struct stress_outcome *outcome)
{
	pid_t group = 0, parent = getpid();

	for (uint32_t i = 0; i < step->instances; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			(void)setpgid(0, group);
			become(machine, step->load, i, seconds, parent);
		}
		if (pid < 0) {
			outcome->failed++;
			continue;
		}
		/* In both processes, so that it is done whichever runs first. */
		(void)setpgid(pid, group ? group : pid);
		if (!group) {
			group = pid;
			stress_guard_watch(machine->guard, group);
		}
		outcome->started++;
	}
	return group;
}

/* Takes those that have ended; how many. */
static uint32_t reap(pid_t group, struct stress_outcome *outcome)
{
	uint32_t count = 0;
	int status;

	while (waitpid(-group, &status, WNOHANG) > 0) {
		count++;
		outcome->failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	}
	return count;
}

/* Until all have ended; a signal, or the end of their time, ends them. */
static void wait_for_all(pid_t group, uint64_t until_ns, struct stress_outcome *outcome)
{
	sigset_t set = stop_signals();
	uint32_t left = outcome->started;

	(void)sigaddset(&set, SIGCHLD);
	for (left -= reap(group, outcome); left; left -= reap(group, outcome)) {
		int number = wait_signal(&set, until_ns);

		if (number == SIGCHLD)
			continue;
		outcome->was_stopped |= number > 0;
		(void)kill(-group, SIGKILL);
		until_ns = clock_ns(CLOCK_MONOTONIC) + NSEC_PER_SEC;
	}
}

int stress_step_run(const struct stress_machine *machine, const struct stress_step *step,
		    uint64_t step_ms, struct stress_outcome *ret)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + (step_ms + GRACE_MS) * NSEC_PER_MSEC;
	pid_t group;

	*ret = (struct stress_outcome){ 0 };
	if (strcmp(step->load->name, "sleep") == 0) {
		ret->was_stopped = stress_wait(step_ms);
		return 0;
	}
	group = start(machine, step, (step_ms + 999) / 1000, ret);
	if (!group)
		return -EAGAIN;
	wait_for_all(group, until_ns, ret);
	stress_guard_watch(machine->guard, 0);
	return 0;
}
