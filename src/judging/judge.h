/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict on a predicted series, given the actual one, and the cause of a failure.
 *
 * Energies decide. The error of a phase is (predicted − actual) / actual, where an actual energy
 * below 5 % of the range × time counts as that much. It, or the 95 % interval of the ratio, where
 * there is one, is judged by threshold_verdict(). The same goes for the whole series. Without
 * phases, the series is judged in up to ten equal parts. The shape (judging/fit.h) may not exceed
 * max_error, nor the lag max_lag. A permitted lag is taken out before energies are compared.
 *
 * The finer series is cut where the coarser one was read. A change of power within a window of it
 * makes its energy up to a time within that window uncertain, by a quarter of the window × the
 * change: a phase with an error within max_error but for that is not judged.
 *
 * A verdict is "inconclusive" with fewer than 8 pairs, or if more than 10 % of the actual series'
 * time is without a counterpart.
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
