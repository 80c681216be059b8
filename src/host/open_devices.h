/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processes have character devices open, by the descriptors in /proc/PID/fd. A device is
 * known by its number, whatever the name under which it was opened: a plain file of the same name
 * is not a device, and a device under another name is one. File systems are asked only for data
 * that they have in memory (AT_STATX_DONT_SYNC), so that a hanging one delays nothing.
 *
 * The descriptors of other users' processes need CAP_SYS_PTRACE, and CAP_DAC_READ_SEARCH unless
 * root.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Descriptors of a process in a list; a process that has more leaves room for others. */
#define OPEN_DEVICES_PROCESS_MAX 64

/* A descriptor of a process that is a character device. */
struct open_device {
	uint32_t pid, fd;
	uint32_t major, minor;
};

/* The result of a search. */
struct open_devices {
	size_t count;    /* in the list */
	uint64_t beyond; /* not in the list: it is full, or they are too many of a process */
	uint64_t hidden; /* processes whose descriptors cannot be seen */
	uint64_t cpu_ns; /* what the search took */
};

/* A list that a search fills. */
struct open_device_list {
	struct open_device *list; /* [max] */
	size_t max;
	struct open_devices found;
	uint32_t pid; /* of the last one */
	size_t of_pid;
};

/* Adds @device to the list if there is room. A process's devices follow each other. */
void open_device_list_add(struct open_device_list *list, const struct open_device *device);
/*
 * Searches all processes in @proc_fd for devices of the major numbers, and writes at most @max. 0,
 * or -errno: /proc itself cannot be read.
 */
int open_devices_search(int proc_fd, const uint32_t *majors, size_t major_count,
			struct open_device *list, size_t max, struct open_devices *ret);
