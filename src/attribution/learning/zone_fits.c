// SPDX-License-Identifier: Apache-2.0
#include "attribution/learning/zone_fits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/learning/share_bound.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/num.h"
#include "energy/owner_names.h"

uint64_t zone_fits_key(const struct owner_names *names)
{
	uint64_t hash = hash64_text(HASH64_START, names->text[LABEL_CONTAINER_ID]);

	return hash ? hash : 1;
}

void zone_fits_release(struct zone_fits *fits)
{
	for (size_t z = 0; z < ZONES_MAX; z++)
		free(fits->fit[z]);
	free(fits->key);
	free(fits->work);
	free(fits->place);
	free(fits->learned);
	free(fits->without);
	free(fits->limit);
	free(fits->known);
	free(fits->factor);
	*fits = (struct zone_fits){ 0 };
}

/* The id of a container that row @container has now, as a number; hashed when the row is new. */
static uint64_t key_of(struct zone_fits *fits, const struct ledger *ledger, uint32_t container)
{
	const struct ledger_container *row = ledger_container_at(ledger, container);
	struct zone_fit_key *known = &fits->known[container];

	if (known->serial != row->row.serial)
		*known = (struct zone_fit_key){ row->row.serial, zone_fits_key(row->names) };
	return known->key;
}

/* Room for the keys of rows. */
static bool begin_keys(struct zone_fits *fits, const struct ledger *ledger)
{
	size_t slots = ledger_slots(ledger, LEVEL_CONTAINER), before = fits->known_size;

	if (slots <= before)
		return true;
	if (ARRAY_RESERVE(fits->known, fits->known_size, slots) < 0)
		return false;
	memset(fits->known + before, 0, (fits->known_size - before) * sizeof(*fits->known));
	return true;
}

/* Does any feature cost something? */
static bool have_any(const double *coefficient)
{
	for (size_t f = 0; f < POWER_FIT_FEATURES; f++)
		if (coefficient[f] > 0)
			return true;
	return false;
}

double zone_fits_error_ratio(const struct zone_fits *fits, size_t z)
{
	const struct zone_fit *fit = fits->fit[z];
	struct power_fit_quality quality;
	double error_w;

	if (!fit)
		return (double)NAN;
	if (power_owners_error(&fit->owners, &error_w))
		return error_w / power_owners_mean_w(&fit->owners);
	return power_fit_quality(&fit->fit, &quality) ? quality.error_ratio : (double)NAN;
}

double zone_fits_share_half_width(const struct zone_fits *fits, size_t z)
{
	const struct zone_fit *fit = fits->fit[z];
	double half_width, error_w;

	if (!fit)
		return (double)NAN;
	if (power_owners_error(&fit->owners, &error_w))
		return power_owners_half_width(&fit->owners, &half_width)
			       ? fmax(half_width, fit->distance)
			       : (double)NAN;
	return fit->half_width >= 0 ? fit->half_width : (double)NAN;
}

double zone_fits_smt_factor(const struct zone_fits *fits, size_t z)
{
	const struct zone_fit *fit = fits->fit[z];
	double factor;

	return fit && power_fit_smt_factor(&fit->fit, &factor) ? factor : (double)NAN;
}

static struct zone_fit *begin_fit(struct zone_fits *fits, size_t z,
				  const double unit[POWER_FIT_FEATURES])
{
	struct zone_fit *fit = calloc(1, sizeof(*fit));

	if (fit) {
		power_fit_init(&fit->fit, unit);
		fit->half_width = -1;
	}
	fits->fit[z] = fit;
	return fit;
}

static double factor_limit(enum owner_factors factors)
{
	return factors == OWNER_FACTORS_OFF ? 1 : POWER_OWNERS_MAX;
}

const struct power_owners *zone_fits_learned(const struct zone_fits *fits, size_t z)
{
	return fits->fit[z] ? &fits->fit[z]->owners : NULL;
}

