// SPDX-License-Identifier: Apache-2.0
/*
 * The device is open from the first request on, and opened again after an error. It is opened for
 * reading, which is enough for its ioctls, so CAP_DAC_READ_SEARCH is enough for its mode 0600.
 *
 * The kernel answers each request itself if the BMC does not (completion code C3), but late. An
 * answer is identified by its id; the answer to a request that was given up is discarded when it
 * comes, and nothing is sent before.
 */
#include "bmc/ipmi_device.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ipmi.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"

#define RESPONSE_BIT 1  /* makes a function its answer's */
#define STALE_MAX    64 /* messages of others that are discarded at once */

static int real_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? -errno : fd;
}

static int real_control(int fd, unsigned long request, void *argument)
{
	return ioctl(fd, request, argument) < 0 ? -errno : 0;
}

static int real_wait(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	int r = poll(fds, count, timeout_ms);

	return r < 0 ? -errno : r;
}

static uint64_t real_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

const struct ipmi_system ipmi_real_system = { real_open, real_control, real_wait, real_now_ns };

void ipmi_device_init(struct ipmi_device *device, const struct ipmi_system *system,
		      const char *path, int cancel_fd)
{
	*device = (struct ipmi_device){
		.system = system, .path = path, .cancel_fd = cancel_fd, .fd = -1
	};
}

void ipmi_device_release(struct ipmi_device *device)
{
	if (device->fd >= 0)
		(void)close(device->fd);
	device->fd = -1;
	device->is_waited_for = false;
}

static int open_device(struct ipmi_device *device, struct diag *diag)
{
	int fd;

	if (device->fd >= 0)
		return 0;
	fd = device->system->open(device->path);
	if (fd >= 0) {
		device->fd = fd;
		return 0;
	}
	if (fd == -ENOENT || fd == -ENXIO || fd == -ENODEV)
		return diag_set(diag, -ENODEV,
				"there is no such device: is the module ipmi_devintf loaded?");
	if (fd == -EPERM)
		fd = -EACCES;
	return diag_set(diag, fd, "it cannot be opened: %s%s", strerrordesc_np(-fd),
			fd == -EACCES ? " (kepler config needs prints the required settings)" : "");
}

/* The kernel's refusal of a call on the device, which is closed: it may be another one now. */
static int refuse(struct ipmi_device *device, int r, const char *what, struct diag *diag)
{
	ipmi_device_release(device);
	if (r == -ENOENT || r == -ENXIO)
		r = -ENODEV;
	else if (r == -EPERM)
		r = -EACCES;
	else if (r == -EAGAIN)
		r = -EBUSY;
	return diag_set(diag, r, "%s: %s", what, strerrordesc_np(-r));
}

/*
 * Waits until @fd (-1: nothing) is readable, up to @end_ns: 1, 0 at the end, or -errno; -ECANCELED
 * where all waiting is to end.
 */
static int wait_until(const struct ipmi_device *device, int fd, uint64_t end_ns)
{
	struct pollfd fds[] = { { .fd = device->cancel_fd, .events = POLLIN },
				{ .fd = fd, .events = POLLIN } };

	for (;;) {
		uint64_t now_ns = device->system->now_ns();
		uint64_t left_ns = now_ns < end_ns ? end_ns - now_ns : 0;
		int r = device->system->wait(fds, fd >= 0 ? 2 : 1,
					     (int)((left_ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC));

		if (r > 0 && fds[0].revents)
			return -ECANCELED;
		if (r > 0 || (r < 0 && r != -EINTR))
			return r;
		if (r == 0 && !left_ns)
			return 0;
	}
}

/* One message: 1 where it answers @request, 0 where it is something else, or -errno. */
static int receive(struct ipmi_device *device, const struct ipmi_request *request,
		   struct ipmi_answer *ret)
{
	struct ipmi_addr address;
	struct ipmi_recv message = { .addr = (unsigned char *)&address,
				     .addr_len = sizeof(address),
				     .msg = { .data = ret->data, .data_len = sizeof(ret->data) } };
	int r = device->system->control(device->fd, IPMICTL_RECEIVE_MSG_TRUNC, &message);

	/* With EMSGSIZE the beginning of the message is there. */
	if (r < 0 && r != -EMSGSIZE)
		return r;
	if (message.recv_type != IPMI_RESPONSE_RECV_TYPE || message.msgid != device->id)
		return 0;
	device->is_waited_for = false;
	ret->len =
		message.msg.data_len < sizeof(ret->data) ? message.msg.data_len : sizeof(ret->data);
	return message.msg.netfn == (request->function | RESPONSE_BIT) &&
	       message.msg.cmd == request->command;
}

/* Returns true if the answer to a request that was given up has come, or is no longer expected. */
static int forget_last(struct ipmi_device *device, const struct ipmi_request *request,
		       struct diag *diag)
{
	struct ipmi_answer unused;
	int r = 0;

	for (int i = 0; device->is_waited_for && i < STALE_MAX && r >= 0; i++)
		r = receive(device, request, &unused);
	if (r < 0 && r != -EAGAIN)
		return refuse(device, r, "no answer can be read", diag);
	if (!device->is_waited_for)
		return 0;
	if (device->system->now_ns() - device->sent_ns < IPMI_FORGET_NS)
		return diag_set(diag, -ETIMEDOUT, "the BMC has not answered the last request");
	ipmi_device_release(device);
	return open_device(device, diag);
}

static int send(struct ipmi_device *device, const struct ipmi_request *request, struct diag *diag)
{
	struct ipmi_system_interface_addr address = { .addr_type = IPMI_SYSTEM_INTERFACE_ADDR_TYPE,
						      .channel = IPMI_BMC_CHANNEL };
	struct ipmi_request copy = *request;
	struct ipmi_req message = { .addr = (unsigned char *)&address,
				    .addr_len = sizeof(address),
				    .msgid = device->id + 1,
				    .msg = { .netfn = copy.function,
					     .cmd = copy.command,
					     .data_len = copy.len,
					     .data = copy.data } };
	int r;

	if (device->sent_ns && (r = wait_until(device, -1, device->sent_ns + IPMI_GAP_NS)) < 0)
		return r;
	device->id++;
	device->sent_ns = device->system->now_ns();
	r = device->system->control(device->fd, IPMICTL_SEND_COMMAND, &message);
	if (r < 0)
		return refuse(device, r, "the kernel refuses the request", diag);
	device->is_waited_for = true;
	return 0;
}

int ipmi_device_ask(struct ipmi_device *device, const struct ipmi_request *request,
		    struct ipmi_answer *ret, struct diag *diag)
{
	int r = open_device(device, diag);

	if (r == 0)
		r = forget_last(device, request, diag);
	if (r == 0)
		r = send(device, request, diag);
	if (r < 0)
		return r;
	for (;;) {
		r = wait_until(device, device->fd, device->sent_ns + IPMI_TIMEOUT_NS);
		if (r == 0)
			return diag_set(diag, -ETIMEDOUT, "the BMC has not answered in %u s",
					(unsigned)(IPMI_TIMEOUT_NS / NSEC_PER_SEC));
		if (r == -ECANCELED)
			return r;
		if (r > 0)
			r = receive(device, request, ret);
		if (r < 0)
			return refuse(device, r, "no answer can be read", diag);
		if (r > 0)
			return 0;
		if (!device->is_waited_for)
			return diag_set(diag, -EBADMSG, "the answer is to another request");
	}
}
