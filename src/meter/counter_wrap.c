// SPDX-License-Identifier: Apache-2.0
/*
 * Wraps and resets look alike: both make the raw value fall. They differ in the power that a wrap
 * would imply. A counter of 262 kJ that fell from 100 kJ to 0 in one second would have turned at
 * 162 kW: that was a reset. A fall from just below the range is a wrap. The same limit refuses
 * forward jumps. Elapsed time is real time between readings, so after a failed interval the energy
 * of the gap is still taken when it is plausible.
 */
#include "meter/counter_wrap.h"

#include <errno.h>

#include "base/num.h"

/* Largest energy that can have flowed in @elapsed_ns; saturates instead of overflowing. */
static uint64_t energy_limit(uint64_t elapsed_ns, uint64_t max_power_uw)
{
	unsigned __int128 energy =
		((unsigned __int128)elapsed_ns + COUNTER_SLACK_NS) * max_power_uw / NSEC_PER_SEC;

	return energy > UINT64_MAX ? UINT64_MAX : (uint64_t)energy;
}

static void set_baseline(struct energy_counter *counter, const struct raw_reading *reading,
			 uint64_t time_ns)
{
	counter->raw_uj = reading->raw_uj;
	counter->range_uj = reading->range_uj;
	counter->generation = reading->generation;
	counter->time_ns = time_ns;
	counter->has_baseline = true;
}

static bool continues(const struct energy_counter *counter, const struct raw_reading *reading)
{
	return counter->has_baseline && counter->generation == reading->generation &&
	       counter->range_uj == reading->range_uj;
}

int energy_counter_advance(struct energy_counter *counter, const struct raw_reading *reading,
			   uint64_t time_ns, uint64_t max_power_uw)
{
	uint64_t delta, elapsed_ns;
	bool wrapped;

	if (reading->raw_uj > reading->range_uj) {
		counter->dropped++;
		return -ERANGE;
	}
	counter->restarted = !continues(counter, reading);
	if (counter->restarted) {
		set_baseline(counter, reading, time_ns);
		return 0;
	}
	wrapped = reading->raw_uj < counter->raw_uj;
	delta = wrapped ? counter->range_uj - counter->raw_uj + 1 + reading->raw_uj
			: reading->raw_uj - counter->raw_uj;
	elapsed_ns = time_ns > counter->time_ns ? time_ns - counter->time_ns : 0;
	if (delta > energy_limit(elapsed_ns, max_power_uw) ||
	    delta > UINT64_MAX - counter->energy_uj) {
		counter->dropped++;
		counter->restarted = true;
	} else {
		counter->energy_uj += delta;
		counter->wraps += wrapped;
	}
	set_baseline(counter, reading, time_ns);
	return 0;
}
