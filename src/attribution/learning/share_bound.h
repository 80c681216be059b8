/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far shares that were learned from power alone may raise what an owner is charged.
 *
 * An owner can vary its work so that its power goes along with another owner's work; from power
 * alone the other's work then looks expensive. No estimate can tell the two apart, so the harm is
 * bounded: an owner's share may have at most a given multiple of the odds, share / (1 - share),
 * that it has by what counters show. With 5/3 an owner of half of the work is charged 1.25 times as
 * much at most, and one of little work 1.67 times. Shares may fall by any amount: that harms no
 * other owner beyond its own bound. Pure.
 */
#pragma once

#include <stddef.h>

/* The bound where owners are not trusted. */
#define SHARE_BOUND_ODDS (5.0 / 3)
/*
 * Likewise, of memory where no signal of memory is known. What counters show of it then says
 * nothing: an honest owner can have eight times the odds, and to refuse them harms the others more
 * than an owner that works against them could.
 */
#define SHARE_BOUND_BLIND_ODDS 8.0

/* The largest share of an owner that has @known, 0..1, by what counters show. */
double share_bound_limit(double known, double odds);
/*
 * The shares of @count owners nearest to the @learned ones that are within @limit, into @ret, which
 * may be @limit: what an owner has beyond its limit goes to the others in proportion to @known. The
 * sums of @learned and of @known are 1, and each limit is at least what is known.
 */
void share_bound_apply(const double *learned, const double *known, const double *limit,
		       size_t count, double *ret);
