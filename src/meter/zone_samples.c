// SPDX-License-Identifier: Apache-2.0
#include "meter/zone_samples.h"

#include <errno.h>

/* The text was read but is no number, or not a whole one. */
static bool is_garbage(int err)
{
	return err == -EINVAL || err == -ERANGE || err == -EBADMSG || err == -EFBIG;
}

int zone_samples_take(struct zone_samples *samples, int error, const struct raw_reading *raw,
		      const struct reading_time *when)
{
	struct energy_counter *counter = &samples->counter;
	int r;

	samples->reads++;
	samples->tried_ns = when->begun_ns;
	if (error < 0) {
		if (is_garbage(error))
			counter->dropped++;
		return error;
	}
	r = energy_counter_advance(counter, raw, when, samples->max_power_uw);
	if (r < 0)
		return r;
	samples->restarted |= counter->restarted;
	samples->refused |= counter->refused;
	return 0;
}

struct energy_span zone_samples_span(struct zone_samples *samples)
{
	const struct energy_span span = {
		.known = !samples->restarted,
		.from_ns = samples->from_ns,
		.to_ns = samples->counter.when.time_ns,
		.energy_uj = samples->restarted ? 0 : samples->counter.energy_uj,
	};

	samples->counter.energy_uj = 0;
	samples->from_ns = span.to_ns;
	samples->restarted = samples->refused = false;
	return span;
}

static uint64_t period_ns(const struct zone_samples *samples)
{
	return energy_counter_period_ns(&samples->counter, samples->max_power_uw);
}

uint64_t zone_samples_due_ns(const struct zone_samples *samples)
{
	uint64_t due_ns;

	return __builtin_add_overflow(samples->tried_ns, period_ns(samples), &due_ns) ? UINT64_MAX
										      : due_ns;
}

bool zone_samples_may_join(const struct zone_samples *samples, uint64_t now_ns)
{
	return samples->counter.has_baseline && now_ns > samples->tried_ns &&
	       now_ns - samples->tried_ns >= period_ns(samples) / 2;
}
