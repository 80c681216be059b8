// SPDX-License-Identifier: Apache-2.0
/*
 * The command is waited for without being reaped at first, because the exporter can read the work
 * of a zombie at once; a reaped process is reported a grace period later.
 */
#include "kepler/stat/stat_child.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"

static const int passed_on[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH };

int stat_child_prepare(struct stat_child *child)
{
	const struct sigaction ignored = { .sa_handler = SIG_IGN };
	sigset_t mask;

	(void)sigemptyset(&mask);
	(void)sigaddset(&mask, SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(passed_on); i++)
		(void)sigaddset(&mask, passed_on[i]);
	if (sigprocmask(SIG_BLOCK, &mask, &child->before) < 0 ||
	    sigaction(SIGPIPE, &ignored, &child->pipe_before) < 0 ||
	    sigaction(SIGCHLD, NULL, &child->child_before) < 0)
		return -errno;
	child->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (child->signal_fd < 0)
		return -errno;
	return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 ? -errno : 0;
}

void stat_child_release(struct stat_child *child)
{
	if (child->signal_fd >= 0)
		(void)close(child->signal_fd);
	child->signal_fd = -1;
}

/* In the new process: the error goes to @fd, which a successful exec closes. */
static void execute(const struct stat_child *child, char *const *argv,
		    const struct phase_pipes *pipes, int fd)
{
	int error;

	if (pipes)
		phase_pipes_take(pipes);
	(void)sigaction(SIGPIPE, &child->pipe_before, NULL);
	(void)sigaction(SIGCHLD, &child->child_before, NULL);
	(void)sigprocmask(SIG_SETMASK, &child->before, NULL);
	(void)execvp(argv[0], argv);
	error = errno;
	if (write(fd, &error, sizeof(error)) != sizeof(error))
		_exit(STAT_CANNOT_EXECUTE);
	_exit(STAT_NOT_FOUND);
}

/* 0, or the errno of exec. */
static int read_error(int fd)
{
	int error = 0;
	ssize_t n;

	do {
		n = read(fd, &error, sizeof(error));
	} while (n < 0 && errno == EINTR);
	return n == sizeof(error) ? error : 0;
}

int stat_child_start(struct stat_child *child, char *const *argv, struct phase_pipes *pipes,
		     struct diag *diag)
{
	/* If a parent or a part of this program ignored it, no child could be waited for. */
	const struct sigaction usual = { .sa_handler = SIG_DFL };
	int fds[2], error;

	(void)sigaction(SIGCHLD, &usual, NULL);
	if ((pipes && phase_pipes_open(pipes) < 0) || pipe2(fds, O_CLOEXEC) < 0)
		return diag_set(diag, STAT_CANNOT_EXECUTE, "cannot start %s: %s", argv[0],
				strerrordesc_np(errno));
	child->has_exited = false;
	child->began_ns = clock_ns(CLOCK_MONOTONIC);
	child->pid = fork();
	if (child->pid == 0)
		execute(child, argv, pipes, fds[1]);
	error = child->pid < 0 ? errno : 0;
	(void)close(fds[1]);
	if (pipes)
		phase_pipes_started(pipes);
	if (child->pid > 0)
		error = read_error(fds[0]);
	(void)close(fds[0]);
	if (!error)
		return 0;
	if (child->pid > 0)
		(void)waitpid(child->pid, NULL, 0);
	child->pid = 0;
	return diag_set(diag, error == ENOENT ? STAT_NOT_FOUND : STAT_CANNOT_EXECUTE,
			"cannot execute %.200s: %s", argv[0],
			error == ENOENT ? "there is no such command" : strerrordesc_np(error));
}

static void note_exit(struct stat_child *child, const siginfo_t *info)
{
	child->has_exited = true;
	child->ended_ns = clock_ns(CLOCK_MONOTONIC);
	child->status = info->si_code == CLD_EXITED ? info->si_status : 128 + info->si_status;
}

/* Orphans end at any time; the command itself is left as a zombie. */
static void look_for_exits(struct stat_child *child)
{
	siginfo_t info = { 0 };

	if (!child->has_exited && child->pid &&
	    waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid)
		note_exit(child, &info);
	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || !info.si_pid ||
		    info.si_pid == child->pid)
			return;
		(void)waitpid(info.si_pid, NULL, WNOHANG);
	}
}

/* A terminal sends its signals to all foreground processes: the command has them already. */
void stat_child_follow(struct stat_child *child)
{
	struct signalfd_siginfo info;

	while (read(child->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD && info.ssi_code != SI_KERNEL && child->pid &&
		    !child->has_exited)
			(void)kill(child->pid, (int)info.ssi_signo);
	}
	look_for_exits(child);
}

static uint64_t ns_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * NSEC_PER_SEC + (uint64_t)time->tv_usec * 1000;
}

static uint64_t children_ns(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_CHILDREN, &usage) < 0)
		return 0;
	return ns_of(&usage.ru_utime) + ns_of(&usage.ru_stime);
}

uint64_t stat_child_reap(struct stat_child *child)
{
	uint64_t now_ns, spent_ns;

	if (child->has_exited && child->pid) {
		(void)waitpid(child->pid, NULL, 0);
		child->pid = 0;
	}
	look_for_exits(child);
	now_ns = children_ns();
	spent_ns = now_ns - child->counted_ns;
	child->counted_ns = now_ns;
	return spent_ns;
}
