/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line of /proc/PID/stat (proc(5)); pure. The name in it is chosen by the process: blanks,
 * parentheses, anything.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "activity/activity.h"

struct proc_stat {
	uint32_t pid;
	char comm[COMM_MAX]; /* raw bytes, cut, terminated */
	uint32_t ppid;
	uint32_t flags;        /* PF_… of the kernel */
	uint64_t self_ticks;   /* utime + stime of all threads, dead ones too */
	uint64_t reaped_ticks; /* the same of children that were waited for, and of theirs */
	uint32_t threads;
	uint64_t start_ticks; /* CLOCK_BOOTTIME */
	uint64_t rss_pages;   /* resident */
	uint32_t cpu;
};

#define PROC_STAT_KTHREAD 0x00200000 /* PF_KTHREAD in flags */

/* 0, or -EINVAL: not such a line, or cut short. */
int proc_stat_parse(const char *text, size_t len, struct proc_stat *ret);
