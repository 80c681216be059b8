/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict on a predicted series, given the actual one, and the cause of a failure.
 *
 * Energies decide. The error of a phase is (predicted − actual) / actual, where an actual energy
 * below 5 % of the range × time counts as that much. threshold_verdict() judges the 95 % interval
 * of the ratio, or the error if there is no interval. The whole series is judged in the same way.
 * Without phases, the series is judged in up to ten equal parts. The shape (judging/fit.h) may not
 * exceed max_error, nor the lag max_lag. A permitted lag is taken out before energies are compared.
 *
 * The finer series is cut at the reading times of the coarser one. If power changes within a window
 * of the coarser series, the energy up to a time inside that window is uncertain by a quarter of
 * the window × the change. A phase whose error would be within max_error without this uncertainty
 * is not judged.
 *
 * A series that is wrong at low and at high power, but right in sum, fails as `scale`
 * (judging/slope.h); so does a power that is read as a counter (judging/counter_form.h).
 *
 * A verdict is "inconclusive" with fewer than 8 pairs, or if more than 10 % of the actual series'
 * time is without a counterpart.
 *
 * Where the times of the predicted readings are uncertain, what these can explain fails nothing: of
 * the shape by judging/reading_times.h, of the energy of a phase the most power at each end × the
 * uncertainty. Such a phase is "inconclusive", as is a run in which a prediction with half or one
 * and a half times the range of power, and the right energy, might not show. It shows in a phase
 * whose power differs from the mean if half of that difference is above the bound and twice the
 * uncertainty / the phase's length, both of its power.
 *
 * Cause, by the first rule that applies: `lag`, if it is beyond its bound and the two series
 * correlate; `shape`, if they do not (r² < 0.5) or the prediction is constant; `saturation`, or
 * `offset` for a floor, if the prediction is at a limit; `shape`, if energies are right; else
 * `scale` or `offset`, whichever correction leaves the smaller errors.
 *
 * Numbers for comparison with other reports are of unshifted pairs. MSE = mean (p − a)²; MAPE =
 * mean |p − a| / max(|a|, 2.2e-16), both as scikit-learn has them, each pair counted once; R² = 1 −
 * Σ (p − a)² / Σ (a − mean a)²; MAE and bias are weighted by time.
 */
#pragma once

#include "judging/result.h"

#define JUDGE_MAX_LAG_S 10.0 /* the default bound */

/*
 * Judges @result->predicted by @result->actual with @result->threshold, and sets the rest of the
 * result. Both series are finished. @phases may be NULL. 0 or -ENOMEM.
 */
int judge_series(struct result *result, const struct phase *phases, size_t phase_count);
/*
 * Returns true if half or one and a half times the range of power would show in the phase, with
 * times of readings that are known to within ± @time_error_s. judge_series() has judged @result.
 */
bool judge_phase_shows_swing(const struct result *result, const struct phase_result *phase,
			     double time_error_s);
