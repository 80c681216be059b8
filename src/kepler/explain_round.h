/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The questions that one interval answers: found when the interval's rows are known, noted while
 * it is booked, and finished when it is published. On the loop's thread; without a question an
 * interval loads one number.
 */
#pragma once

#include "kepler/explain_desk.h"
#include "snapshot/publisher.h"

struct explain_round {
	struct explain_answer *answers[EXPLAIN_SLOTS];
	size_t count;
	struct explanation *found[EXPLAIN_SLOTS]; /* of those of them that are about a row */
	size_t found_count;
};

/* When and in what an interval ran. */
struct explain_times {
	uint64_t now_ns, boottime_ns; /* of its end */
	int64_t now_ms;
	uint64_t span_ns;
	uint64_t busy_ns; /* of all CPUs */
};

/* Takes the questions of @desk, NULL none, when the rows of all that ran are there. */
void explain_round_begin(struct explain_round *round, struct explain_desk *desk,
			 const struct ledger *ledger, const struct explain_times *times);
/* After the interval is booked, before it is published, which may release rows. */
void explain_round_book(struct explain_round *round, struct ledger *ledger);
/* After it is published: what the newest snapshot shows of each, and the answers go. */
void explain_round_end(struct explain_round *round, struct explain_desk *desk,
		       struct snapshot_holder *holder, const struct publisher_options *options,
		       uint64_t now_ns);
