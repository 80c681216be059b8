/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where questions are left for the loop, and answers for who asked: `kepler explain`.
 *
 * The server's thread leaves a question and goes; the loop answers it with the interval that it
 * books next; who asked comes again. Nothing waits here, on either side. While there is no
 * question the loop loads one number an interval. There are EXPLAIN_SLOTS questions at most, of
 * which an interval answers EXPLAIN_AT_ONCE; one that was not asked again for EXPLAIN_GONE_NS is
 * forgotten. An answer waits as long for what asked, and stands for EXPLAIN_STANDS_NS from the
 * interval's end for all that ask the same; its first reader may get one that is older.
 */
#pragma once

#include "kepler/explain_answer.h"

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
 * Asks about @target, now or again. 0 and the answer, which stays the desk's and stands until the
 * next call; -EAGAIN: asked, the answer comes with the next interval; -EBUSY: too many are being
 * asked about; -ENAMETOOLONG, -ENOMEM.
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
