// SPDX-License-Identifier: Apache-2.0
#include "judging/counter_form.h"

#include <math.h>

#define RESETS_MOST  0.1 /* of all steps */
#define RESETS_LEAST 4
#define NEAR         2 /* factor */

static bool goes_down(const struct series *series)
{
	uint64_t resets = series->dropped.reset;

	return resets >= RESETS_LEAST && (double)resets > RESETS_MOST * (double)series->samples;
}

static double mean_rate(const struct series *series)
{
	struct amount all = series_amount(series, series_start_s(series), series_end_s(series));

	return all.covered_s > 0 ? all.amount / all.covered_s : (double)NAN;
}

bool counter_form_judge(struct result *result)
{
	const struct series *actual = result->actual, *predicted = result->predicted;
	double mean = predicted->value_sum / (double)predicted->samples;
	double ratio = mean / mean_rate(actual);

	if (goes_down(actual)) {
		result_set_verdict(result, VERDICT_INCONCLUSIVE,
				   "The actual series goes down in %llu of %llu steps: it is not a "
				   "counter.",
				   (unsigned long long)actual->dropped.reset,
				   (unsigned long long)actual->samples);
		return true;
	}
	if (!goes_down(predicted))
		return false;
	bool is_power = ratio > 1.0 / NEAR && ratio < NEAR;
	if (!isnan(result->threshold.max_error))
		result->cause = is_power ? CAUSE_SCALE : CAUSE_SHAPE;
	result_set_verdict(result, VERDICT_FAIL,
			   "The prediction goes down in %llu of %llu steps: it is not a counter.%s",
			   (unsigned long long)predicted->dropped.reset,
			   (unsigned long long)predicted->samples,
			   is_power ? " Its values are near the actual power, as if microwatts "
				      "were taken for microjoules."
				    : "");
	return true;
}
