// SPDX-License-Identifier: Apache-2.0
#include "trial/load_command.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"

#define POLL_NS (10 * NSEC_PER_MSEC)

const struct load_kind load_command = { .name = "command", .unit = "" };
const struct load_kind load_gpu_command = { .name = "gpu", .unit = "" };

__attribute__((noreturn)) static void be_command(const char *command,
						 const struct load_cgroup *cgroup, pid_t parent)
{
	static const int handled[] = { SIGTERM, SIGINT, SIGHUP };
	sigset_t none;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)setpgid(0, 0);
	for (size_t i = 0; i < ARRAY_SIZE(handled); i++)
		(void)signal(handled[i], SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	load_cgroup_join(cgroup);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		_exit(EXIT_FAILURE);
	(void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127); /* as a shell says that it has not found a command */
}

int command_load_start(const char *command, const struct load_cgroup *cgroup,
		       struct command_load *ret)
{
	pid_t parent = getpid();
	sigset_t all, before;

	/*
	 * A signal that comes before the command is executed waits, so that this program's handlers
	 * do not take it. Both processes set the group, since either may be the first to need it.
	 */
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	*ret = (struct command_load){ .cgroup_before_s = load_cgroup_cpu_s(cgroup) };
	ret->pid = fork();
	if (ret->pid == 0)
		be_command(command, cgroup, parent);
	int r = ret->pid < 0 ? -errno : 0;
	if (ret->pid > 0)
		(void)setpgid(ret->pid, ret->pid);
	else
		ret->pid = 0;
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}

static double cpu_seconds(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

/* Has its process ended? It leaves the pid until the stop, so that no other process gets it. */
bool command_load_has_ended(struct command_load *load)
{
	siginfo_t info = { 0 };

	return load->pid > 0 &&
	       waitid(P_PID, (id_t)load->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == load->pid;
}

static void signal_all(const struct command_load *load, const struct load_cgroup *cgroup,
		       int number)
{
	(void)kill(-load->pid, number);
	load_cgroup_signal(cgroup, number);
}

static void wait_for(struct command_load *load, double patience_s)
{
	const struct timespec pause = { 0, (long)POLL_NS };
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(patience_s * (double)NSEC_PER_SEC);

	while (!command_load_has_ended(load) && clock_ns(CLOCK_MONOTONIC) < end_ns)
		(void)nanosleep(&pause, NULL);
}

static void describe(const struct command_load *load, bool was_ended, double ran_s,
		     struct load_result *ret)
{
	if (was_ended)
		(void)snprintf(ret->outcome, sizeof(ret->outcome), "was ended after %.1f s", ran_s);
	else if (WIFSIGNALED(load->status))
		(void)snprintf(ret->outcome, sizeof(ret->outcome),
			       "was killed by signal %d after %.1f s", WTERMSIG(load->status),
			       ran_s);
	else
		(void)snprintf(ret->outcome, sizeof(ret->outcome),
			       "exited with status %d after %.1f s", WEXITSTATUS(load->status),
			       ran_s);
	ret->has_failed = !was_ended && load->status != 0;
}

void command_load_stop(struct command_load *load, const struct load_cgroup *cgroup, double ran_s,
		       double patience_s, struct load_result *ret)
{
	bool was_ended = !command_load_has_ended(load);
	struct rusage usage = { 0 };

	if (load->pid == 0)
		return;
	signal_all(load, cgroup, SIGTERM);
	wait_for(load, patience_s);
	signal_all(load, cgroup, SIGKILL);
	while (wait4(load->pid, &load->status, 0, &usage) < 0 && errno == EINTR)
		;
	double cgroup_s = load_cgroup_cpu_s(cgroup) - load->cgroup_before_s;
	ret->cpu_s = isnan(cgroup_s) ? cpu_seconds(&usage) : cgroup_s;
	describe(load, was_ended, ran_s, ret);
	load->pid = 0;
}
