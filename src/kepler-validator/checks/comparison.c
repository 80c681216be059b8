// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/comparison.h"

#include <errno.h>
#include <math.h>

#include "judging/judge.h"
#include "kepler-validator/checks/truth_checks.h"

#define MARGIN_PHASES 4 /* windows that a phase needs for its first and last to be left out */
#define STALE_STEPS   5 /* with an older last page, an exporter has stopped */

/*
 * The phases, as far as the series has them, less two windows at its ends that may have no pair.
 * The power changes where two phases meet, and readings of the truth and of the exporter there are
 * not of the same moment: a phase that is long enough begins and ends a window farther inside.
 */
static size_t phases_within(const struct observation *observation, const struct series *series,
			    struct phase *ret)
{
	double step_s = series_step_s(series);
	size_t count = 0;

	for (size_t i = 0; i < observation->phase_count; i++) {
		struct phase phase = observation->phases[i].phase;

		phase.start_s = fmax(phase.start_s, series_start_s(series) + 2 * step_s);
		phase.end_s = fmin(phase.end_s, series_end_s(series) - 2 * step_s);
		if (phase.end_s - phase.start_s >= MARGIN_PHASES * step_s) {
			phase.start_s += step_s;
			phase.end_s -= step_s;
		}
		/* A phase of less than one window is not resolved. */
		if (phase.end_s - phase.start_s > step_s)
			ret[count++] = phase;
	}
	return count;
}

/* The truth's last moment that the exporter must have shown. */
static double comparison_end_s(const struct series *actual, const struct series *predicted)
{
	double actual_s = series_end_s(actual), predicted_s = series_end_s(predicted);
	bool has_stopped = actual_s - predicted_s > STALE_STEPS * series_step_s(predicted);

	return has_stopped ? actual_s : predicted_s;
}

int comparison_judge(const struct checking *checking, struct result *result,
		     const struct truth_zone *truth, const struct series *predicted)
{
	const struct series *actual = truth->series;
	struct phase phases[PLAN_PHASES_MAX];

	result->actual =
		series_cut(actual, series_start_s(predicted), comparison_end_s(actual, predicted));
	result->predicted = series_cut(predicted, series_start_s(actual), series_end_s(actual));
	int r = -ENOMEM;
	if (result->actual && result->predicted) {
		size_t count = phases_within(checking->observation, result->predicted, phases);

		/* A busy machine stops both programs between a reading and the clock. */
		result->time_error_s = fmax(checking->observation->step_s / 2,
					    checking->exporter->time_error_s + truth->time_error_s);
		r = judge_series(result, phases, count);
	}
	if (r < 0) {
		result_free(result);
		return r;
	}
	truth_doubt_apply(truth, result);
	return result_list_add(checking->results, result);
}