void zone_fits_restore(struct zone_fits *fits, size_t z, const struct power_owners *owners,
		       enum owner_factors factors)
{
	const double unit[POWER_FIT_FEATURES] = { 0 }; /* the next interval sets its rule's unit */
	struct zone_fit *fit = fits->fit[z] ? fits->fit[z] : begin_fit(fits, z, unit);

	if (!fit || fit->owners.is_known)
		return;
	fit->owners = *owners;
	power_owners_bound(&fit->owners, factor_limit(factors));
	if (!fit->fit.time_ns)
		fit->fit.signals = owners->signals;
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
	if (!fits->fit[z])
		return begin_fit(fits, z, unit);
	power_fit_compete(&fits->fit[z]->fit, unit); /* the factor of a reload, a new signal */
	return fits->fit[z];
}

/* The CPU time of party @i at the place; 0 where too little of it was counted to know its work. */
static uint64_t time_there_ns(const struct parties *parties, size_t i,
			      const struct zone_fit_interval *interval)
{
	uint64_t seen_ns = parties->signal[SIGNAL_COUNTED_TIME][i];

	if (!seen_ns || seen_ns < parties->cpu_ns[i] / 8)
		return 0;
	return interval->place < parties->sockets ? parties->socket_ns[interval->place][i]
						  : parties->cpu_ns[i];
}

