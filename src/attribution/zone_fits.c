// SPDX-License-Identifier: Apache-2.0
#include "attribution/zone_fits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/num.h"

void zone_fits_release(struct zone_fits *fits)
{
	for (size_t z = 0; z < ZONES_MAX; z++)
		free(fits->fit[z]);
	free(fits->key);
	free(fits->work);
	for (size_t base = 0; base < ZONE_FIT_BASES; base++)
		free(fits->work_w[base]);
	free(fits->factor);
	*fits = (struct zone_fits){ 0 };
}

/* The factors that go with the model in use. */
static const struct power_owners *owners_of(const struct zone_fit *fit)
{
	bool is_regression = power_fit_model(&fit->fit) == POWER_FIT_REGRESSION;

	return &fit->owners[is_regression ? ZONE_FIT_REGRESSION : ZONE_FIT_RATIO];
}

static uint64_t key_of(const struct ledger *ledger, uint32_t container)
{
	return ledger_container_at(ledger, container)->row.serial;
}

static bool find_factors(struct zone_fits *fits, const struct power_owners *owners,
			 const struct parties *parties, const struct ledger *ledger)
{
	if (parties->count > fits->factor_size &&
	    ARRAY_RESERVE(fits->factor, fits->factor_size, parties->count) < 0)
		return false;
	for (size_t i = 0; i < parties->count; i++)
		fits->factor[i] =
			power_owners_factor(owners, key_of(ledger, parties->party[i].container));
	return true;
}

bool zone_fits_use(struct zone_fits *fits, size_t z, uint32_t signals,
		   const struct parties *parties, const struct ledger *ledger,
		   struct zone_fit_weights *ret)
{
	const struct zone_fit *fit = fits->fit[z];
	enum power_fit_model model;
	double error_w;
	bool has_factors;

	if (!fit || fit->fit.signals != power_fit_work_signals(signals))
		return false;
	model = power_fit_model(&fit->fit);
	has_factors = model != POWER_FIT_LEARNING && power_owners_error(owners_of(fit), &error_w) &&
		      find_factors(fits, owners_of(fit), parties, ledger);
	if (model != POWER_FIT_REGRESSION && !has_factors)
		return false;
	power_fit_coefficients(&fit->fit, ret->coefficient);
	ret->factor = has_factors ? fits->factor : NULL;
	return true;
}

double zone_fits_error_ratio(const struct zone_fits *fits, size_t z)
{
	const struct zone_fit *fit = fits->fit[z];
	struct power_fit_quality quality;
	double error_w;

	if (!fit || !power_fit_quality(&fit->fit, &quality))
		return (double)NAN;
	if (fit->fit.mean_w > 0 && power_owners_error(owners_of(fit), &error_w))
		return error_w / fit->fit.mean_w;
	return quality.error_ratio;
}

/* The plain ratio is the rule that the zone has without the regression. */
static struct zone_fit *fit_of(struct zone_fits *fits, size_t z,
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
			power_fit_init(&fits->fit[z]->fit, unit);
	} else {
		power_fit_compete(&fits->fit[z]->fit,
				  unit); /* the factor of a reload, a new signal */
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
		enum signal signal = (enum signal)__builtin_ctz(left);
		uint64_t of_ns = signal_is_of_counted_time(signal) ? seen_ns : parties->cpu_ns[i];

		if (parties->signal[signal][i] >> 56)
			return false; /* no machine counts so much */
		amounts[signal] = muldiv_u64(parties->signal[signal][i], there_ns, of_ns);
	}
	power_fit_work_of(amounts, interval->signals, ret);
	return true;
}

/* Room for the owners of an interval, all of them with nothing. */
static bool begin_owners(struct zone_fits *fits, size_t slots)
{
	if (slots > fits->owner_size) {
		fits->owner_size = 0;
		if (ARRAY_RESIZE(fits->key, slots) < 0 || ARRAY_RESIZE(fits->work, slots) < 0 ||
		    ARRAY_RESIZE(fits->work_w[ZONE_FIT_RATIO], slots) < 0 ||
		    ARRAY_RESIZE(fits->work_w[ZONE_FIT_REGRESSION], slots) < 0)
			return false;
		fits->owner_size = slots;
	}
	memset(fits->key, 0, slots * sizeof(*fits->key));
	memset(fits->work, 0, slots * sizeof(*fits->work));
	return true;
}

