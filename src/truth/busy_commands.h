/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which commands used the CPUs between two looks at the processes: proc_pid_stat(5). A process that
 * began and ended between them is not seen.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define BUSY_COMMAND_MAX   16 /* as the kernel has it */
#define BUSY_PROCESSES_MAX 65536
#define BUSY_TEXT_MAX      160

struct busy_process {
	uint64_t pid, start, ticks;
	char command[BUSY_COMMAND_MAX];
};

struct busy_look {
	struct busy_process *items; /* by pid */
	size_t count, size;
};

/* Looks at the processes of @procfs; those beyond BUSY_PROCESSES_MAX, or without memory, are not
 * in it. */
void busy_look_take(const char *procfs, struct busy_look *ret);
void busy_look_release(struct busy_look *look);
/*
 * The three commands that used most CPU time from @before to @after, without those that begin with
 * one of @mine, which NULL ends: "cc1 12.3 s, ld 0.8 s". "" if none used any.
 */
void busy_commands_text(const struct busy_look *before, const struct busy_look *after,
			const char *const *mine, char ret[static BUSY_TEXT_MAX]);
