// SPDX-License-Identifier: Apache-2.0
/*
 * One socket, packets in turn: a request, its answer. The answer to a search is the number of
 * entries found, and then the list in packets.
 */
#include "service/fdinfo_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "service/confine.h"
#include "service/privileges.h"

#define PATIENCE_NS    (5 * NSEC_PER_SEC)
#define FOUND_MAX      65536 /* in one search: 1 MiB */
#define PACKET_DEVICES 256
#define FD_NONE        UINT32_MAX

/* fd FD_NONE: a search, for @max devices. */
struct request {
	uint32_t pid, fd, max;
};

struct answer {
	int32_t error; /* 0 or -errno */
	struct open_devices found;
};

struct fdinfo_helper {
	int socket; /* -1: given up */
};

/* ---- the helper ---- */

struct server {
	int socket, proc_fd;
	const struct fdinfo_helper_options *options;
	struct open_device *list;
};

/* Sends one packet, with a descriptor unless that is -1. */
static bool send_packet(int socket, const void *data, size_t size, int fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec part = { (void *)(uintptr_t)data, size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (fd >= 0) {
		control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
						   .cmsg_level = SOL_SOCKET,
						   .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.space);
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)size;
}

static bool serve_search(struct server *server, uint32_t max)
{
	struct answer answer = { .error = -ENOMEM };
	size_t sent = 0, room = max < FOUND_MAX ? max : FOUND_MAX;

	if (room && ARRAY_RESIZE(server->list, room) == 0)
		answer.error = open_devices_search(server->proc_fd, server->options->majors,
						   server->options->major_count, server->list, room,
						   &answer.found);
	if (!send_packet(server->socket, &answer, sizeof(answer), -1))
		return false;
	while (sent < answer.found.count) {
		size_t left = answer.found.count - sent;
		size_t count = left < PACKET_DEVICES ? left : PACKET_DEVICES;

		if (!send_packet(server->socket, &server->list[sent],
				 count * sizeof(server->list[0]), -1))
			return false;
		sent += count;
	}
	return true;
}

static bool serve_open(struct server *server, const struct request *request)
{
	struct answer answer = { 0 };
	CLEANUP_FD int fd = -1;
	char path[48];

	(void)snprintf(path, sizeof(path), "%u/fdinfo/%u", request->pid, request->fd);
	fd = openat(server->proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		answer.error = -errno;
	return send_packet(server->socket, &answer, sizeof(answer), fd);
}

static void serve(struct server *server)
{
	struct request request;

	while (recv(server->socket, &request, sizeof(request), 0) == (ssize_t)sizeof(request)) {
		if (request.fd == FD_NONE ? !serve_search(server, request.max)
					  : !serve_open(server, &request))
			return;
	}
}

/*
 * Nothing of the parent's is left open: neither its sockets nor what its standard output goes to.
 * Returns where the socket is now.
 */
static int keep_only(int socket)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		(void)dup2(null, fd);
	if (dup2(socket, STDERR_FILENO + 1) < 0)
		return -1;
	(void)close_range(STDERR_FILENO + 2, UINT32_MAX, 0);
	return STDERR_FILENO + 1;
}

