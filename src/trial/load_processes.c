// SPDX-License-Identifier: Apache-2.0
/*
 * A process that is started shares the memory of its worker, as one of vfork() does: to copy the
 * page tables takes a large part of its life. Its worker waits meanwhile.
 */
#include "trial/load_processes.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "trial/load_arithmetic.h"
#include "trial/load_worker.h"

#define SHORT_LIFE_S    0.010
#define CHURN_LIFE_S    1.0
#define SPREAD          0.95 /* of the phase: the last ones must end in time */

#define STACK_SIZE      (64U * 1024)
#define STACK_ALIGNMENT 16

struct life {
	struct load_work *work;
	double length_s;
};

/* The process: it ends with its worker, because both have the same mark. */
static int live(void *argument)
{
	const struct life *life = argument;
	uint64_t end_ns = (uint64_t)(life->length_s * (double)NSEC_PER_SEC);

	while (!load_worker_is_over() && clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end_ns) {
		load_arithmetic_chunk(NULL);
		atomic_fetch_add_explicit(&life->work->units, 1, memory_order_relaxed);
	}
	_exit(0);
}

/* Returns false if no process could be started. */
static bool run_process(struct life *life, char *stack_end)
{
	pid_t pid = clone(live, stack_end, CLONE_VM | SIGCHLD, life);

	if (pid < 0)
		return false;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	atomic_fetch_add_explicit(&life->work->processes, 1, memory_order_relaxed);
	return true;
}

/* The start of the process with number @index. */
static uint64_t start_ns(const struct load_work *work, uint64_t index)
{
	double step_s = SPREAD * work->length_s / (double)work->processes_wanted;

	return work->began_ns + (uint64_t)((double)index * step_s * (double)NSEC_PER_SEC);
}

static void run_processes(struct load_work *work, double life_s)
{
	uint64_t wanted = work->processes_wanted, index;
	struct life life = { work, life_s };
	char *stack = aligned_alloc(STACK_ALIGNMENT, STACK_SIZE);

	if (!stack)
		return;
	while (!load_worker_is_over()) {
		index = atomic_fetch_add_explicit(&work->taken, 1, memory_order_relaxed);
		if (wanted > 0 && index < wanted)
			load_worker_sleep_until(start_ns(work, index));
		if (wanted > 0 && index >= wanted)
			load_worker_sleep_until(UINT64_MAX);
		else if (!load_worker_is_over() && !run_process(&life, stack + STACK_SIZE))
			break;
	}
	free(stack);
}

static void run_short_lived(const struct load_worker *worker)
{
	run_processes(worker->work, SHORT_LIFE_S);
}

static void run_churn(const struct load_worker *worker)
{
	run_processes(worker->work, CHURN_LIFE_S);
}

const struct load_kind load_short_lived = {
	.name = "short-lived",
	.unit = "chunks of work",
	.is_arithmetic = true,
	.duty = 1,
	.process_s = SHORT_LIFE_S,
	.processes = 3000,
	.run = run_short_lived,
};

const struct load_kind load_churn = {
	.name = "churn",
	.unit = "chunks of work",
	.is_arithmetic = true,
	.duty = 1,
	.process_s = CHURN_LIFE_S,
	.run = run_churn,
};
