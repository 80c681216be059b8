/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What /proc tells of one process, when it must be asked. Only files that cannot hang: docs/design/
 * owners.md has which.
 */
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
/* Its real user; -errno: it is gone. */
int proc_process_uid(int proc_fd, uint32_t pid, uint32_t *ret);
/*
 * The file name, without folders, of what it runs, cut to @size. -errno: it is gone, a kernel
 * thread, or not ours to look at (other users' processes want CAP_SYS_PTRACE).
 */
int proc_process_exe(int proc_fd, uint32_t pid, char *buf, size_t size);
/* /proc/PID/NAME, terminated; what does not fit is cut. Length, or -errno. */
ssize_t proc_process_text(int proc_fd, uint32_t pid, const char *name, char *buf, size_t size);
