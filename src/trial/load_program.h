/* SPDX-License-Identifier: Apache-2.0 */
/* A program of another package as a load: a child of a worker, which ends with it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct load_program {
	pid_t pid;  /* 0: none runs */
	int output; /* what it prints */
};

/* Is it in a folder of PATH? */
bool load_program_is_installed(const char *name);
/* Called in a worker. Starts @argv, found in PATH. 0 or -errno. */
int load_program_start(char *const *argv, struct load_program *ret);
/*
 * Ends it with SIGTERM, after five seconds with SIGKILL, and waits for it. Returns the length of
 * its output; @buf has the first @size - 1 bytes, terminated.
 */
size_t load_program_stop(struct load_program *program, char *buf, size_t size);
