/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a thread that uses a disk begins. It opens its files itself, because a disk can keep that
 * call waiting for ever; the start of the program waits for the result for a while. What fails in
 * that time is a wrong configuration, for which the program does not start; a disk that hangs is
 * state.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

struct disk_start {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_over;     /* the files are open, or cannot be opened */
	bool is_given_up; /* the start of the program has gone on without a result */
	int result;
	struct diag diag;
};

void disk_start_init(struct disk_start *start);
void disk_start_release(struct disk_start *start);
/*
 * By the thread: @r is 0 or -errno with a diagnosis. False: the start of the program has not waited
 * so long, and the result is the thread's to report.
 */
bool disk_start_end(struct disk_start *start, int r, const struct diag *diag);
/*
 * Once: waits until @until_ns (CLOCK_MONOTONIC). The thread's result with its diagnosis, or
 * -ETIMEDOUT without one: the disk does not respond.
 */
int disk_start_wait(struct disk_start *start, uint64_t until_ns, struct diag *diag);
