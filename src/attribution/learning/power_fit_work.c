// SPDX-License-Identifier: Apache-2.0
/* The features of power_fit_work.h. */
#include "attribution/learning/power_fit_work.h"

#include <math.h>

/* Billions of @signal; 0 where it is not known. */
static double giga(const uint64_t *amounts, uint32_t signals, enum signal signal)
{
	return signals & SIGNAL_BIT(signal) ? (double)amounts[signal] / 1e9 : 0;
}

void power_fit_work_of(const uint64_t amounts[SIGNAL_COUNT], uint32_t signals,
		       struct power_fit_work *ret)
{
	double time_s = giga(amounts, signals, SIGNAL_COUNTED_TIME), paired, base,
	       frequency_ghz = 0, voltage2;
	bool has_traffic = signals & SIGNAL_BIT(SIGNAL_MEMORY_TRAFFIC);

	*ret = (struct power_fit_work){ .time_s = time_s, .time2_s2 = time_s * time_s };
	if (time_s <= 0)
		return;
	paired = fmin(giga(amounts, signals, SIGNAL_PAIRED_TIME) / time_s, 1);
	base = time_s;
	if (signals & SIGNAL_BIT(SIGNAL_CPU_CYCLES)) {
		base = giga(amounts, signals, SIGNAL_CPU_CYCLES);
		frequency_ghz = base / time_s;
	}
	voltage2 = frequency_ghz * frequency_ghz;
	ret->amount[POWER_FIT_ALONE] = base * (1 - paired);
	ret->amount[POWER_FIT_PAIRED] = base * paired;
	ret->amount[POWER_FIT_INSTRUCTIONS] = giga(amounts, signals, SIGNAL_INSTRUCTIONS);
	for (size_t i = 0; i < POWER_FIT_ALONE_FAST; i++)
		ret->amount[POWER_FIT_ALONE_FAST + i] = ret->amount[i] * voltage2;
	ret->amount[POWER_FIT_TRAFFIC] =
		giga(amounts, signals, has_traffic ? SIGNAL_MEMORY_TRAFFIC : SIGNAL_CACHE_MISSES);
}

void power_fit_work_add(struct power_fit_work *sum, const struct power_fit_work *work)
{
	for (size_t i = 0; i < POWER_FIT_FEATURES; i++)
		sum->amount[i] += work->amount[i];
	sum->time_s += work->time_s;
	sum->time2_s2 += work->time2_s2;
}

double power_fit_work_awake_ratio(double time_s, double span_s)
{
	return time_s > span_s && span_s > 0 ? span_s / time_s : 1;
}

void power_fit_work_set_awake(struct power_fit_work *work, double awake_ratio)
{
	work->amount[POWER_FIT_AWAKE] = work->time_s * awake_ratio;
}

uint32_t power_fit_work_signals(uint32_t signals)
{
	uint32_t memory = signals & SIGNAL_BIT(SIGNAL_MEMORY_TRAFFIC)
				  ? SIGNAL_BIT(SIGNAL_MEMORY_TRAFFIC)
				  : SIGNAL_BIT(SIGNAL_CACHE_MISSES);

	if (!(signals & SIGNAL_BIT(SIGNAL_COUNTED_TIME)))
		return 0;
	return signals & (SIGNAL_BIT(SIGNAL_COUNTED_TIME) | SIGNAL_BIT(SIGNAL_PAIRED_TIME) |
			  SIGNAL_BIT(SIGNAL_CPU_CYCLES) | SIGNAL_BIT(SIGNAL_INSTRUCTIONS) | memory);
}
