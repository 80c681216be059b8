/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs that do not depend on each other, on several processors. What they give is the same with any
 * number of threads, if each writes to places of its own.
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
