/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processes have devices of a kind open, by the links in /proc/PID/fd. A device is known by
 * the path under which it was opened: nothing is opened or looked at, so no file system can hang.
 * A device that was made under another name is not found.
 *
 * The links of other users' processes need CAP_SYS_PTRACE, and CAP_DAC_READ_SEARCH unless root.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A descriptor of a process that is a character device. */
struct open_device {
	uint32_t pid, fd;
	uint32_t major, minor;
};

/* Paths "PREFIXn", where n is the device's minor number. */
struct device_kind {
	const char *prefix; /* "/dev/dri/renderD" */
	uint32_t major;
};

/* What a search found. */
struct open_devices {
	size_t count;    /* in the list */
	uint64_t beyond; /* found, and not in the list: it is full */
	uint64_t hidden; /* processes whose descriptors cannot be seen */
	uint64_t cpu_ns; /* what the search took */
};

/*
 * Searches all processes in @proc_fd, and writes at most @max devices. 0, or -errno: /proc itself
 * cannot be read.
 */
int open_devices_search(int proc_fd, const struct device_kind *kinds, size_t kind_count,
			struct open_device *list, size_t max, struct open_devices *ret);
/* Whether @path is that of a device of one of these kinds; which, in @ret. Pure. */
bool device_kind_of(const struct device_kind *kinds, size_t kind_count, const char *path,
		    struct open_device *ret);
