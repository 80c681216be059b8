// SPDX-License-Identifier: Apache-2.0
#include "attribution/zone_fits.h"

#include <math.h>
#include <stdlib.h>

#include "base/num.h"

void zone_fits_release(struct zone_fits *fits)
{
	for (size_t z = 0; z < ZONES_MAX; z++)
		free(fits->fit[z]);
	*fits = (struct zone_fits){ 0 };
}

bool zone_fits_use(const struct zone_fits *fits, size_t z, uint32_t signals,
		   double ret[POWER_FIT_FEATURES])
{
	const struct power_fit *fit = fits->fit[z];

	if (!fit || power_fit_model(fit) != POWER_FIT_REGRESSION ||
	    fit->signals != power_fit_work_signals(signals))
		return false;
	power_fit_coefficients(fit, ret);
	return true;
}

double zone_fits_error_ratio(const struct zone_fits *fits, size_t z)
{
	struct power_fit_quality quality;

	if (!fits->fit[z] || !power_fit_quality(fits->fit[z], &quality))
		return (double)NAN;
	return quality.error_ratio;
}

/* The plain ratio is the rule that the zone has without the regression. */
static struct power_fit *fit_of(struct zone_fits *fits, size_t z,
				const struct zone_fit_interval *interval)
{
	enum share_rule rule = interval->rule;
	double unit[POWER_FIT_FEATURES] = { 0 };

	if (rule == SHARE_CACHE_MISSES || rule == SHARE_MEMORY_TRAFFIC) {
		unit[POWER_FIT_TRAFFIC] = 1;
	} else {
		unit[POWER_FIT_ALONE] = 1;
		unit[POWER_FIT_PAIRED] =
			(double)share_rule_pairing_ppm(rule, interval->smt_ppm) / SHARE_PPM;
		if (rule == SHARE_CYCLES_INSTRUCTIONS)
			unit[POWER_FIT_INSTRUCTIONS] =
				(double)SHARE_MIX_INSTRUCTION_PPM / SHARE_PPM;
	}
	if (!fits->fit[z]) {
		fits->fit[z] = calloc(1, sizeof(*fits->fit[z]));
		if (fits->fit[z])
			power_fit_init(fits->fit[z], unit);
	} else {
		power_fit_compete(fits->fit[z], unit); /* the factor of a reload, a new signal */
	}
	return fits->fit[z];
}

/* What party @i did at the place, scaled from the time that was counted; false: too little was. */
static bool work_of(const struct parties *parties, size_t i,
		    const struct zone_fit_interval *interval, struct power_fit_work *ret)
{
	uint64_t amounts[SIGNAL_COUNT] = { 0 };
	uint64_t seen_ns = parties->signal[SIGNAL_COUNTED_TIME][i];
	uint64_t there_ns = interval->place < parties->sockets
				    ? parties->socket_ns[interval->place][i]
				    : parties->cpu_ns[i];

	if (!seen_ns || seen_ns < parties->cpu_ns[i] / 8)
		return false;
	for (uint32_t left = interval->signals; left; left &= left - 1) {
		unsigned signal = (unsigned)__builtin_ctz(left);

		if (parties->signal[signal][i] >> 56)
			return false; /* no machine counts so much */
		amounts[signal] = muldiv_u64(parties->signal[signal][i], there_ns, seen_ns);
	}
	power_fit_work_of(amounts, interval->signals, ret);
	return true;
}

void zone_fits_learn(struct zone_fits *fits, size_t z, const struct parties *parties,
		     const struct zone_fit_interval *interval)
{
	struct power_fit_sample sample = {
		.energy_j = (double)interval->energy_uj / 1e6,
		.idle_w = interval->idle_w,
		.span_ns = interval->span_ns,
		.signals = interval->signals,
	};
	double counted_s = 0, all_s = (double)interval->nameless_ns / 1e9, most_s = 0;
	struct power_fit *fit;

	if (!(interval->signals & SIGNAL_BIT(SIGNAL_COUNTED_TIME)) || !interval->span_ns)
		return;
	for (size_t i = 0; i < parties->count; i++) {
		struct power_fit_work work;
		double cpu_s = (double)(interval->place < parties->sockets
						? parties->socket_ns[interval->place][i]
						: parties->cpu_ns[i]) /
			       1e9;

		all_s += cpu_s;
		if (!work_of(parties, i, interval, &work))
			continue;
		power_fit_work_add(&sample.work, &work);
		counted_s += cpu_s;
		most_s = cpu_s > most_s ? cpu_s : most_s;
	}
	if (counted_s < 0.9 * all_s)
		return;
	sample.largest_share = counted_s > 0 ? most_s / counted_s : 0;
	fit = fit_of(fits, z, interval);
	if (fit)
		(void)power_fit_add(fit, &sample);
}
