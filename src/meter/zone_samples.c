// SPDX-License-Identifier: Apache-2.0
#include "meter/zone_samples.h"

#include <errno.h>

/* True if the text was read but is not a number, or not a whole one. */
static bool is_garbage(int err)
{
	return err == -EINVAL || err == -ERANGE || err == -EBADMSG || err == -EFBIG;
}

/* The time of the value: as the source says, else when it was read. */
static struct reading_time time_of(const struct raw_reading *raw, const struct reading_time *when)
{
	uint64_t age_ns = when->time_ns - raw->to_ns;

	if (!raw->to_ns || raw->to_ns > when->time_ns)
		return *when;
	return (struct reading_time){
		.begun_ns = raw->to_ns,
		.time_ns = raw->to_ns,
		.boottime_ns = when->boottime_ns > age_ns ? when->boottime_ns - age_ns : 0,
	};
}

/*
 * True if this power and the power of the reading before stand for all the time between them: a
 * mean that reaches back to it does, however long that is.
 */
static bool is_bridged(const struct zone_samples *samples, const struct raw_reading *raw,
		       const struct reading_time *when)
{
	const struct energy_counter *counter = &samples->counter;

	return counter->has_baseline && counter->generation == raw->generation &&
	       (when->time_ns - counter->when.time_ns <= samples->bridge_ns ||
		(raw->from_ns && raw->from_ns <= counter->when.time_ns));
}

/* A mean stands for all of its time; two momentary powers are averaged. */
static uint64_t mean_power(const struct zone_samples *samples, const struct raw_reading *raw)
{
	if (raw->from_ns)
		return raw->value;
	return samples->power_uw / 2 + raw->value / 2 + (samples->power_uw & raw->value & 1);
}

/*
 * Firmware that does not know a power says the largest number of its field, signed or not: of 32
 * bits in uW, mW or W, or of 16 bits in W (ACPI 6.5, 10.4.1: _PMM; DCMI 1.5, 6.6.1).
 */
static bool is_unknown_power(uint64_t uw)
{
	static const uint64_t units_uw[] = { 1, 1000, 1000000 };

	for (size_t i = 0; i < sizeof(units_uw) / sizeof(*units_uw); i++) {
		if (uw == UINT32_MAX * units_uw[i] || uw == INT32_MAX * units_uw[i])
			return true;
	}
	return uw == UINT16_MAX * 1000000ULL || uw == INT16_MAX * 1000000ULL || uw == UINT64_MAX;
}

static int take_power(struct zone_samples *samples, const struct raw_reading *raw,
		      const struct reading_time *when)
{
	struct energy_counter *counter = &samples->counter;

	if (!samples->bridge_ns)
		return -ENOTSUP;
	if (is_unknown_power(raw->value))
		return -ENODATA;
	counter->refused = raw->value > samples->max_power_uw;
	counter->restarted = counter->refused || !is_bridged(samples, raw, when);
	counter->dropped += counter->refused;
	counter->refusals = counter->refused ? counter->refusals + 1 : 0;
	if (!counter->restarted)
		counter->energy_uj += power_integral_add(&samples->power, mean_power(samples, raw),
							 when->time_ns - counter->when.time_ns);
	if (!samples->since_ns && raw->from_ns && raw->from_ns < samples->from_ns)
		samples->since_ns = raw->from_ns;
	/* A reading that is refused says nothing about the time after it either. */
	counter->has_baseline = !counter->refused;
	counter->generation = raw->generation;
	counter->when = *when;
	samples->power_uw = raw->value;
	return 0;
}

static int take_energy(struct zone_samples *samples, const struct raw_reading *raw,
		       const struct reading_time *when)
{
	struct raw_reading counted = *raw;
	bool is_total = raw->kind == SAMPLE_TOTAL;
	int r;

	if (is_total)
		counted.range_uj =
			UINT64_MAX; /* a wrap would need more power than any zone can draw */
	r = energy_counter_advance(&samples->counter, &counted, when,
				   is_total && raw->is_plausible ? UINT64_MAX
								 : samples->max_power_uw);
	if (r < 0)
		return r;
	if (!samples->counter.restarted)
		samples->idle_uj += raw->idle_uj - samples->idle_raw_uj;
	samples->idle_raw_uj = raw->idle_uj;
	return 0;
}

int zone_samples_take(struct zone_samples *samples, int error, const struct raw_reading *raw,
		      const struct reading_time *when)
{
	struct energy_counter *counter = &samples->counter;
	struct reading_time of;
	int r;

	samples->reads++;
	samples->tried_ns = when->begun_ns;
	if (error < 0) {
		if (is_garbage(error))
			counter->dropped++;
		return error;
	}
	of = time_of(raw, when);
	if (counter->when.time_ns && of.time_ns <= counter->when.time_ns)
		return -EAGAIN;
	r = raw->kind == SAMPLE_POWER ? take_power(samples, raw, &of)
				      : take_energy(samples, raw, &of);
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
		.since_ns = samples->since_ns,
		.energy_uj = samples->restarted ? 0 : samples->counter.energy_uj,
		.idle_uj = samples->restarted ? 0 : samples->idle_uj,
	};

	samples->counter.energy_uj = samples->idle_uj = samples->since_ns = 0;
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
