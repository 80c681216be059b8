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
	struct explanation *found[EXPLAIN_AT_ONCE]; /* for the answers that are about a row */
	size_t found_count;
};

/* The times of an interval. */
struct explain_times {
	uint64_t now_ns, boottime_ns; /* of its end */
	int64_t now_ms;
	uint64_t span_ns;
	uint64_t busy_ns; /* of all CPUs */
	int error;        /* -errno: processes could not be read */
};

/* Where an interval was published. */
struct explain_publication {
	const struct publisher *publisher;
	struct snapshot_holder *holder;
	const struct publisher_options *options;
	int result; /* 0 or -errno: then the newest snapshot is of an interval before */
};

/* Takes the questions of @desk, NULL none, when the rows of all that ran are there. */
void explain_round_begin(struct explain_round *round, struct explain_desk *desk,
			 const struct ledger *ledger, const struct explain_times *times);
/* With the host's account as of this interval. */
void explain_round_note_host(struct explain_round *round, const struct explained_host *host);
/* After the interval is booked, before it is published, which may release rows. */
void explain_round_book(struct explain_round *round, struct ledger *ledger);
/* Adds where the rows are shown, after publisher_publish() returned @publication->result. */
void explain_round_end(struct explain_round *round, struct explain_desk *desk,
		       const struct explain_publication *publication, uint64_t now_ns);
