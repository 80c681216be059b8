// SPDX-License-Identifier: Apache-2.0
#include "training/drift.h"

#include <math.h>

void drift_init(struct drift *drift)
{
	*drift = (struct drift){ .ratio = (double)NAN };
}

bool drift_take(struct drift *drift, double error_w, double stated_w)
{
	bool was_alarm = drift->alarm;

	if (!isfinite(error_w) || !(stated_w > 0)) {
		drift->ratio = (double)NAN;
		return false;
	}
	drift->blocks++;
	drift->ratio = error_w / stated_w;
	drift->sum = fmax(0, drift->sum + fmin(drift->ratio, DRIFT_RATIO_MAX) - DRIFT_REFERENCE);
	drift->run = drift->sum > 0 ? drift->run + 1 : 0;
	if (drift->sum > DRIFT_LIMIT)
		drift->alarm = true;
	else if (!(drift->sum > 0))
		drift->alarm = false;
	return drift->alarm && !was_alarm;
}
