/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The weight of each party of an interval at a place, by a rule of share_rule.h that has signals.
 *
 * - A party's weight is made of its amounts: the cycles, the softirqs of both directions. Time or
 *   cycles with a busy sibling count share_rule_pairing_ppm() of their weight alone.
 * - Signals of the context switches cover the time that these have shown. If at least
 *   1 / SHARE_COUNTED_PART of a party's CPU time was counted, the rest is assumed to be like it;
 *   otherwise the rest weighs as much per nanosecond as the work of all parties does.
 * - CPU time times memory takes the memory of all parties of the party's container or, if that is
 *   not known, the mean over the other containers. At a socket, a party then has the part of its
 *   container's memory that is there, if that is known.
 * - At a socket, each party has the part of its amounts that corresponds to its CPU time there. A
 *   party that is known by its cgroup alone, without CPU time, has the part of all work there.
 * - Work without a name has CPU time only; it weighs as much per nanosecond as all parties do.
 *
 * No input makes a sum overflow: weights that sum to more than SHARE_WEIGHTS_MAX are all halved, as
 * often as necessary. Pure; memory grows to the largest number of parties so far.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "attribution/learning/power_fit.h"
#include "attribution/parties.h"
#include "attribution/share_rule.h"

#define SHARE_COUNTED_PART 8
/* With dropped and unseen work; a gap has room for hours of that. */
#define SHARE_WEIGHTS_MAX (UINT64_MAX >> 2)

/* The factors of a party's weight with SHARE_FIT. */
struct share_factor {
	double work; /* all but its part of the time awake */
	double all;
};

struct share_weights {
	uint64_t *weight; /* [size], as many as there are parties */
	size_t size;
	uint64_t *held; /* [held_size] memory by container, with SHARE_RESIDENT_TIME */
	size_t held_size;
	uint64_t *held_there; /* [held_there_size] at the place, if known */
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
 * Makes the weights by @rule, all of whose signals are known, at the socket @place or, if that is
 * parties->sockets or more, in the whole machine. @dropped_ns and @unseen_ns are of that place. 0
 * or -ENOMEM.
 */
int share_weights_make(struct share_weights *weights, const struct parties *parties,
		       enum share_rule rule, uint64_t smt_ppm, uint32_t place, uint64_t dropped_ns,
		       uint64_t unseen_ns);
void share_weights_release(struct share_weights *weights);
