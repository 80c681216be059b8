/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One step of a stress run: processes of stress-ng, one a CPU, in a process group of their own.
 * They die with the process that has started them.
 *
 * The caller has blocked SIGINT, SIGTERM, SIGHUP and SIGCHLD.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "workbench/stress_guard.h"
#include "workbench/stress_plan.h"

struct stress_machine {
	const char *program; /* stress-ng */
	uint32_t cpus;
	struct stress_guard *guard;
};

struct stress_outcome {
	uint32_t started, failed; /* processes; killed ones have failed */
	bool was_stopped;         /* by a signal */
};

/* The program's path in @ret: 0, or -ENOENT. */
int stress_program_find(const char *name, char *ret, size_t size);
/* Runs for @step_ms: 0, or -errno if no process could be started. */
int stress_step_run(const struct stress_machine *machine, const struct stress_step *step,
		    uint64_t step_ms, struct stress_outcome *ret);
/* Waits. Returns true if a signal to stop came meanwhile. */
bool stress_wait(uint64_t ms);
/* Blocks the signals. */
void stress_block_signals(void);