/* The work of the party there, scaled from the time that was counted; false: not known. */
static bool work_of(const struct parties *parties, size_t i,
		    const struct zone_fit_interval *interval, struct power_fit_work *ret)
{
	uint64_t amounts[SIGNAL_COUNT] = { 0 };
	uint64_t seen_ns = parties->signal[SIGNAL_COUNTED_TIME][i];
	uint64_t there_ns = time_there_ns(parties, i, interval);

	if (!there_ns)
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

/* The run time at the place of all parties whose work is known. */
static double time_at(const struct parties *parties, const struct zone_fit_interval *interval)
{
	uint64_t time_ns = 0;

	for (size_t i = 0; i < parties->count; i++)
		time_ns += time_there_ns(parties, i, interval);
	return (double)time_ns / 1e9;
}

/* Room for the owners of an interval, all of them with nothing. */
static bool begin_owners(struct zone_fits *fits, size_t slots)
{
	if (slots > fits->owner_size) {
		fits->owner_size = 0;
		if (ARRAY_RESIZE(fits->key, slots) < 0 || ARRAY_RESIZE(fits->work, slots) < 0 ||
		    ARRAY_RESIZE(fits->place, slots) < 0 ||
		    ARRAY_RESIZE(fits->learned, slots) < 0 ||
		    ARRAY_RESIZE(fits->without, slots) < 0 || ARRAY_RESIZE(fits->limit, slots) < 0)
			return false;
		fits->owner_size = slots;
	}
	memset(fits->place, 0, slots * sizeof(*fits->place));
	return true;
}

/*
 * The work of each container that ran; how many there are. They are in the order of the parties,
 * which a replay has, too: its rows have other numbers, and sums in their order would be off by a
 * rounding.
 */
static size_t collect_owners(struct zone_fits *fits, const struct parties *parties,
			     const struct zone_fit_interval *interval, double awake_ratio)
{
	size_t slots = ledger_slots(interval->ledger, LEVEL_CONTAINER), count = 0;
	struct power_fit_work work;

	if (!begin_keys(fits, interval->ledger) || !begin_owners(fits, slots))
		return 0;
	for (size_t i = 0; i < parties->count; i++) {
		uint32_t row = parties->party[i].container, *place = &fits->place[row];

		if (!work_of(parties, i, interval, &work))
			continue;
		if (!*place) {
			fits->key[count] = key_of(fits, interval->ledger, row);
			fits->work[count] = (struct power_fit_work){ 0 };
			*place = (uint32_t)++count;
		}
		power_fit_work_add(&fits->work[*place - 1], &work);
	}
	for (size_t i = 0; i < count; i++)
		power_fit_work_set_awake(&fits->work[i], awake_ratio);
	return count;
}

static bool find_factors(struct zone_fits *fits, const struct power_owners *owners,
			 const struct parties *parties, const struct ledger *ledger)
{
	if (!begin_keys(fits, ledger) ||
	    (parties->count > fits->factor_size &&
	     ARRAY_RESERVE(fits->factor, fits->factor_size, parties->count) < 0))
		return false;
	for (size_t i = 0; i < parties->count; i++) {
		uint64_t key = key_of(fits, ledger, parties->party[i].container);

		fits->factor[i] = (struct share_factor){ power_owners_factor(owners, key), 1 };
	}
	return true;
}

/* Shares of the sum of @watts; false where it is 0. */
static bool make_shares(double *watts, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += watts[i];
	for (size_t i = 0; sum > 0 && i < count; i++)
		watts[i] /= sum;
	return sum > 0;
}

/* The cost of an owner's work: @factor × the cost by @coefficient, except for the time awake. */
static double cost_of(const double *coefficient, const struct power_fit_work *work, double factor)
{
	return factor * power_fit_product(coefficient, work->amount, POWER_FIT_AWAKE) +
	       coefficient[POWER_FIT_AWAKE] * work->amount[POWER_FIT_AWAKE];
}

/* The odds by which an owner's share may be raised over that without factors. */
static double odds_of(const struct zone_fit_interval *interval)
{
	const uint32_t memory = SIGNAL_BIT(SIGNAL_MEMORY_TRAFFIC) | SIGNAL_BIT(SIGNAL_CACHE_MISSES);

	return interval->is_memory && !(interval->signals & memory) ? SHARE_BOUND_BLIND_ODDS
								    : SHARE_BOUND_ODDS;
}

/*
 * The shares of the interval's owners: learned, without factors, and the limit of each. False where
 * nothing says what they are without factors.
 */
static bool compare_shares(struct zone_fits *fits, const struct zone_fit *fit, size_t count,
			   double odds)
{
	const struct power_owners *owners = &fit->owners;
	double otherwise[POWER_FIT_FEATURES];

	power_fit_coefficients(&fit->fit, otherwise);
	for (size_t i = 0; i < count; i++) {
		double factor = power_owners_factor(owners, fits->key[i]);

		fits->learned[i] = cost_of(owners->coefficient, &fits->work[i], factor);
		fits->limit[i] = cost_of(owners->coefficient, &fits->work[i], 1);
		/* Work that costs nothing now is left out: no factor gives it a share. */
		fits->without[i] = fits->learned[i] > 0 ? cost_of(otherwise, &fits->work[i], 1) : 0;
	}
	if (!make_shares(fits->learned, count) || !make_shares(fits->limit, count) ||
	    !make_shares(fits->without, count))
		return false;
	for (size_t i = 0; i < count; i++)
		fits->limit[i] = share_bound_limit(fmax(fits->limit[i], fits->without[i]), odds);
	return true;
}

/* Keeps each container's share within its limit; false where that is not known. */
static bool bound_shares(struct zone_fits *fits, struct zone_fit *fit,
			 const struct parties *parties, const struct zone_fit_interval *interval,
			 double awake_ratio)
{
	size_t count = collect_owners(fits, parties, interval, awake_ratio);
	double *share = fits->limit, largest = 0;

	if (!compare_shares(fits, fit, count, odds_of(interval)))
		return false;
	share_bound_apply(fits->learned, fits->without, fits->limit, count, share);
	for (size_t i = 0; i < count; i++) {
		if (!(share[i] > largest))
			continue;
		largest = share[i];
		fit->distance =
			fmax(fabs(share[i] - fits->learned[i]), fabs(share[i] - fits->without[i]));
	}
	for (size_t i = 0; i < parties->count; i++) {
		uint32_t place = fits->place[parties->party[i].container];

		if (place && fits->learned[place - 1] > 0)
			fits->factor[i].all = share[place - 1] / fits->learned[place - 1];
	}
	return true;
}

static bool use_factors(struct zone_fits *fits, struct zone_fit *fit, const struct parties *parties,
			const struct zone_fit_interval *interval, struct zone_fit_weights *ret)
{
	double error_w;

	fit->distance = 0;
	if (!power_owners_error(&fit->owners, &error_w) || !have_any(fit->owners.coefficient) ||
	    !find_factors(fits, &fit->owners, parties, interval->ledger) ||
	    (interval->owner_factors == OWNER_FACTORS_BOUNDED &&
	     !bound_shares(fits, fit, parties, interval, ret->awake_ratio)))
		return false;
	memcpy(ret->coefficient, fit->owners.coefficient, sizeof(ret->coefficient));
	ret->factor = fits->factor;
	return true;
}

bool zone_fits_use(struct zone_fits *fits, size_t z, const struct parties *parties,
		   const struct zone_fit_interval *interval, struct zone_fit_weights *ret)
{
	struct zone_fit *fit = fits->fit[z];

	*ret = (struct zone_fit_weights){ 0 };
	if (!fit || fit->fit.signals != power_fit_work_signals(interval->signals))
		return false;
	ret->awake_ratio = power_fit_work_awake_ratio(time_at(parties, interval),
						      (double)interval->span_ns / 1e9);
	if (use_factors(fits, fit, parties, interval, ret))
		return true;
	if (power_fit_model(&fit->fit) != POWER_FIT_REGRESSION)
		return false;
	power_fit_coefficients(&fit->fit, ret->coefficient);
	return true;
}

/* The half-width by the regression for the container with the most predicted power. */
static double half_width_of(const struct zone_fits *fits, size_t count, const struct power_fit *fit,
			    const struct power_fit_work *all)
{
	double coefficient[POWER_FIT_FEATURES], half_width;
	uint64_t most = 0;
	size_t found = count;

	power_fit_coefficients(fit, coefficient);
	for (size_t i = 0; i < count; i++) {
		uint64_t weight = power_fit_weight(coefficient, &fits->work[i]);

		if (weight > most) {
			most = weight;
			found = i;
		}
	}
	if (found == count ||
	    !power_fit_share_half_width(fit, &fits->work[found], all, &half_width))
		return -1;
	return half_width;
}

/* Factors are compared with what would be used without them. */
static void learn_with_factors(struct zone_fits *fits, struct zone_fit *fit,
			       const struct parties *parties,
			       const struct zone_fit_interval *interval,
			       const struct power_fit_sample *sample, double awake_ratio)
{
	double without[POWER_FIT_TERMS];
	bool is_learning = power_fit_model(&fit->fit) == POWER_FIT_LEARNING;
	uint32_t signals = fit->fit.signals;
	struct power_owners_sample owners = {
		.power_w = sample->energy_j * 1e9 / (double)sample->span_ns,
		.idle_w = sample->idle_w,
		.span_ns = sample->span_ns,
		.all = &sample->work,
		.unit = fit->fit.unit,
		.factor_limit = factor_limit(interval->owner_factors),
		.other = is_learning ? NULL : without,
	};

	power_fit_terms(&fit->fit, without);
	if (!power_fit_add(&fit->fit, sample))
		return;
	if (signals && fit->fit.signals != signals) /* other features: learned from the start */
		power_owners_init(&fit->owners);
	owners.count = collect_owners(fits, parties, interval, awake_ratio);
	owners.key = fits->key;
	owners.work = fits->work;
	fit->half_width = half_width_of(fits, owners.count, &fit->fit, &sample->work);
	fit->owners.signals = fit->fit.signals;
	(void)power_owners_add(&fit->owners, &owners); /* it is ignored, as by the regression */
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
	double counted_s = 0, all_s = (double)interval->nameless_ns / 1e9, most_s = 0, awake_ratio;
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
	awake_ratio =
		power_fit_work_awake_ratio(sample.work.time_s, (double)interval->span_ns / 1e9);
	power_fit_work_set_awake(&sample.work, awake_ratio);
	fit = fit_of(fits, z, interval);
	if (fit)
		learn_with_factors(fits, fit, parties, interval, &sample, awake_ratio);
}
