// SPDX-License-Identifier: Apache-2.0
#include "meter/remote/counter_trial.h"

#include "base/num.h"

static bool agrees(uint64_t got_uj, uint64_t want_uj)
{
	uint64_t off_uj = got_uj > want_uj ? got_uj - want_uj : want_uj - got_uj;

	return got_uj > 0 && off_uj <= want_uj / COUNTER_TRIAL_PART;
}

bool counter_trial_take(struct counter_trial *trial, uint64_t time_ns, uint64_t energy_uj,
			uint64_t power_uw)
{
	const struct counter_trial last = *trial;
	uint64_t mean_uw = (last.power_uw + power_uw) / 2;

	*trial = (struct counter_trial){ time_ns, energy_uj, power_uw, 0 };
	if (!last.time_ns || energy_uj < last.energy_uj)
		return false;
	if (agrees(energy_uj - last.energy_uj,
		   muldiv_u64(mean_uw, time_ns - last.time_ns, NSEC_PER_SEC)))
		trial->agreed = last.agreed + 1;
	return trial->agreed >= COUNTER_TRIAL_READINGS;
}
