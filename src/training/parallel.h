/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Independent jobs on several processors. The result is the same with any number of threads, if
 * each job writes to its own memory.
 */
#pragma once

#include <stddef.h>

#define PARALLEL_THREADS_MAX 64

/* Processors that this process may run on, 1 … PARALLEL_THREADS_MAX. */
unsigned parallel_processors(void);
/*
 * Calls job(context, 0 … count - 1), each once, in any order, on @threads threads, including the
 * caller's. After a job has failed no other one begins. 0, or the result of the failed job with the
 * lowest index. A thread that cannot be started is left out.
 */
int parallel_run(size_t count, unsigned threads, int (*job)(void *context, size_t index),
		 void *context);
