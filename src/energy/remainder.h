/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a machine draws beside its processors, memory and GPUs: fans, disks, network cards, the loss
 * of its power supply. No meter counts that. It is what the meter of the whole machine counts, less
 * what those of the parts do, over the same time.
 *
 * Meters are read at times of their own, and between two readings a counter is taken to be a
 * straight line. The remainder is known up to where all of them are: its spans follow each other
 * without a hole, and each reading is used in full, now or in the next span. So the sum of all
 * remainders and parts is the whole, to the microjoule, up to a debt: where the parts have counted
 * more than the whole (its sensor averages, and is late) the remainder is 0, and what is too much
 * is taken off the next ones.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "energy/rank.h"
#include "energy/span.h"

/* Readings of one zone that the slowest has not reached yet; of more every second is left out. */
#define REMAINDER_POINTS 32

/* A counter, as a line from point to point. */
struct remainder_curve {
	uint32_t zone;
	bool is_whole; /* added; else taken off */
	size_t count;
	uint64_t time_ns[REMAINDER_POINTS]; /* MONOTONIC, rising; the first: where the span began */
	uint64_t energy_uj[REMAINDER_POINTS]; /* since the curve began */
};

/* Zeroed: of nothing. */
struct remainder {
	struct remainder_curve *curves; /* [count], by zone */
	size_t count, size;
	uint64_t from_ns; /* MONOTONIC: the end of the last span; 0: there was none */
	bool has_begun;   /* all curves begin at from_ns */
	uint64_t debt_uj; /* that the parts have counted more than the whole */
};

/*
 * Which of the zones that count make a remainder: all of the machine's (platform), and what is in
 * it: psys, else package, dram and GPUs. None where the machine has no platform or neither psys nor
 * package, or one of these is not measured. To be called when zones are found, or their standing
 * may have changed. 0 or -ENOMEM: it goes on as before. What changes begins it anew.
 */
int remainder_follow(struct remainder *remainder, const struct contender *contenders, size_t count);
/* Whether there is one, so that it is a zone. */
bool remainder_exists(const struct remainder *remainder);
/* Whether zone @zone is one of those that are taken off. */
bool remainder_has_part(const struct remainder *remainder, size_t zone);
/*
 * Takes the spans of an interval, which are in the order of zones. True with the remainder's next
 * span, but for its zone; the first of all is not known, nor is one in which a zone's was not.
 */
bool remainder_advance(struct remainder *remainder, const struct energy_span *spans,
		       size_t span_count, struct energy_span *ret);
void remainder_release(struct remainder *remainder);
