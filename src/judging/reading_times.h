/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can uncertain times of reading explain how a prediction differs from the actual values?
 *
 * An exporter that does not state when it read its meters shows energy up to a time that is known
 * to within ±@time_error_s (result->time_error_s), besides a constant delay. So the energy between
 * any two of its readings, of a prediction that is right to within ±m, is between
 *
 *   (1 − m) × the least energy between the two times, and (1 + m) × the most,
 *
 * each time anywhere in its range. What the times can explain is bounded by the power at both ends,
 * and does not grow with the length of a stretch, but what a wrong scale or shape makes does. All
 * stretches are judged, in one pass: an upper bound that holds for all pairs i < j holds if the
 * least of (energy − bound) at i is not below that at j. m counts a power below 5 % of the range as
 * that much, as judging/judge.h does.
 *
 * Between two actual readings the energy is known to within a quarter of their distance × the
 * change of power there, as in judging/judge.h. A gap of the actual series begins a new stretch.
 */
#pragma once

#include <stdbool.h>

#include "judging/result.h"

/*
 * True: some constant delay near @lag_s explains all that is beyond @most, a ratio of energies, by
 * times within result->time_error_s. @small_rate is the power that counts as the least.
 */
bool reading_times_explain(const struct result *result, double lag_s, double most,
			   double small_rate);
/* The energy that a prediction may be off by at @time_s, because it was read at another time. */
double reading_times_energy(const struct result *result, double time_s);
