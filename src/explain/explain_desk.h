/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes questions of `kepler explain` to the loop, and its answers to the clients.
 *
 * The server's thread enters a question and returns; the loop answers it with the next interval;
 * the client asks again. Neither side waits. Without questions the loop loads one number an
 * interval. There are at most EXPLAIN_SLOTS questions, and an interval answers EXPLAIN_AT_ONCE of
 * them; a question that is not repeated for EXPLAIN_GONE_NS is forgotten. An answer is kept as long
 * for its client, and is given to others with the same question until EXPLAIN_STANDS_NS after the
 * interval's end; its first reader may get an older one.
 */
#pragma once

#include "explain/explain_answer.h"

#define EXPLAIN_SLOTS     8
#define EXPLAIN_AT_ONCE   2
#define EXPLAIN_GONE_NS   (10ULL * 1000000000ULL)
#define EXPLAIN_STANDS_NS (1ULL * 1000000000ULL)

struct explain_desk;

int explain_desk_new(struct explain_desk **ret);
/* Both sides have ended. */
void explain_desk_free(struct explain_desk *desk);

/* ---- the server's thread, one at a time ---- */

/*
 * Asks about @target, now or again. 0 and the answer, borrowed until the next call; -EAGAIN: the
 * answer comes with the next interval; -EBUSY: too many open questions; -ENAMETOOLONG, -ENOMEM.
 */
int explain_desk_ask(struct explain_desk *desk, const char *target, uint64_t now_ns,
		     const struct explain_answer **ret);

/* ---- the loop ---- */

/*
 * The questions that have waited longest, to be filled in. Returns how many. Each looks through the
 * rows and adds to each split, so that there are few in one interval.
 */
size_t explain_desk_take(struct explain_desk *desk, struct explain_answer *ret[EXPLAIN_AT_ONCE]);
/* All that were taken are answered. */
void explain_desk_give(struct explain_desk *desk, uint64_t now_ns);
