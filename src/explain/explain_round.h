/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The questions that one interval answers: found when the interval's rows are known, noted while
 * it is booked, and finished when it is published. On the loop's thread; without a question an
 * interval loads one number.
 */
#pragma once

#include "explain/explain_desk.h"
#include "snapshot/publisher.h"

struct explain_round {
	struct explain_answer *answers[EXPLAIN_AT_ONCE];
	size_t count;
	struct explanation *found[EXPLAIN_AT_ONCE]; /* of those of them that are about a row */
	size_t found_count;
};

/* When and in what an interval ran. */
struct explain_times {
	uint64_t now_ns, boottime_ns; /* of its end */
	int64_t now_ms;
	uint64_t span_ns;
	uint64_t busy_ns; /* of all CPUs */
	int error;        /* -errno: processes could not be read */
};

/* What published an interval, and where. */
struct explain_publication {
	const struct publisher *publisher;
	struct snapshot_holder *holder;
	const struct publisher_options *options;
	int result; /* 0 or -errno: then the newest snapshot is of an interval before */
};

/* Takes the questions of @desk, NULL none, when the rows of all that ran are there. */
void explain_round_begin(struct explain_round *round, struct explain_desk *desk,
			 const struct ledger *ledger, const struct explain_times *times);
/* After the interval is booked, before it is published, which may release rows. */
void explain_round_book(struct explain_round *round, struct ledger *ledger);
/* After publisher_publish(), which returned @publication->result: what is shown, and where. */
void explain_round_end(struct explain_round *round, struct explain_desk *desk,
		       const struct explain_publication *publication, uint64_t now_ns);
