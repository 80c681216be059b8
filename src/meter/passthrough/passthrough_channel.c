// SPDX-License-Identifier: Apache-2.0
/*
 * All descriptors are non-blocking; the only wait is a poll() with a deadline, which an eventfd
 * ends. A port that the host has not opened reports a hang-up all the time, so it is not waited for
 * then. A vsock connection that fails is tried again after 1, 2, 4 … 60 seconds. A file is opened
 * for each reading, because the host replaces it, and its text counts once. A mount of the host's
 * reports no changes, so the file is looked at again and again when a new one is due. The port of
 * vhostmd is opened for each question, so that a better channel is found between two of them.
 */
#include "meter/passthrough/passthrough_channel.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/vm_sockets.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "meter/passthrough/vhostmd_port.h"
#include "passthrough/passthrough_text.h"

#define VSOCK         "vsock"
#define VHOSTMD       "vhostmd"
#define FILE_NAME     "energy"
#define RETRY_MIN_NS  NSEC_PER_SEC
#define RETRY_MAX_NS  (60 * NSEC_PER_SEC)
#define LOOK_EARLY_NS (20 * NSEC_PER_MSEC) /* before a file is due, and then: */
#define LOOK_STEP_NS  (25 * NSEC_PER_MSEC)
#define LOOK_LATE_NS  (500 * NSEC_PER_MSEC) /* after that it is looked for less often: */
#define LOOK_IDLE_NS  (250 * NSEC_PER_MSEC)
#define PERIOD_MAX_NS (3600 * NSEC_PER_SEC)

struct passthrough_channel {
	char place[PASSTHROUGH_PATH_MAX]; /* as the option has it */
	char procfs[PASSTHROUGH_PATH_MAX], sysfs[PASSTHROUGH_PATH_MAX];
	int stop_fd;
	int fd; /* of a stream; -1: it is not open */
	bool connecting;
	uint64_t retry_ns, pause_ns;     /* MONOTONIC; before the next connection */
	char last[PASSTHROUGH_TEXT_MAX]; /* of a file */
	size_t last_len;
	/* MONOTONIC: the last look, the one before it, and when the next text is due. */
	uint64_t looked_ns, before_ns, due_ns;
	struct vhostmd_port *vhostmd; /* NULL: not used yet */
	bool had_answer;              /* of vhostmd's port, with energy */
};

static bool has_scheme(const char *text, const char *scheme)
{
	size_t len = strlen(scheme);

	return strncmp(text, scheme, len) == 0 && (!text[len] || text[len] == ':');
}

bool passthrough_is_vsock(const char *text)
{
	return has_scheme(text, VSOCK);
}

bool passthrough_is_vhostmd(const char *text)
{
	return has_scheme(text, VHOSTMD);
}

/* The device of "vhostmd:/dev/vport1p2"; "" of "vhostmd", which is searched for. */
static const char *vhostmd_device(const char *text)
{
	const char *colon = strchr(text, ':');

	return colon ? colon + 1 : "";
}

static bool is_device_path(const char *text)
{
	return text[0] == '/' && strlen(text) < PASSTHROUGH_PATH_MAX;
}

/* "vsock", "vsock:PORT" or "vsock:CID:PORT". */
static int parse_vsock(const char *text, struct sockaddr_vm *ret)
{
	const char *first = text + strlen(VSOCK), *second;
	uint64_t cid = VMADDR_CID_HOST, port = PASSTHROUGH_VSOCK_PORT;
	int r = 0;

	if (*first) {
		second = strchr(++first, ':');
		if (second)
			r = parse_u64(first, (size_t)(second - first), &cid);
		if (r == 0)
			r = second ? parse_u64(second + 1, strlen(second + 1), &port)
				   : parse_u64(first, strlen(first), &port);
	}
	if (r < 0 || !cid || cid >= UINT32_MAX || !port || port >= UINT32_MAX)
		return -EINVAL;
	*ret = (struct sockaddr_vm){ .svm_family = AF_VSOCK,
				     .svm_cid = (unsigned)cid,
				     .svm_port = (unsigned)port };
	return 0;
}

