/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of several sources of the same energy is charged: the best that counts.
 *
 * Rivals are two zones of different sources, or of models that are trained and built in, of which
 * only one may be charged: they have the same kind and instance, or one of them has none and is of
 * all there are of the kind, or one is estimated for the whole machine, where it is no trained
 * model's, and the other is measured. A part that the built-in model estimates is a rival of all
 * that is measured, and of all that trained models estimate. Of rivals the one with the lower rank
 * of its source is better; with the same rank, the one found first.
 *
 * All are read; one of them counts. A better one takes over at the end of an interval in which it
 * was read and was due to count, if the worse one has counted up to that end, or is down. So no
 * time is charged twice, and none is lost between the two. A takeover is permanent: the worse one
 * has ended, and if the better one fails later, its own next reading covers the gap.
 *
 * One that is read and stands still is no failure that its own reading shows: a register that a
 * hypervisor answers with a constant, a sensor that nothing feeds. Where a rival moves meanwhile,
 * that one is charged in its place, though it had ended: after a few seconds where the other has
 * never moved, so that hardly anything is lost, else after a minute.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "energy/zone.h"

#define RANK_NEVER_MOVED_NS 3000000000ULL
#define RANK_STILL_NS       60000000000ULL

enum standing {
	STANDING_COUNTS,
	STANDING_HELD,  /* it is read, and a rival is charged, or the better one is not known yet */
	STANDING_ENDED, /* a better one is charged, as long as it moves */
};

struct contender {
	const struct zone *zone;
	enum standing standing;
	bool has_begun; /* was read at least once */
	bool has_moved; /* and has counted energy */
	bool is_still;  /* a rival has taken its place, because it stood still */
	/* MONOTONIC: the end of its last span, and of the last that had energy or was the first. */
	uint64_t read_ns, moved_ns;
	/* Of the last interval: */
	bool was_read; /* it has a span up to the interval's end */
	bool is_due;   /* up, and not read: its next span is of that interval, too */
	bool is_ready; /* read well, and what follows may count */
};

bool rank_are_rivals(const struct zone *a, const struct zone *b);
/* The last of @count contenders is new; its standing is set, and that of rivals never read. */
void rank_enter(struct contender *contenders, size_t count);
/* Between two intervals: decides which zones count in the next one. Idempotent. */
void rank_settle(struct contender *contenders, size_t count);
