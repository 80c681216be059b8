/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What other methods would have said of the same recording, beside our own books. Each is a rule of
 * a known program, restated; neither is used for anything but comparison.
 *
 * classic: the ratio that Kepler used up to 0.9. The dynamic energy of a zone is shared by one
 * counter: instructions, for dram cache misses, where they are recorded; else CPU time. Where
 * nothing was counted, and of uncore and other always, it is shared evenly among all that live; so
 * is the idle energy.
 *
 * proc-ratio: the ratio of CPU time in /proc, as programs have it that poll it. All of a zone's
 * energy is shared by the CPU time of processes in clock ticks of 10 ms, of that of the machine.
 * What ended since the last poll is not seen; its part stays with the node.
 *
 * truth: what a simulation has written into the recording, because it knows it.
 */
#pragma once

#include <stdint.h>

#include "kepler/replay_books.h"

enum replay_rival { RIVAL_NONE, RIVAL_CLASSIC, RIVAL_PROC_RATIO, RIVAL_TRUTH };

struct replay_rivals;

/* 0 or -ENOMEM. */
int replay_rivals_new(enum replay_rival rival, struct replay_rivals **ret);
void replay_rivals_free(struct replay_rivals *rivals);
/* After each interval that @books have booked. 0 or -ENOMEM. */
int replay_rivals_take(struct replay_rivals *rivals, const struct replay_books *books,
		       const struct replay_moment *moment);
/* What processes really used in the interval that was taken last; ignored but by the truth. */
void replay_rivals_take_truth(struct replay_rivals *rivals, const struct replay_books *books,
			      const struct recorded_truth *truth);
/* µJ of all zones of @account of the books' layout, dynamic and idle, for a process row. */
double replay_rivals_process_uj(const struct replay_rivals *rivals, uint32_t process,
				uint32_t account);
