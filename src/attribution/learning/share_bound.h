/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far shares that were learned from power alone may raise the charge of an owner.
 *
 * An owner can vary its work so that its power follows another owner's work; judged by power alone,
 * the other's work then looks expensive. No estimate can distinguish the two cases, so the harm is
 * bounded: an owner's share may have at most a given multiple of the odds, share / (1 - share),
 * that it has by the counters. With 5/3 an owner of half of the work is charged 1.25 times as much
 * at most, and one of little work 1.67 times. Shares may fall by any amount: that harms no other
 * owner beyond its own bound. Pure.
 */
#pragma once

#include <stddef.h>

/* The bound if owners are not trusted. */
#define SHARE_BOUND_ODDS (5.0 / 3)
/*
 * The same for memory if no signal of memory is known. The counters then show nothing about memory:
 * an honest owner can have eight times the odds, and refusing them would harm the others more than
 * a hostile owner could.
 */
#define SHARE_BOUND_BLIND_ODDS 8.0

/* The largest share of an owner whose share by counters is @known, 0..1. */
double share_bound_limit(double known, double odds);
/*
 * Writes to @ret, which may be @limit, the shares of @count owners that are nearest to @learned and
 * within @limit: the excess of an owner beyond its limit goes to the others in proportion to
 * @known. The sums of @learned and of @known are 1, and each limit is at least the known share.
 */
void share_bound_apply(const double *learned, const double *known, const double *limit,
		       size_t count, double *ret);
