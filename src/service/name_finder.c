// SPDX-License-Identifier: Apache-2.0
#include "service/name_finder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/macro.h"
#include "service/privileges.h"

static void write_name(void *userdata, const char *name)
{
	const int *fd = userdata;
	char line[NAME_FINDER_NAME_MAX + 2];
	int len = snprintf(line, sizeof(line), "%s\n", name);

	if (len > 0 && (size_t)len < sizeof(line))
		(void)!write(*fd, line, (size_t)len); /* below PIPE_BUF: all of it, or none */
}

/* Nothing of the parent's is left open but the pipe. */
static int keep_only(int pipe)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		(void)dup2(null, fd);
	if (dup2(pipe, STDERR_FILENO + 1) < 0)
		return -1;
	(void)close_range(STDERR_FILENO + 2, UINT32_MAX, 0);
	return STDERR_FILENO + 1;
}

_Noreturn static void run(const struct address_names_source *source, int pipe)
{
	struct diag unused = { "" };
	sigset_t alarm_only;
	int fd = keep_only(pipe);

	(void)prctl(PR_SET_NAME, "kepler-names", 0, 0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)signal(SIGALRM, SIG_DFL);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)sigemptyset(&alarm_only);
	(void)sigprocmask(SIG_SETMASK, &alarm_only, NULL);
	(void)alarm(NAME_FINDER_LIMIT_S);
	(void)privileges_keep(0, &unused);
	if (fd >= 0)
		address_names_look_up(source, write_name, &fd);
	_exit(0);
}

int name_finder_start(struct name_finder *finder, const struct address_names_source *source,
		      struct diag *diag)
{
	int pipes[2], r = 0;
	pid_t pid;

	*finder = (struct name_finder)NAME_FINDER_INIT;
	if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK) < 0)
		return diag_set(diag, -errno, "no pipe: %s", strerrordesc_np(errno));
	(void)signal(SIGCHLD, SIG_IGN); /* nothing is left of it when it ends */
	pid = fork();
	if (pid == 0)
		run(source, pipes[1]);
	if (pid < 0)
		r = diag_set(diag, -errno, "no process: %s", strerrordesc_np(errno));
	(void)close(pipes[1]);
	if (r < 0)
		(void)close(pipes[0]);
	else
		finder->fd = pipes[0];
	return r;
}

/* A line that is too long is not a name; its rest is read as another line, also not a name. */
const char *name_finder_next(struct name_finder *finder)
{
	while (finder->fd >= 0) {
		char c;
		ssize_t n = read(finder->fd, &c, 1);

		if (n < 0 && errno == EAGAIN)
			return NULL;
		if (n <= 0) {
			name_finder_close(finder);
			return NULL;
		}
		if (c != '\n' && finder->len < NAME_FINDER_NAME_MAX) {
			finder->line[finder->len++] = c;
			continue;
		}
		finder->line[finder->len] = '\0';
		finder->len = 0;
		return finder->line;
	}
	return NULL;
}

void name_finder_close(struct name_finder *finder)
{
	if (finder->fd >= 0)
		(void)close(finder->fd);
	finder->fd = -1;
}
