/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Idle energy by size: each owner is charged for idle power in proportion to the capacity that it
 * requested, whether it ran or not (GHG protocol, ICT sector guidance: by allocated capacity).
 * Pure.
 *
 * The size of an owner over an interval dt is a number of CPU-nanoseconds:
 *
 *     size = request × dt / 1000      request in thousandths of a CPU, else the limit
 *     size = Σ CPU time it used       if neither is known
 *
 * and is spread over its processes by the CPU time that they used, equally if none ran, to the
 * nanosecond: Σ weights of an owner's processes = its size. Used as the idle_weights of
 * attribute_zone(), which then splits the idle energy exactly.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "attribution/split.h"

#define IDLE_SIZE_MAX_MILLICPU 4096000U /* more than any machine has counts as this */

struct idle_size_scratch {
	size_t *first;     /* [owners + 1]: its first process in `order` */
	size_t *order;     /* [count] */
	uint64_t *used_ns; /* [count] of one owner */
	uint64_t *parts;   /* [count] of one owner */
	size_t owners, count;
	struct split_scratch split;
};
void idle_size_scratch_release(struct idle_size_scratch *scratch);

struct idle_size_input {
	uint64_t dt_ns;
	size_t count;            /* processes, or other receivers of energy */
	const uint32_t *owner;   /* [count], below @owners */
	const uint64_t *used_ns; /* [count] CPU time of the interval */
	size_t owners;
	const uint32_t *size_millicpu; /* [owners]: request, else limit; 0 unknown */
};

/*
 * Writes @weights[count]. An owner of known size without any process gets nothing: enter it once
 * with used_ns 0. 0, or -ENOMEM or -EOVERFLOW (CPU time beyond 64 bits): all weights are 0.
 */
int idle_size_weights(const struct idle_size_input *input, uint64_t *weights,
		      struct idle_size_scratch *scratch);