/* The watts that both models say of each container that ran; how many there are. */
static size_t say_watts(struct zone_fits *fits, const struct power_fit *fit,
			const struct parties *parties, const struct zone_fit_interval *interval)
{
	const double *terms[ZONE_FIT_BASES] = { fit->ratio, fit->coefficient };
	size_t slots = ledger_slots(interval->ledger, LEVEL_CONTAINER), count = 0;
	double span_s = (double)interval->span_ns / 1e9;
	struct power_fit_work work;

	if (!begin_owners(fits, slots))
		return 0;
	for (size_t i = 0; i < parties->count; i++) {
		uint32_t row = parties->party[i].container;

		if (!work_of(parties, i, interval, &work))
			continue;
		fits->key[row] = key_of(interval->ledger, row);
		power_fit_work_add(&fits->work[row], &work);
	}
	for (size_t row = 0; row < slots; row++) {
		if (!fits->key[row])
			continue;
		fits->key[count] = fits->key[row];
		fits->work[count] = fits->work[row];
		for (size_t base = 0; base < ZONE_FIT_BASES; base++)
			fits->work_w[base][count] =
				power_fit_product(terms[base], fits->work[row].amount,
						  POWER_FIT_FEATURES) /
				span_s;
		count++;
	}
	return count;
}

/* @did is of the owner with @key, which did what it did in this interval, too. */
static void add_work(const struct zone_fits *fits, size_t count, uint64_t key, double keep,
		     struct zone_fit_owner *did)
{
	if (did->key != key)
		*did = (struct zone_fit_owner){ .key = key };
	for (size_t f = 0; f < POWER_FIT_FEATURES; f++)
		did->amount[f] *= keep;
	for (size_t i = 0; key && i < count; i++) {
		for (size_t f = 0; fits->key[i] == key && f < POWER_FIT_FEATURES; f++)
			did->amount[f] += fits->work[i].amount[f];
	}
}

/* What coefficients @before said of the work that factors are learned from, @now restates. */
static void restate(const struct zone_fits *fits, struct zone_fit *fit, size_t base, size_t count,
		    double span_s, const double *before, const double *now)
{
	double keep = exp(-span_s / POWER_OWNERS_MEMORY_S);

	for (size_t at = 0; at < POWER_OWNERS; at++) {
		struct zone_fit_owner *did = &fit->did[base][at];
		double before_j;

		add_work(fits, count, fit->owners[base].owner[at].key, keep, did);
		before_j = power_fit_product(before, did->amount, POWER_FIT_FEATURES);
		if (before_j > 0)
			power_owners_restate(
				&fit->owners[base], did->key,
				power_fit_product(now, did->amount, POWER_FIT_FEATURES) / before_j);
	}
}

/* Predicted by what was known before the interval; so factors are on top of that. */
static void learn_with_factors(struct zone_fits *fits, struct zone_fit *fit,
			       const struct parties *parties,
			       const struct zone_fit_interval *interval,
			       const struct power_fit_sample *sample)
{
	bool is_known = fit->fit.has_evidence;
	const double *now[ZONE_FIT_BASES] = { fit->fit.ratio, fit->fit.coefficient };
	double before[ZONE_FIT_BASES][POWER_FIT_TERMS];
	size_t count = is_known ? say_watts(fits, &fit->fit, parties, interval) : 0;
	double span_s = (double)sample->span_ns / 1e9;
	uint32_t signals = fit->fit.signals;

	for (size_t base = 0; base < ZONE_FIT_BASES; base++)
		memcpy(before[base], now[base], sizeof(before[base]));
	if (!power_fit_add(&fit->fit, sample))
		return;
	if (fit->fit.signals != signals)                     /* of other features: learned anew */
		memset(fit->owners, 0, sizeof(fit->owners)); /* and what they did, by its key */
	for (size_t base = 0; is_known && fit->fit.signals == signals && base < ZONE_FIT_BASES;
	     base++) {
		struct power_owners_sample watts = {
			.power_w = sample->energy_j / span_s - before[base][POWER_FIT_BASE],
			.span_ns = sample->span_ns,
			.key = fits->key,
			.work_w = fits->work_w[base],
			.count = count,
		};

		if (!count || !power_owners_add(&fit->owners[base], &watts))
			continue;
		restate(fits, fit, base, count, span_s, before[base], now[base]);
	}
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
	struct zone_fit *fit;

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
		learn_with_factors(fits, fit, parties, interval, &sample);
}
