// SPDX-License-Identifier: Apache-2.0
#include "trial/load_arithmetic.h"

#include "base/clock.h"
#include "trial/load_worker.h"

#define CHUNK_TURNS 300000U
#define ON_NS       (2 * NSEC_PER_SEC)

void load_arithmetic_chunk(void *unused)
{
	volatile uint64_t value = 88172645463325252ULL;

	(void)unused;
	for (unsigned i = 0; i < CHUNK_TURNS; i++) {
		uint64_t x = value;

		x ^= x << 13;
		x ^= x >> 7;
		value = x ^ (x << 17);
	}
}

static void run_steady(const struct load_worker *worker)
{
	load_worker_pace(worker, UINT64_MAX, load_arithmetic_chunk, NULL);
}

static void run_alternating(const struct load_worker *worker)
{
	uint64_t next = worker->work->began_ns; /* so that all workers alternate together */

	while (!load_worker_is_over()) {
		load_worker_pace(worker, next + ON_NS, load_arithmetic_chunk, NULL);
		next += 2 * ON_NS;
		load_worker_sleep_until(next);
	}
}

const struct load_kind load_steady = {
	.name = "steady",
	.unit = "chunks of work",
	.is_workers_only = true,
	.is_arithmetic = true,
	.duty = 1,
	.run = run_steady,
};

const struct load_kind load_alternating = {
	.name = "alternating",
	.unit = "chunks of work",
	.is_workers_only = true,
	.is_arithmetic = true,
	.duty = 0.5,
	.run = run_alternating,
};
