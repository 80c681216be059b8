// SPDX-License-Identifier: Apache-2.0
/*
 * A process, and not a thread: a file system in user space can keep a read waiting in such a way
 * that not even SIGKILL ends it, and a program with such a thread could not end either.
 */
#include "base/timed_call.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

struct timed_call {
	pid_t pid;
	int fd;       /* of the process: a byte asks it, and it sends a result */
	bool is_late; /* the result of the last call has not come */
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

__attribute__((noreturn)) static void execute_calls(timed_call_fn *call, void *state, int fd,
						    pid_t parent)
{
	static _Alignas(max_align_t) char bytes[TIMED_CALL_MAX];
	char question;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NAME, "timed-reader");
	ignore_signals();
	let_go(fd);
	while (getppid() == parent && recv(fd, &question, 1, 0) == 1) {
		ssize_t len = call(state, bytes);
		struct iovec parts[] = { { &len, sizeof(len) },
					 { bytes, len > 0 ? (size_t)len : 0 } };
		const struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

		if (sendmsg(fd, &message, MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

int timed_call_new(timed_call_fn *call, void *state, struct timed_call **ret)
{
	struct timed_call *timed = calloc(1, sizeof(*timed));
	pid_t parent = getpid();
	int ends[2];

	if (!timed)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		free(timed);
		return -errno;
	}
	timed->pid = fork();
	if (timed->pid == 0)
		execute_calls(call, state, ends[1], parent);
	int error = errno;
	(void)close(ends[1]);
	timed->fd = ends[0];
	if (timed->pid < 0) {
		(void)close(timed->fd);
		free(timed);
		return -error;
	}
	*ret = timed;
	return 0;
}

/* The length of the result when there is one, -ETIMEDOUT, -EINTR or another -errno. */
static ssize_t wait_for_result(struct timed_call *timed, int limit_ms, void *buf, size_t size)
{
	struct pollfd ready = { .fd = timed->fd, .events = POLLIN };
	int r = poll(&ready, 1, limit_ms);
	ssize_t len = 0;

	if (r <= 0)
		return r < 0 ? -errno : -ETIMEDOUT;
	timed->is_late = false;
	struct iovec parts[] = { { &len, sizeof(len) }, { buf, size } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

	if (recvmsg(timed->fd, &message, MSG_DONTWAIT) < (ssize_t)sizeof(len))
		return -EPIPE;
	return message.msg_flags & MSG_TRUNC ? -EFBIG : len;
}

ssize_t timed_call_make(struct timed_call *timed, void *buf, size_t size)
{
	if (timed->is_late && wait_for_result(timed, 0, buf, size) == -ETIMEDOUT)
		return -ETIMEDOUT;
	if (send(timed->fd, "?", 1, MSG_NOSIGNAL) != 1)
		return -errno;
	timed->is_late = true;
	return wait_for_result(timed, TIMED_CALL_LIMIT_MS, buf, size);
}

const char *timed_call_error(int r)
{
	return r == -ETIMEDOUT ? "there was no answer within 2 s" : strerror(-r);
}

void timed_call_free(struct timed_call *timed)
{
	if (!timed)
		return;
	(void)close(timed->fd);
	(void)kill(timed->pid, SIGKILL);
	/* A process in a call that hangs ends with that call, and is then collected by init. */
	if (!timed->is_late)
		while (waitpid(timed->pid, NULL, 0) < 0 && errno == EINTR)
			;
	free(timed);
}

ssize_t timed_call_once(timed_call_fn *call, void *state, void *buf, size_t size)
{
	struct timed_call *timed = NULL;
	ssize_t len = timed_call_new(call, state, &timed);

	if (timed)
		len = timed_call_make(timed, buf, size);
	timed_call_free(timed);
	return len;
}