int passthrough_check_place(const char *text, struct diag *diag)
{
	struct sockaddr_vm unused;

	if (strcmp(text, PASSTHROUGH_AUTO) == 0 || strcmp(text, PASSTHROUGH_OFF) == 0 ||
	    is_device_path(text) ||
	    (passthrough_is_vsock(text) && parse_vsock(text, &unused) == 0) ||
	    strcmp(text, VHOSTMD) == 0 ||
	    (passthrough_is_vhostmd(text) && is_device_path(vhostmd_device(text))))
		return 0;
	return diag_set(diag, -EINVAL,
			"must be auto, off, an absolute path, vsock, vsock:PORT, vhostmd or "
			"vhostmd:PATH, not \"%.60s\"",
			text);
}

int passthrough_channel_new(const char *place, const char *procfs, const char *sysfs,
			    struct passthrough_channel **ret)
{
	struct passthrough_channel *channel;

	if (strlen(place) >= PASSTHROUGH_PATH_MAX || strlen(procfs) >= PASSTHROUGH_PATH_MAX ||
	    strlen(sysfs) >= PASSTHROUGH_PATH_MAX)
		return -ENAMETOOLONG;
	channel = calloc(1, sizeof(*channel));
	if (!channel)
		return -ENOMEM;
	(void)snprintf(channel->place, sizeof(channel->place), "%s", place);
	(void)snprintf(channel->procfs, sizeof(channel->procfs), "%s", procfs);
	(void)snprintf(channel->sysfs, sizeof(channel->sysfs), "%s", sysfs);
	channel->fd = -1;
	channel->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (channel->stop_fd < 0) {
		free(channel);
		return -errno;
	}
	*ret = channel;
	return 0;
}

static void close_stream(struct passthrough_channel *channel)
{
	if (channel->fd >= 0)
		(void)close(channel->fd);
	channel->fd = -1;
	channel->connecting = false;
}

void passthrough_channel_free(struct passthrough_channel *channel)
{
	if (!channel)
		return;
	close_stream(channel);
	vhostmd_port_free(channel->vhostmd);
	(void)close(channel->stop_fd);
	free(channel);
}

void passthrough_channel_stop(struct passthrough_channel *channel)
{
	(void)eventfd_write(channel->stop_fd, 1); /* it fails only if it was set before */
}

