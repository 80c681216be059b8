// SPDX-License-Identifier: Apache-2.0
#include "kepler/stat/phase_pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int phase_pipes_init(struct phase_pipes *pipes, const char *regex, struct diag *diag)
{
	char why[128];
	int r = regcomp(&pipes->regex, regex, REG_EXTENDED | REG_NOSUB);

	for (int i = 0; i < PHASE_PIPES; i++)
		pipes->read_fd[i] = pipes->write_fd[i] = -1;
	pipes->has_regex = r == 0;
	if (r == 0)
		return 0;
	(void)regerror(r, &pipes->regex, why, sizeof(why));
	return diag_set(diag, -EINVAL, "phase-regex: %s: %.200s", why, regex);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

void phase_pipes_release(struct phase_pipes *pipes)
{
	if (!pipes->has_regex)
		return;
	for (int i = 0; i < PHASE_PIPES; i++) {
		close_fd(&pipes->read_fd[i]);
		close_fd(&pipes->write_fd[i]);
	}
	regfree(&pipes->regex);
	pipes->has_regex = false;
}

int phase_pipes_open(struct phase_pipes *pipes)
{
	for (int i = 0; i < PHASE_PIPES; i++) {
		int fds[2];

		if (pipe2(fds, O_CLOEXEC) < 0)
			return -errno;
		pipes->read_fd[i] = fds[0];
		pipes->write_fd[i] = fds[1];
		pipes->len[i] = 0;
		if (fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0)
			return -errno;
	}
	return 0;
}

void phase_pipes_started(struct phase_pipes *pipes)
{
	for (int i = 0; i < PHASE_PIPES; i++)
		close_fd(&pipes->write_fd[i]);
}

void phase_pipes_take(const struct phase_pipes *pipes)
{
	for (int i = 0; i < PHASE_PIPES; i++)
		(void)dup2(pipes->write_fd[i], STDOUT_FILENO + i);
}

/* A reader that is gone must not end the measurement. */
static void pass_on(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno != EINTR)
			return;
		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		}
	}
}

static void look_at(struct phase_pipes *pipes, int i, const char *bytes, size_t len)
{
	char *line = pipes->line[i];

	for (size_t at = 0; at < len; at++) {
		if (bytes[at] != '\n') {
			if (pipes->len[i] < PHASE_LINE_MAX - 1)
				line[pipes->len[i]++] = bytes[at];
			continue;
		}
		line[pipes->len[i]] = '\0';
		pipes->len[i] = 0;
		if (regexec(&pipes->regex, line, 0, NULL, 0) == 0)
			pipes->begins(pipes->userdata, line);
	}
}

static void follow(struct phase_pipes *pipes, int i)
{
	char bytes[4096];
	ssize_t n;

	while (pipes->read_fd[i] >= 0) {
		n = read(pipes->read_fd[i], bytes, sizeof(bytes));
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			close_fd(&pipes->read_fd[i]);
			return;
		}
		pass_on(STDOUT_FILENO + i, bytes, (size_t)n);
		look_at(pipes, i, bytes, (size_t)n);
	}
}

void phase_pipes_follow(struct phase_pipes *pipes)
{
	for (int i = 0; i < PHASE_PIPES; i++)
		follow(pipes, i);
}

void phase_pipes_close(struct phase_pipes *pipes)
{
	phase_pipes_follow(pipes);
	for (int i = 0; i < PHASE_PIPES; i++)
		close_fd(&pipes->read_fd[i]);
}
