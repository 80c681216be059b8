// SPDX-License-Identifier: Apache-2.0
/* The order is a single cycle through all lines: S. Sattolo's shuffle (1986). */
#include "trial/load_memory.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "trial/load_worker.h"

#define LINE        64U
#define LINES       (1U << 20)
#define CHUNK_STEPS 10000U

struct line {
	uint32_t next;
	uint32_t visits;
	char rest[LINE - 2 * sizeof(uint32_t)];
};

struct chase {
	struct line *lines;
	uint32_t at;
};

static void make_cycle(struct line *lines)
{
	uint64_t random = 88172645463325252ULL;

	for (uint32_t i = 0; i < LINES; i++)
		lines[i].next = i;
	for (uint32_t i = LINES - 1; i > 0 && !load_worker_is_over(); i--) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		uint32_t other = (uint32_t)(random % i);
		uint32_t next = lines[i].next;
		lines[i].next = lines[other].next;
		lines[other].next = next;
	}
}

static void do_chunk(void *argument)
{
	struct chase *chase = argument;
	uint32_t at = chase->at;

	for (unsigned i = 0; i < CHUNK_STEPS; i++) {
		chase->lines[at].visits++;
		at = chase->lines[at].next;
	}
	chase->at = at;
}

static void run_memory(const struct load_worker *worker)
{
	struct chase chase = { mmap(NULL, sizeof(struct line[LINES]), PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
			       0 };

	if (chase.lines == MAP_FAILED)
		return;
	make_cycle(chase.lines);
	load_worker_pace(worker, UINT64_MAX, do_chunk, &chase);
}

const struct load_kind load_memory = {
	.name = "memory",
	.unit = "chunks of work",
	.is_workers_only = true,
	.duty = 1,
	.run = run_memory,
};
