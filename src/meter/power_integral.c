// SPDX-License-Identifier: Apache-2.0
#include "meter/power_integral.h"

#include <math.h>

#include "base/num.h"

uint64_t power_microwatts(double watts)
{
	return watts > 0 ? (uint64_t)llround(watts * 1e6) : 0;
}

uint64_t power_integral_add(struct power_integral *integral, uint64_t power_uw, uint64_t dt_ns)
{
	unsigned __int128 sum = (unsigned __int128)power_uw * dt_ns + integral->carry_uw_ns;

	integral->carry_uw_ns = (uint64_t)(sum % NSEC_PER_SEC);
	return (uint64_t)(sum / NSEC_PER_SEC);
}
