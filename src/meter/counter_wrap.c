// SPDX-License-Identifier: Apache-2.0
/*
 * Wraps and resets look alike: both make the raw value fall. They differ in the power that a wrap
 * would imply. A counter of 262 kJ that fell from 100 kJ to 0 in one second would have turned at
 * 162 kW: that was a reset. A fall from just below the range is a wrap. The same limit refuses
 * forward jumps. Elapsed time is real time between readings, so after a failed interval the energy
 * of the gap is still taken when it is plausible.
 *
 * The limit also says when the counter may have wrapped unseen: if the energy between two readings
 * plus one range is plausible as well. For this question the time that the machine slept counts,
 * since a counter may go on then; for the limit itself it does not, since after a deep sleep the
 * counter starts at 0, which would look like a wrap.
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

static uint64_t span_ns(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* The values may lie as far apart as the begin of the last read and the end of this one. */
static uint64_t awake_ns(const struct energy_counter *counter, const struct reading_time *when)
{
	return span_ns(counter->when.begun_ns, when->time_ns);
}

static uint64_t asleep_ns(const struct energy_counter *counter, const struct reading_time *when)
{
	return span_ns(span_ns(counter->when.time_ns, when->time_ns),
		       span_ns(counter->when.boottime_ns, when->boottime_ns));
}

/* True if @delta_uj since the last reading is possible and one more wrap is not. */
static bool is_certain(const struct energy_counter *counter, uint64_t delta_uj,
		       const struct reading_time *when, uint64_t max_power_uw)
{
	uint64_t elapsed_ns = awake_ns(counter, when);
	uint64_t with_turn_uj;

	if (delta_uj > energy_limit(elapsed_ns, max_power_uw))
		return false;
	if (__builtin_add_overflow(counter->range_uj, 1, &with_turn_uj) ||
	    __builtin_add_overflow(with_turn_uj, delta_uj, &with_turn_uj))
		return true;
	return with_turn_uj > energy_limit(elapsed_ns + asleep_ns(counter, when), max_power_uw);
}

static void set_baseline(struct energy_counter *counter, const struct raw_reading *reading,
			 const struct reading_time *when)
{
	counter->raw_uj = reading->value;
	counter->range_uj = reading->range_uj;
	counter->unread_max_uj = reading->unread_max_uj;
	counter->generation = reading->generation;
	counter->when = *when;
	counter->has_baseline = true;
}

static bool continues(const struct energy_counter *counter, const struct raw_reading *reading)
{
	return counter->has_baseline && counter->generation == reading->generation &&
	       counter->range_uj == reading->range_uj;
}

int energy_counter_advance(struct energy_counter *counter, const struct raw_reading *reading,
			   const struct reading_time *when, uint64_t max_power_uw)
{
	uint64_t delta;
	bool wrapped;

	if (reading->value > reading->range_uj) {
		counter->dropped++;
		return -ERANGE;
	}
	counter->restarted = !continues(counter, reading);
	counter->refused = false;
	if (counter->restarted) {
		set_baseline(counter, reading, when);
		return 0;
	}
	wrapped = reading->value < counter->raw_uj;
	delta = wrapped ? counter->range_uj - counter->raw_uj + 1 + reading->value
			: reading->value - counter->raw_uj;
	if (!is_certain(counter, delta, when, max_power_uw) ||
	    delta > UINT64_MAX - counter->energy_uj) {
		counter->dropped++;
		counter->refusals++;
		counter->restarted = counter->refused = true;
	} else {
		counter->energy_uj += delta;
		counter->wraps += wrapped;
		counter->refusals = 0;
	}
	set_baseline(counter, reading, when);
	return 0;
}

uint64_t energy_counter_period_ns(const struct energy_counter *counter, uint64_t max_power_uw)
{
	unsigned __int128 period_ns;
	uint64_t wrap_uj = counter->range_uj;

	if (counter->unread_max_uj && counter->unread_max_uj < wrap_uj)
		wrap_uj = counter->unread_max_uj;
	if (!counter->has_baseline || max_power_uw == 0)
		return UINT64_MAX;
	period_ns = (unsigned __int128)wrap_uj * (NSEC_PER_SEC / 2) / max_power_uw;
	if (period_ns < COUNTER_PERIOD_MIN_NS)
		return COUNTER_PERIOD_MIN_NS;
	return period_ns > UINT64_MAX ? UINT64_MAX : (uint64_t)period_ns;
}
