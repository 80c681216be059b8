/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small files of /proc/PID, with descriptors kept open for as many processes as the budget
 * allows: reading through a kept one costs a fifth, and never reads the successor of a reused pid
 * (it answers -ESRCH).
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

enum proc_file { PROC_FILE_STAT, PROC_FILE_SCHEDSTAT };

struct proc_files {
	int dirfd;       /* of procfs */
	uint32_t budget; /* descriptors to keep: a quarter of RLIMIT_NOFILE, less when short */
	uint32_t kept;
};

/* At most one kept descriptor a process, for the file that is read most. */
struct proc_file_slot {
	int fd; /* -1: none */
	enum proc_file file;
};

/* 0 or -errno. */
int proc_files_open(const char *procfs, struct proc_files *ret);
void proc_files_close(struct proc_files *files);

/*
 * Reads @file of process @pid into @buf, terminated; keeps the descriptor in @slot when @keep and
 * the budget allows. Length or -errno: -ENOENT and -ESRCH when the process is gone.
 */
ssize_t proc_files_read(struct proc_files *files, struct proc_file_slot *slot, uint32_t pid,
			enum proc_file file, int keep, char *buf, size_t size);
void proc_files_drop(struct proc_files *files, struct proc_file_slot *slot);
