/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of several sources of the same energy is charged: the best one that counts.
 *
 * Two zones are rivals if only one of them may be charged. They come from different sources
 * (trained and built-in models count as two) and have the same kind and instance, or one of them
 * has no instance and covers the whole kind. An estimate of the whole machine, unless it is a
 * trained model's, is a rival of every meter except those of devices. The built-in estimate of a
 * part is also a rival of every trained model. The better of two rivals has the lower rank; with
 * the same rank, it is the one that was found first.
 *
 * All are read; one of them counts. A better one takes over at the end of an interval in which it
 * was read and was due to count, if the worse one has counted up to that end, or is down. So no
 * time is charged twice, and none is lost between the two. A takeover is permanent: the worse one
 * has ended, and if the better one fails later, its own next reading covers the gap.
 *
 * A share of another machine's meter comes from that machine, which may cease to send it for good.
 * After a minute without a reading an estimate is charged instead. The share takes over again when
 * it is read, and counts from a reading on that is later than all that the estimate has counted.
 *
 * A counter that stands still is read without an error: a hypervisor may answer a register read
 * with a constant, or a sensor may have no input. If a rival moves meanwhile, the rival is charged
 * instead, even if it had ended: after a few seconds if the counter has never moved, so that hardly
 * any energy is lost, otherwise after a minute.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "energy/zone.h"

#define RANK_NEVER_MOVED_NS 3000000000ULL
#define RANK_STILL_NS       60000000000ULL
#define RANK_SILENT_NS      60000000000ULL

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
	bool is_silent; /* a share that was not read for RANK_SILENT_NS */
	bool is_away;   /* a rival has taken its place, because it was silent; it is held */
	/* MONOTONIC: the end of its last span, and of the last that had energy or was the first. */
	uint64_t read_ns, moved_ns;
	/* In the last interval: */
	bool was_read; /* it has a span up to the interval's end */
	bool is_due;   /* up, and not read: its next span is of that interval, too */
	bool is_ready; /* read well, and what follows may count */
};

bool rank_are_rivals(const struct zone *a, const struct zone *b);
/* Sets @contender's is_silent after an interval that ended at @now_ns. */
void rank_note_silence(struct contender *contender, uint64_t now_ns);
/* Returns true if @own has ended, but is to be read: a share that is silent counts in its place. */
bool rank_is_needed(const struct contender *contenders, size_t count, const struct contender *own);
/* The last of @count contenders is new; its standing is set, and that of rivals never read. */
void rank_enter(struct contender *contenders, size_t count);
/* Between two intervals: decides which zones count in the next one. Idempotent. */
void rank_settle(struct contender *contenders, size_t count);
