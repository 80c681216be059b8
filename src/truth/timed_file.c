// SPDX-License-Identifier: Apache-2.0
/*
 * A process reads, and not a thread: a file system in user space can keep a read waiting in such a
 * way that not even SIGKILL ends it, and a program with such a thread could not end either.
 */
#include "truth/timed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

struct answer {
	ssize_t len; /* or -errno */
	time_t changed;
	char text[TIMED_FILE_MAX];
};

struct timed_file {
	pid_t pid;
	int fd;       /* of the process: a byte asks it, and it sends an answer */
	bool is_late; /* its answer to the last question has not come */
	time_t changed;
};

static void ignore_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction ignored = { .sa_handler = SIG_IGN };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		(void)sigaction(numbers[i], &ignored, NULL);
}

/* Nothing of the parent stays open, so that no reader of its output waits for this process. */
static void let_go(int fd)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int standard = 0; standard <= STDERR_FILENO; standard++)
		(void)dup2(nothing, standard);
	if (fd > STDERR_FILENO + 1)
		(void)close_range(STDERR_FILENO + 1, (unsigned)fd - 1, 0);
	(void)close_range((unsigned)fd + 1, ~0U, 0);
}

__attribute__((noreturn)) static void answer_questions(const char *path, int fd, pid_t parent)
{
	struct answer answer;
	struct stat status;
	char question;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NAME, "kv-reader");
	ignore_signals();
	let_go(fd);
	while (getppid() == parent && recv(fd, &question, 1, 0) == 1) {
		memset(&answer, 0, sizeof(answer));
		answer.changed = stat(path, &status) == 0 ? status.st_mtime : 0;
		answer.len = read_file_nowait_at(AT_FDCWD, path, answer.text, sizeof(answer.text));
		if (send(fd, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

int timed_file_new(const char *path, struct timed_file **ret)
{
	struct timed_file *file = calloc(1, sizeof(*file));
	pid_t parent = getpid();
	int ends[2];

	if (!file)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		free(file);
		return -errno;
	}
	file->pid = fork();
	if (file->pid == 0)
		answer_questions(path, ends[1], parent);
	int error = errno;
	(void)close(ends[1]);
	file->fd = ends[0];
	if (file->pid < 0) {
		(void)close(file->fd);
		free(file);
		return -error;
	}
	*ret = file;
	return 0;
}

/* 0 when there is an answer, -ETIMEDOUT, -EINTR or another -errno. */
static int wait_for_answer(struct timed_file *file, int limit_ms, struct answer *ret)
{
	struct pollfd ready = { .fd = file->fd, .events = POLLIN };
	int r = poll(&ready, 1, limit_ms);

	if (r <= 0)
		return r < 0 ? -errno : -ETIMEDOUT;
	file->is_late = false;
	ssize_t len = recv(file->fd, ret, sizeof(*ret), MSG_DONTWAIT);
	return len == (ssize_t)sizeof(*ret) ? 0 : -EPIPE;
}

ssize_t timed_file_read(struct timed_file *file, char *buf, size_t size)
{
	struct answer answer = { 0 };

	if (file->is_late && wait_for_answer(file, 0, &answer) < 0)
		return -ETIMEDOUT;
	if (send(file->fd, "?", 1, MSG_NOSIGNAL) != 1)
		return -errno;
	file->is_late = true;
	int r = wait_for_answer(file, TIMED_FILE_LIMIT_MS, &answer);
	if (r < 0)
		return r;
	if (answer.len < 0)
		return answer.len;
	if ((size_t)answer.len >= size)
		return -EFBIG;
	memcpy(buf, answer.text, (size_t)answer.len + 1);
	file->changed = answer.changed;
	return answer.len;
}

time_t timed_file_changed(const struct timed_file *file)
{
	return file->changed;
}

void timed_file_free(struct timed_file *file)
{
	if (!file)
		return;
	(void)close(file->fd);
	(void)kill(file->pid, SIGKILL);
	/* A process in a read that hangs ends with that read, and is then collected by init. */
	if (!file->is_late)
		while (waitpid(file->pid, NULL, 0) < 0 && errno == EINTR)
			;
	free(file);
}

ssize_t timed_file_read_once(const char *path, char *buf, size_t size)
{
	struct timed_file *file = NULL;
	ssize_t len = timed_file_new(path, &file);

	if (file)
		len = timed_file_read(file, buf, size);
	timed_file_free(file);
	return len;
}
