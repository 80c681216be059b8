/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc tells of one process, when it must be asked. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_process {
	uint64_t start_ns; /* BOOTTIME, in steps of a clock tick */
	uint32_t ppid;
	char comm[16];
};

/* 0, or -errno: it is gone. */
int proc_process_read(int proc_fd, uint32_t pid, struct proc_process *ret);
/* Whether a start time is that of the process, as far as a clock tick can tell. */
bool proc_process_is(const struct proc_process *process, uint64_t start_ns);
/* /proc/PID/NAME, terminated; what does not fit is cut. Length, or -errno. */
ssize_t proc_process_text(int proc_fd, uint32_t pid, const char *name, char *buf, size_t size);
