/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine's own BMC, through the kernel's device /dev/ipmiN (linux/ipmi.h; Linux:
 * Documentation/driver-api/ipmi.rst, "Userland interface").
 *
 * One request at a time: the next is sent when the last one was answered, or has been given up for
 * so long that the kernel has as well, and at least IPMI_GAP_NS after it. Of one thread.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "bmc/ipmi_message.h"

#define IPMI_GAP_NS     1000000000ULL  /* between two requests */
#define IPMI_TIMEOUT_NS 2000000000ULL  /* for an answer */
#define IPMI_FORGET_NS  60000000000ULL /* after that an answer is not waited for any more */

/* The system calls, which tests replace. A result is >= 0, or -errno. */
struct ipmi_system {
	int (*open)(const char *path);
	int (*control)(int fd, unsigned long request, void *argument); /* ioctl(2) */
	int (*wait)(struct pollfd *fds, nfds_t count, int timeout_ms); /* poll(2) */
	uint64_t (*now_ns)(void);                                      /* MONOTONIC */
};
extern const struct ipmi_system ipmi_real_system;

struct ipmi_device {
	const struct ipmi_system *system;
	const char *path;   /* borrowed */
	int cancel_fd;      /* readable: all waiting ends */
	int fd;             /* -1: it is opened with the next request */
	long id;            /* of the last request */
	uint64_t sent_ns;   /* that was sent then; 0: none yet */
	bool is_waited_for; /* it has no answer yet */
};

void ipmi_device_init(struct ipmi_device *device, const struct ipmi_system *system,
		      const char *path, int cancel_fd);
void ipmi_device_release(struct ipmi_device *device);
/*
 * Sends @request, once a second has passed since the last one, and waits for its answer, whose
 * completion code is not looked at. 0, or with the reason
 *   -ENODEV     there is no such device (any more): its driver is not loaded, or was unloaded
 *   -EACCES     it may not be opened
 *   -ETIMEDOUT  no answer in time, or none to the last request yet
 *   -ECANCELED  the end has come
 * or what the kernel says.
 */
int ipmi_device_ask(struct ipmi_device *device, const struct ipmi_request *request,
		    struct ipmi_answer *ret, struct diag *diag);
