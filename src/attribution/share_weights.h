/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What does each party of an interval weigh at a place, by a rule of share_rule.h that has signals?
 *
 * - A party's weight is made of its amounts: the cycles, the softirqs of both directions. Time or
 *   cycles beside a busy sibling count share_rule_pairing_ppm() of what they would alone.
 * - Signals of the context switches are of the time that these have shown. A party of which at
 *   least 1 / SHARE_COUNTED_PART of its CPU time was counted is taken to have gone on like that in
 *   the rest; of another, the rest weighs as much per nanosecond as that of all parties does.
 * - CPU time times memory takes the memory of a party's container, of all its parties; of one of
 *   which that is not known, the mean of what ran elsewhere. Of a socket a party then has the part
 *   that its container's memory there is of all its memory, where that is known.
 * - Of a socket, each party has the part that its CPU time there is of all its CPU time; what is
 *   known by its cgroup alone, and has no CPU time, the part that all work has there.
 * - Work without a name has CPU time only; it weighs what all parties weigh per nanosecond.
 *
 * No input makes a sum overflow: weights that sum to more than SHARE_WEIGHTS_MAX are halved, all of
 * them, as often as that takes. Pure; memory grows to the most parties that there ever were.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "attribution/parties.h"
#include "attribution/learning/power_fit.h"
#include "attribution/share_rule.h"

#define SHARE_COUNTED_PART 8
/* With dropped and unseen work; a gap has room for hours of that. */
#define SHARE_WEIGHTS_MAX (UINT64_MAX >> 2)

/* By which the weight of a party is multiplied with SHARE_FIT. */
struct share_factor {
	double work; /* all but its part of the time awake */
	double all;
};

struct share_weights {
	uint64_t *weight; /* [size], as many as there are parties */
	size_t size;
	uint64_t *held; /* [held_size] memory by container, with SHARE_RESIDENT_TIME */
	size_t held_size;
	uint64_t *
		held_there; /* [held_there_size] likewise, of it at the place, where that is known */
	size_t held_there_size;
	uint64_t dropped, unseen;
	/* With SHARE_FIT, to be set before: joules per unit, and borrowed, by party, or NULL: 1s. */
	double coefficient[POWER_FIT_FEATURES];
	double awake_ratio; /* power_fit_work.h */
	const struct share_factor *factor;
};

/*
 * The signals that can weigh the work of this interval: those that are known, but none of counted
 * time unless context switches have shown half of the CPU time of all parties.
 */
uint32_t share_weights_signals(const struct parties *parties);
/*
 * By @rule, all of whose signals are known, at the socket @place or, where that is
 * parties->sockets or more, in the whole machine. @dropped_ns and @unseen_ns are of that place. 0 or
 * -ENOMEM.
 */
int share_weights_make(struct share_weights *weights, const struct parties *parties,
		       enum share_rule rule, uint64_t smt_ppm, uint32_t place, uint64_t dropped_ns,
		       uint64_t unseen_ns);
void share_weights_release(struct share_weights *weights);
