/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that a runtime compiled in a process, from the file /tmp/perf-PID.map that it
 * writes (Node with --perf-basic-prof, Python from 3.12 with -X perf, Java with an agent), as seen
 * by the process. The file must be the process' own or root's. It grows: it is read again, at most
 * once per interval, if an address is not in it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "profile/symbol_table.h"

struct jit_names {
	struct symbol_table table;
	off_t read;  /* the size of the file when it was read */
	bool is_new; /* it may be read in this interval */
};

/* The file may be read at once. */
#define JIT_NAMES_INIT ((struct jit_names){ .is_new = true })

void jit_names_release(struct jit_names *names); /* to JIT_NAMES_INIT */
void jit_names_begin_interval(struct jit_names *names);
/* NULL: not known. */
const char *jit_names_find(struct jit_names *names, uint32_t pid, uint64_t address);
