/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command of this program as a separate process of a server: its memory, and a crash of a library
 * in it, end with it. It has the limits that it is given, can be made to run only while CPUs are
 * idle (SCHED_IDLE), and ends with the thread that started it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"

struct worker_limits {
	uint64_t memory_bytes; /* of its address space; not with sanitizers */
	uint64_t cpu_s;        /* of its CPU time */
	uint64_t file_bytes;   /* of each file that it writes */
	bool only_idle;        /* it runs only while CPUs are idle */
};

struct worker_command {
	char *const *words; /* of its command line, the command's name first; NULL ends them */
	int in_fd;          /* its standard input; -1: nothing */
	int out_fd, err_fd; /* its output and errors; -1: ours */
	struct worker_limits limits;
};

/* The process, or -errno with a diagnosis. The caller waits for it. */
pid_t worker_start(const struct worker_command *command, struct diag *diag);
/*
 * Looks without waiting whether @pid has ended: true with its wait status, or with -1 when it is
 * unknown.
 */
bool worker_has_ended(pid_t pid, int *ret_status);
/* A text such as "it has ended with status 1" or "it was ended by signal 9 (Killed)". */
void worker_describe_end(int status, char *buf, size_t size);
