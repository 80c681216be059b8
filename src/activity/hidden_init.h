/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Process 1, if the kernel hides it from BPF, as kernels of some sandboxes do. It is then read from
 * /proc instead, in ticks, and given to the thread table like a thread that a pass has reported.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "activity/bpf_reader/thread_table.h"

struct hidden_init {
	int proc_fd; /* of procfs */
	bool hidden;
	uint64_t first_run_ns, run_ns;
};

/* 0 or -errno. */
int hidden_init_open(const char *procfs, struct hidden_init *ret);
void hidden_init_close(struct hidden_init *init);
/*
 * Whether process 1 is hidden: it is in none of the passes of @table, whose first one was full. 1:
 * it is, and from now on it is read; 0: it is not. Else the answer is unknown: -EAGAIN if passes do
 * not report all threads, -EXDEV if procfs belongs to another pid namespace than BPF's, or the
 * error of reading procfs.
 */
int hidden_init_look(struct hidden_init *init, const struct thread_table *table);
/* Its record for the pass that has just been made; false: it is not hidden, or cannot be read. */
bool hidden_init_read(struct hidden_init *init, struct kepler_thread *ret);
/* Its run time since it was found. */
uint64_t hidden_init_cpu_ns(const struct hidden_init *init);
