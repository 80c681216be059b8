// SPDX-License-Identifier: Apache-2.0
#include "judging/slope.h"

#include <math.h>

#define ERRORS_MARGIN 2 /* standard errors */

struct slope slope_of(const struct fit *fit, size_t pairs)
{
	const struct line *line = &fit->line;
	double r = line->correlation, blocks = sqrt((double)pairs);
	double part = fit->spread / fit->range;

	if (!(r > 0) || blocks <= 2)
		return (struct slope){ -(double)INFINITY, (double)INFINITY };
	double ratio = line->sd_predicted / line->sd_actual;
	double margin = ERRORS_MARGIN * ratio * sqrt((1 - r * r) / (blocks - 2));
	return (struct slope){ part * (ratio * r - margin - 1), part * (ratio / r + margin - 1) };
}

bool slope_judge(const struct fit *fit, const struct slope *slope, struct result *result)
{
	const struct line *line = &fit->line;
	const char *unit = result->actual->unit;
	double change = line->scale - 1;
	char bound[THRESHOLD_TEXT_MAX];

	if (threshold_verdict(&result->threshold, slope->low, slope->high) != VERDICT_FAIL)
		return false;
	threshold_text(&result->threshold, bound);
	result->cause = CAUSE_SCALE;
	result->error = fmax(result->error, fmin(fabs(slope->low), fabs(slope->high)));
	result_set_verdict(result, VERDICT_FAIL,
			   "Energies agree only as a whole: the prediction is %.4g times the "
			   "actual power %+.4g %s, so it is wrong by %+.4g %s at %.4g %s and by "
			   "%+.4g %s at %.4g %s (bound of the difference, as part of the range: "
			   "%s).",
			   line->scale, line->offset, unit, change * fit->low + line->offset, unit,
			   fit->low, unit, change * (fit->low + fit->spread) + line->offset, unit,
			   fit->low + fit->spread, unit, bound);
	return true;
}
