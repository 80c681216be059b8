/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about one process from /proc (proc(5)). Only files that cannot hang are read:
 * docs/design/owners.md lists them. A process chooses its name, which may have blanks, parentheses
 * and any other byte.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define COMM_MAX 16 /* TASK_COMM_LEN with its terminator */

/* The line of /proc/PID/stat. */
struct proc_stat {
	uint32_t pid;
	char comm[COMM_MAX]; /* raw bytes, cut, terminated */
	uint32_t ppid;
	uint32_t flags;        /* PF_… of the kernel */
	uint64_t self_ticks;   /* utime + stime of all threads, including those that ended */
	uint64_t reaped_ticks; /* the same of children that were waited for, and of theirs */
	uint32_t threads;
	uint64_t start_ticks; /* CLOCK_BOOTTIME */
	uint64_t rss_pages;   /* resident */
	uint32_t cpu;
};

#define PROC_STAT_KTHREAD 0x00200000 /* PF_KTHREAD in flags */

/* 0, or -EINVAL: not such a line, or cut short. */
int proc_stat_parse(const char *text, size_t len, struct proc_stat *ret); /* pure */

/* 0, or -errno: it is gone. */
int proc_read_stat(int proc_fd, uint32_t pid, struct proc_stat *ret);
/* When it started: BOOTTIME, in steps of a clock tick. */
uint64_t proc_start_ns(const struct proc_stat *stat);
/* Returns true if two start times may belong to one process, to within a clock tick. */
bool proc_is_same_start(uint64_t a_ns, uint64_t b_ns);
/* Its real user; -errno: it is gone. */
int proc_read_uid(int proc_fd, uint32_t pid, uint32_t *ret);
/*
 * The file name of its executable, without directories, cut to @size. -errno: it is gone, a kernel
 * thread, or not readable (other users' processes need CAP_SYS_PTRACE).
 */
int proc_read_exe(int proc_fd, uint32_t pid, char *buf, size_t size);
/* /proc/PID/NAME, terminated; text that does not fit is cut. Length, or -errno. */
ssize_t proc_read_text(int proc_fd, uint32_t pid, const char *name, char *buf, size_t size);
