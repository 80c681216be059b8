/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process of its own that opens /proc/PID/fdinfo/FD of other users' processes.
 *
 * The kernel allows that to a process that may trace the other one (PTRACE_MODE_READ), and Landlock
 * forbids to trace any process outside the own domain, whatever capabilities are held: a process
 * that has entered Landlock (service/landlock.h) cannot open such a file. It can read one that is
 * open. So the helper is started before, stays outside, and sends descriptors. It alone keeps
 * CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH; all that it can be asked for is below, its system calls
 * are limited to that, and it ends when its socket is closed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "host/open_devices.h"

struct fdinfo_helper;

struct fdinfo_helper_options {
	const char *procfs;     /* "/proc" */
	const uint32_t *majors; /* of the devices that are searched for */
	size_t major_count;
	bool is_confined; /* its system calls */
};

/*
 * Starts it: call this before any thread is started, and before Landlock and the filter of system
 * calls. 0, or -errno with a diagnosis.
 */
int fdinfo_helper_start(const struct fdinfo_helper_options *options, struct fdinfo_helper **ret,
			struct diag *diag);
/* The helper ends by itself. */
void fdinfo_helper_stop(struct fdinfo_helper *helper);
/*
 * The rest waits for the answer, 5 s at most: then the helper is given up, and the result is -EPIPE
 * from then on. From one thread at a time.
 *
 * open_devices_search() with its privileges.
 */
int fdinfo_helper_search(struct fdinfo_helper *helper, struct open_device *list, size_t max,
			 struct open_devices *ret);
/*
 * /proc/PID/fdinfo/FD, a descriptor for read_fd(): the text is always the current one. -errno, so
 * -EACCES: it may not be read; -ENOENT: it is gone.
 */
int fdinfo_helper_open(struct fdinfo_helper *helper, uint32_t pid, uint32_t fd);
