/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of simulated machines, in a process of their own, so that a crash is a finding as well. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct finding {
	bool failed, verbose;
	uint64_t seed, interval; /* of the machine, and in its life */
	char said[600];
	/* Over all machines of the run. */
	uint64_t done, pictures, refused;
	uint64_t machines, many_zones, most_zones, most_sockets; /* many: above WORLD_ZONES_MANY */
	uint64_t with_boards, most_boards;
};

struct plan {
	uint64_t seed;      /* of the first machine; the next has the next */
	uint64_t intervals; /* of all machines in sum */
	uint32_t features;
	bool verbose;
};

/* Runs machines until as many intervals are done, or one fails. */
void run_plan(const struct plan *plan, struct finding *ret);