/* Waits for @events of @fd, or only for the stop with an @fd of -1. Returns the events. */
static int wait_for(const struct passthrough_channel *channel, int fd, short events,
		    uint64_t wait_ns)
{
	struct pollfd polled[] = { { .fd = channel->stop_fd, .events = POLLIN },
				   { .fd = fd, .events = events } };

	if (poll(polled, ARRAY_SIZE(polled), (int)((wait_ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC)) <
	    0)
		return 0;
	return polled[1].revents;
}

static bool is_stopped(const struct passthrough_channel *channel)
{
	struct pollfd polled = { .fd = channel->stop_fd, .events = POLLIN };

	return poll(&polled, 1, 0) > 0;
}

/* After @err the connection is tried again later. */
static int fail_vsock(struct passthrough_channel *channel, int err, struct diag *diag)
{
	close_stream(channel);
	channel->pause_ns = channel->pause_ns ? channel->pause_ns * 2 : RETRY_MIN_NS;
	if (channel->pause_ns > RETRY_MAX_NS)
		channel->pause_ns = RETRY_MAX_NS;
	channel->retry_ns = clock_ns(CLOCK_MONOTONIC) + channel->pause_ns;
	return diag_set(diag, err, "%s: the host does not accept the connection: %s",
			channel->place, strerrordesc_np(-err));
}

static int open_vsock(struct passthrough_channel *channel, uint64_t wait_ns, struct diag *diag)
{
	struct sockaddr_vm address;
	int r = parse_vsock(channel->place, &address), err = 0;
	socklen_t len = sizeof(err);

	if (r < 0)
		return diag_set(diag, r, "%s is not valid", channel->place);
	if (clock_ns(CLOCK_MONOTONIC) < channel->retry_ns) {
		(void)wait_for(channel, -1, 0, wait_ns);
		return diag_set(diag, -ENOTCONN, "%s: the host was not reached; retrying",
				channel->place);
	}
	if (channel->fd < 0) {
		channel->fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (channel->fd < 0)
			return fail_vsock(channel, -errno, diag);
		channel->connecting = true;
		if (connect(channel->fd, (const struct sockaddr *)&address, sizeof(address)) < 0 &&
		    errno != EINPROGRESS)
			return fail_vsock(channel, -errno, diag);
	}
	if (!wait_for(channel, channel->fd, POLLOUT, wait_ns))
		return diag_set(diag, -EINPROGRESS, "%s: the host has not answered yet",
				channel->place);
	if (getsockopt(channel->fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0)
		err = errno;
	if (err)
		return fail_vsock(channel, -err, diag);
	channel->connecting = false;
	return 0;
}

static int open_port(struct passthrough_channel *channel, const char *path, struct diag *diag)
{
	channel->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (channel->fd >= 0)
		return 0;
	if (errno == EBUSY)
		return diag_set(diag, -EBUSY,
				"%s is open in another program, and only one at a time can read it",
				path);
	return diag_set(diag, -errno, "%s cannot be opened: %s", path, strerrordesc_np(errno));
}

static int read_stream(struct passthrough_channel *channel, uint64_t wait_ns, char *buf,
		       size_t size, struct diag *diag)
{
	int events = wait_for(channel, channel->fd, POLLIN, wait_ns);
	bool is_vsock = passthrough_is_vsock(channel->place);
	ssize_t len;

	if (!events)
		return 0;
	len = read(channel->fd, buf, size);
	if (len > 0) {
		channel->pause_ns = 0;
		return (int)len;
	}
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (is_vsock)
		return fail_vsock(channel, len < 0 ? -errno : -ECONNRESET, diag);
	if (len < 0) { /* such as a port that was unplugged */
		int err = errno;

		close_stream(channel);
		return diag_set(diag, -err, "%s cannot be read: %s", channel->place,
				strerrordesc_np(err));
	}
	(void)wait_for(channel, -1, 0, wait_ns);
	return diag_set(diag, -ENOTCONN, "the host has not opened its side of the port");
}

void passthrough_channel_expect(struct passthrough_channel *channel, uint64_t period_ns)
{
	channel->due_ns = channel->before_ns + MIN(period_ns, PERIOD_MAX_NS);
}

struct source {
	char path[PASSTHROUGH_PATH_MAX];
	bool is_vhostmd;
	bool is_hosts; /* in a folder of the host */
	struct stat about;
};

/* How long until the file is to be looked at again. */
static uint64_t pause_before_look(const struct passthrough_channel *channel, uint64_t now_ns)
{
	if (now_ns + LOOK_EARLY_NS < channel->due_ns)
		return channel->due_ns - LOOK_EARLY_NS - now_ns;
	return now_ns < channel->due_ns + LOOK_LATE_NS ? LOOK_STEP_NS : LOOK_IDLE_NS;
}

/* A text that was read before is not new. */
static bool is_new(const struct passthrough_channel *channel, const char *text, size_t len)
{
	return len != channel->last_len || memcmp(text, channel->last, len) != 0;
}

/* The host decides what a name in its folder leads to. */
static ssize_t look_at(struct passthrough_channel *channel, const struct source *source, char *buf,
		       size_t size)
{
	channel->before_ns = channel->looked_ns;
	channel->looked_ns = clock_ns(CLOCK_MONOTONIC);
	return source->is_hosts ? read_regular_file(source->path, buf, size)
				: read_file_nowait_at(AT_FDCWD, source->path, buf, size);
}

static int read_text(struct passthrough_channel *channel, const struct source *source,
		     uint64_t wait_ns, char *buf, size_t size, struct diag *diag)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + wait_ns;
	ssize_t len = look_at(channel, source, buf, size);

	while (len >= 0 && !is_new(channel, buf, (size_t)len) && channel->looked_ns < end_ns &&
	       !is_stopped(channel)) {
		uint64_t pause_ns = pause_before_look(channel, channel->looked_ns);

		(void)wait_for(channel, -1, 0, MIN(pause_ns, end_ns - channel->looked_ns));
		len = look_at(channel, source, buf, size);
	}
	if (len < 0)
		return diag_set(diag, (int)len, "%s cannot be read: %s", source->path,
				strerrordesc_np((int)-len));
	if (!is_new(channel, buf, (size_t)len))
		return 0;
	channel->last_len = (size_t)len < sizeof(channel->last) ? (size_t)len : 0;
	memcpy(channel->last, buf, channel->last_len);
	return (int)len;
}

static bool exists(const char *folder, const char *name)
{
	char path[PASSTHROUGH_PATH_MAX];

	return path_join(path, sizeof(path), folder, name) == 0 && access(path, F_OK) == 0;
}

/* Kepler's host writes such a tree as well, next to its record. */
static bool is_scaphandres(const char *folder)
{
	return exists(folder, PASSTHROUGH_SCAPHANDRE_FILE) && !exists(folder, FILE_NAME);
}

/* "" where the machine has none. */
static void choose(const struct passthrough_channel *channel, struct source *ret)
{
	struct passthrough_places places;
	const char *path = channel->place;
	bool is_auto = strcmp(path, PASSTHROUGH_AUTO) == 0;

	*ret = (struct source){ .is_vhostmd = passthrough_is_vhostmd(path) };
	if (ret->is_vhostmd)
		path = vhostmd_device(path);
	if (is_auto || !path[0]) {
		passthrough_search(channel->procfs, channel->sysfs, &places);
		path = ret->is_vhostmd ? places.vhostmd : passthrough_best_place(&places);
		ret->is_vhostmd |= path == places.vhostmd;
	}
	(void)snprintf(ret->path, sizeof(ret->path), "%s", path);
}

/* The path to read: a folder is the one of its file "energy". */
static int find_source(const struct passthrough_channel *channel, struct source *ret,
		       struct diag *diag)
{
	choose(channel, ret);
	if (!ret->path[0])
		return diag_set(diag, -ENOENT,
				"this machine has neither a virtio-serial port named %s nor a "
				"directory of the host's Kepler, nor vhostmd's port",
				PASSTHROUGH_PORT_NAME);
	if (stat(ret->path, &ret->about) == 0 && S_ISDIR(ret->about.st_mode)) {
		char folder[PASSTHROUGH_PATH_MAX];
		int r;

		(void)snprintf(folder, sizeof(folder), "%s", ret->path);
		if (is_scaphandres(folder))
			return diag_set(
				diag, -EOPNOTSUPP,
				"%s is of Scaphandre and is not read: " PASSTHROUGH_SCAPHANDRE_WHY,
				folder);
		r = path_join(ret->path, sizeof(ret->path), folder, FILE_NAME);
		if (r < 0)
			return diag_set(diag, r, "%s is too long", folder);
		ret->is_hosts = true;
	}
	if ((ret->is_hosts ? lstat : stat)(ret->path, &ret->about) < 0)
		return diag_set(diag, -errno, "%s: %s", ret->path, strerrordesc_np(errno));
	if (ret->is_hosts && !S_ISREG(ret->about.st_mode))
		return diag_set(diag, -ENOTSUP,
				"%s is not opened: it is not a regular file, and the host decides "
				"what it is",
				ret->path);
	return 0;
}

/* No error of a port that was not named, until it has had energy: few hosts report any there. */
static int read_vhostmd(struct passthrough_channel *channel, const char *path, uint64_t wait_ns,
			char *buf, struct diag *diag)
{
	int r = channel->vhostmd ? 0 : vhostmd_port_new(&channel->vhostmd);

	if (r == 0)
		r = vhostmd_port_read(channel->vhostmd, path, channel->stop_fd, wait_ns,
				      (uint8_t *)buf, diag);
	channel->had_answer |= r > 0;
	return r < 0 && !channel->had_answer && !passthrough_is_vhostmd(channel->place) ? 0 : r;
}

int passthrough_channel_read(struct passthrough_channel *channel, uint64_t wait_ns, char *buf,
			     size_t size, bool *ret_is_text, struct diag *diag)
{
	struct source source;
	int r = 0;

	assert(size >= PASSTHROUGH_RECORD_MAX);
	*ret_is_text = false;
	if (passthrough_is_vsock(channel->place)) {
		if (channel->fd < 0 || channel->connecting)
			r = open_vsock(channel, wait_ns, diag);
		return r < 0 ? r : read_stream(channel, wait_ns, buf, size, diag);
	}
	if (channel->fd < 0) {
		r = find_source(channel, &source, diag);
		if (r == 0 && source.is_vhostmd)
			return read_vhostmd(channel, source.path, wait_ns, buf, diag);
		if (r == 0 && S_ISREG(source.about.st_mode)) {
			*ret_is_text = true;
			return read_text(channel, &source, wait_ns, buf, size, diag);
		}
		if (r == 0)
			r = open_port(channel, source.path, diag);
		if (r < 0) {
			(void)wait_for(channel, -1, 0, wait_ns);
			return r;
		}
	}
	return read_stream(channel, wait_ns, buf, size, diag);
}
