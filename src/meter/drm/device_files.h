/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processes have devices open, and what the kernel says of such a file. How that is found out
 * depends on the privileges of the program, and a part of it is BPF: so the program gives it to the
 * meters (engine/devices/device_holders.h), and a test gives its own.
 */
#pragma once

#include "host/open_devices.h"

/* The calls may take seconds, but not for ever. From one thread at a time, except for the last. */
struct device_files {
	/* As open_devices_search(); a failure is tried again. */
	int (*search)(struct device_files *files, struct open_device *list, size_t max,
		      struct open_devices *ret);
	/* /proc/PID/fdinfo/FD: a descriptor, for read_fd() as often as needed; or -errno. */
	int (*open_fdinfo)(struct device_files *files, uint32_t pid, uint32_t fd);
	/* A number of the control group that the process is in; 0: not known. */
	uint64_t (*group)(struct device_files *files, uint32_t pid);
	/* A meter that hangs outlives the program's end: so each user has a reference. */
	void (*ref)(struct device_files *files);
	void (*unref)(struct device_files *files);
};
