// SPDX-License-Identifier: Apache-2.0
/*
 * sd_notify(3) without libsystemd: one connected datagram socket. The measuring loop sends the
 * watchdog messages, so the manager detects a loop that hangs.
 */
#include "service/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/num.h"

#define MESSAGE_MAX 512

struct notify {
	int fd;
	uint64_t watchdog_ns;
	uint64_t fed_ns; /* when the watchdog was last fed, MONOTONIC; 0 never */
};

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strlen(path);
	CLEANUP_FD int fd = -1;

	if ((path[0] != '/' && path[0] != '@') || len < 2 || len >= sizeof(address.sun_path))
		return -EINVAL;
	memcpy(address.sun_path, path, len);
	if (path[0] == '@')
		address.sun_path[0] = '\0'; /* the abstract namespace */
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len +
				(path[0] == '/' ? 1 : 0))) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/* 0 when there is no watchdog, it is not ours, or its time-out makes no sense. */
static uint64_t parse_watchdog(const char *usec, const char *pid)
{
	uint64_t value;

	if (!usec ||
	    (pid && (parse_u64(pid, strlen(pid), &value) < 0 || value != (uint64_t)getpid())))
		return 0;
	if (parse_u64(usec, strlen(usec), &value) < 0 || value > UINT64_MAX / NSEC_PER_USEC)
		return 0;
	return value * NSEC_PER_USEC;
}

struct notify *notify_open_with(const char *socket_path, const char *watchdog_usec,
				const char *watchdog_pid)
{
	struct notify *notify;
	int fd = socket_path ? connect_to(socket_path) : -ENOENT;

	if (fd < 0)
		return NULL;
	notify = calloc(1, sizeof(*notify));
	if (!notify) {
		(void)close(fd);
		return NULL;
	}
	notify->fd = fd;
	notify->watchdog_ns = parse_watchdog(watchdog_usec, watchdog_pid);
	return notify;
}

struct notify *notify_open(void)
{
	return notify_open_with(getenv("NOTIFY_SOCKET"), getenv("WATCHDOG_USEC"),
				getenv("WATCHDOG_PID"));
}

void notify_close(struct notify *notify)
{
	if (!notify)
		return;
	(void)close(notify->fd);
	free(notify);
}

static void send_text(struct notify *notify, const char *text)
{
	ssize_t sent;

	if (!notify)
		return;
	sent = send(notify->fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
	(void)sent; /* a manager that does not listen misses the message */
}

/* "KEY=1" with the status; its line ends would begin other keys. */
static void send_with_status(struct notify *notify, const char *first, const char *status)
{
	char text[MESSAGE_MAX];

	(void)snprintf(text, sizeof(text), "%s%s%s", first, status ? "STATUS=" : "",
		       status ? status : "");
	for (char *c = text + strlen(first); *c; c++) {
		if (*c == '\n' || *c == '\r')
			*c = ' ';
	}
	send_text(notify, text);
}

void notify_ready(struct notify *notify, const char *status)
{
	send_with_status(notify, "READY=1\n", status);
}

void notify_status(struct notify *notify, const char *status)
{
	send_with_status(notify, "", status ? status : "");
}

void notify_reloading(struct notify *notify, uint64_t monotonic_ns)
{
	char text[MESSAGE_MAX];

	(void)snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%llu",
		       (unsigned long long)(monotonic_ns / NSEC_PER_USEC));
	send_text(notify, text);
}

void notify_stopping(struct notify *notify)
{
	send_text(notify, "STOPPING=1");
}

void notify_watchdog(struct notify *notify, uint64_t monotonic_ns)
{
	if (!notify || !notify->watchdog_ns)
		return;
	if (notify->fed_ns && monotonic_ns - notify->fed_ns < notify->watchdog_ns / 3)
		return;
	notify->fed_ns = monotonic_ns;
	send_text(notify, "WATCHDOG=1");
}

uint64_t notify_watchdog_ns(const struct notify *notify)
{
	return notify ? notify->watchdog_ns : 0;
}