/* Without a capability, or a filter, it does what it can: the parent learns of errors by file. */
_Noreturn static void run(const struct fdinfo_helper_options *options, int socket)
{
	struct server server = { .socket = keep_only(socket), .options = options };
	struct diag unused = { "" };

	(void)prctl(PR_SET_NAME, "kepler-fdinfo", 0, 0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* where it hangs, a socket ends nothing */
	server.proc_fd = open(options->procfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)privileges_keep(needs_capabilities(NEED_DEVICE_USERS), &unused);
	if (options->is_confined)
		(void)confine_fdinfo_helper(&unused);
	if (server.socket >= 0)
		serve(&server);
	_exit(0);
}

/* ---- its owner ---- */

static int start_process(const struct fdinfo_helper_options *options, int *ret_socket)
{
	int sockets[2], r = 0;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	(void)signal(SIGCHLD, SIG_IGN); /* nothing is left of it when it ends */
	pid = fork();
	if (pid == 0)
		run(options, sockets[1]);
	if (pid < 0)
		r = -errno;
	(void)close(sockets[1]);
	if (r < 0)
		(void)close(sockets[0]);
	else
		*ret_socket = sockets[0];
	return r;
}

int fdinfo_helper_start(const struct fdinfo_helper_options *options, struct fdinfo_helper **ret,
			struct diag *diag)
{
	CLEANUP_FD int socket = -1;
	struct fdinfo_helper *helper;
	int r = start_process(options, &socket);

	if (r < 0)
		return diag_set(diag, r, "the process that reads fdinfo cannot be started: %s",
				strerrordesc_np(-r));
	helper = calloc(1, sizeof(*helper));
	if (!helper)
		return diag_set(diag, -ENOMEM, "out of memory");
	helper->socket = TAKE_FD(socket);
	*ret = helper;
	return 0;
}

static void give_up(struct fdinfo_helper *helper)
{
	if (helper->socket >= 0)
		(void)close(helper->socket);
	helper->socket = -1;
}

void fdinfo_helper_stop(struct fdinfo_helper *helper)
{
	if (!helper)
		return;
	give_up(helper);
	free(helper);
}

static bool wait_until(int socket, uint64_t end_ns)
{
	struct pollfd ready = { .fd = socket, .events = POLLIN };
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	return now_ns < end_ns &&
	       poll(&ready, 1, (int)((end_ns - now_ns) / NSEC_PER_MSEC) + 1) == 1;
}

/* A packet and the descriptor in it, or -1; false: the helper cannot be asked any more. */
static ssize_t receive(int socket, void *data, size_t size, uint64_t end_ns, int *ret_fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { data, size };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control.space) };
	const struct cmsghdr *header;
	ssize_t n;

	*ret_fd = -1;
	if (!wait_until(socket, end_ns))
		return -1;
	n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	header = n < 0 ? NULL : CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(header), sizeof(*ret_fd));
	return n;
}

/* Its answer without what follows it. 0, or -EPIPE. */
static int ask(struct fdinfo_helper *helper, const struct request *request, uint64_t end_ns,
	       struct answer *ret, int *ret_fd)
{
	if (helper->socket < 0)
		return -EPIPE;
	if (send_packet(helper->socket, request, sizeof(*request), -1) &&
	    receive(helper->socket, ret, sizeof(*ret), end_ns, ret_fd) == (ssize_t)sizeof(*ret))
		return 0;
	give_up(helper);
	return -EPIPE;
}

static bool take_list(const struct fdinfo_helper *helper, struct open_device *list, size_t count,
		      uint64_t end_ns)
{
	size_t taken = 0;

	while (taken < count) {
		size_t left = count - taken;
		size_t expected = left < PACKET_DEVICES ? left : PACKET_DEVICES;
		int none;

		if (receive(helper->socket, &list[taken], expected * sizeof(list[0]), end_ns,
			    &none) != (ssize_t)(expected * sizeof(list[0])))
			return false;
		taken += expected;
	}
	return true;
}

int fdinfo_helper_search(struct fdinfo_helper *helper, struct open_device *list, size_t max,
			 struct open_devices *ret)
{
	const struct request request = { .fd = FD_NONE, .max = (uint32_t)max };
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
	struct answer answer;
	int none, r = ask(helper, &request, end_ns, &answer, &none);

	if (r == 0)
		r = answer.error;
	if (r < 0)
		return r;
	if (answer.found.count > max || !take_list(helper, list, answer.found.count, end_ns)) {
		give_up(helper);
		return -EPIPE;
	}
	*ret = answer.found;
	return 0;
}

int fdinfo_helper_open(struct fdinfo_helper *helper, uint32_t pid, uint32_t fd)
{
	const struct request request = { .pid = pid, .fd = fd };
	struct answer answer;
	CLEANUP_FD int opened = -1;
	int r = ask(helper, &request, clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS, &answer, &opened);

	if (r == 0)
		r = answer.error;
	if (r == 0 && opened < 0)
		r = -EMFILE; /* the kernel sent none, because this process has no room for it */
	return r < 0 ? r : TAKE_FD(opened);
}
