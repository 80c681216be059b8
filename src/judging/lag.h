/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By how much a predicted series is late: the shift with the highest correlation.
 *
 * Shifts are whole steps of the finer series, so that none of them smooths it more than others, and
 * a parabola through the best three gives the part of a step. A shift other than 0 has to leave
 * less than half of the variance that none leaves, and explain 0.1 % of all variance more, with a
 * correlation of at least 0.5 and 16 pairs; otherwise noise would be a lag. A series that varies by
 * less than 1 % of its mean shows no lag. By the same rule, a shift is not preferred to a nearer
 * one at which the correlation has a peak, too: a load that repeats itself fits at each period. A
 * peak between two shifts counts as high as it may be there, since a period that is not a whole
 * number of steps puts one peak on a shift, and the next one between two.
 */
#pragma once

#include "judging/series.h"

/*
 * In s, > 0 where the predicted series is late; shifts up to @most_s and at least two steps are
 * tried. NAN: nothing in the series shows it (one of them is constant, or they are too short). 0 or
 * -ENOMEM.
 */
int lag_find(const struct series *actual, const struct series *predicted, double most_s,
	     double *ret_lag_s);
