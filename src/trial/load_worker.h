/* SPDX-License-Identifier: Apache-2.0 */
/* The needs of loads of all kinds in a worker: its end, and its part of a CPU. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trial/load_kind.h"

/* Handles SIGTERM, which ends a worker between two chunks of work. */
void load_worker_begin(void);
bool load_worker_is_over(void);
/* Sleeps until a time of CLOCK_MONOTONIC, or until the worker is over. */
void load_worker_sleep_until(uint64_t ns);
/*
 * Does one chunk of about 1 ms after another for the worker's part of each 20 ms, until @end_ns of
 * CLOCK_MONOTONIC or until the worker is over. Counts each as a unit.
 */
void load_worker_pace(const struct load_worker *worker, uint64_t end_ns, void (*do_chunk)(void *),
		      void *argument);
