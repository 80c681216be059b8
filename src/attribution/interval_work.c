// SPDX-License-Identifier: Apache-2.0
#include "attribution/interval_work.h"

#include <math.h>
#include <string.h>

static struct domain_work work_of_cpus(const struct interval_work *work, uint32_t place)
{
	return parties_work_at(work->interval->parties, place, &work->interval->work,
			       work->idle_share);
}

static struct domain_work work_of_device(const struct interval_work *work, uint32_t place)
{
	return device_parties_work(work->interval->devices, place - PLACES_MAX);
}

static struct domain_work work_of_parts(const struct interval_work *work, uint32_t place)
{
	(void)place; /* there is only one */
	return energy_parties_work(&work->parts, work->idle_share);
}

static const struct domain_row {
	struct work_domain is;
	struct domain_work (*work)(const struct interval_work *work, uint32_t place);
} cpus = { { SHARE_AUTO, .comes_with_span = false }, work_of_cpus },
  devices = { { SHARE_DEVICE_TIME, .comes_with_span = true }, work_of_device },
  parts = { { SHARE_PARTS, .follows_zones = true }, work_of_parts };

static const struct domain_row *domain_at(uint32_t place)
{
	if (place == PLACE_PARTS)
		return &parts;
	return place >= PLACES_MAX && place < PLACES_MAX + DEVICES_MAX ? &devices : &cpus;
}

const struct work_domain *work_domain_at(uint32_t place)
{
	return &domain_at(place)->is;
}

void interval_work_begin(struct interval_work *work, const struct interval *interval,
			 const struct share_options *options, const struct ledger *ledger,
			 enum idle_share share, enum idle_share device_share)
{
	work->interval = interval;
	work->options = options;
	work->idle_share = share;
	if (parties_weigh_idle(interval->parties, ledger, share, interval->measured.dt_ns) < 0)
		interval->parties->count = 0;
	(void)device_parties_close(interval->devices, device_share); /* it drops them then */
	work->signals = share_weights_signals(interval->parties);
	work->weighed_rule = SHARE_CPU_TIME;
}

void interval_work_release(struct interval_work *work)
{
	energy_parties_release(&work->parts);
	share_weights_release(&work->weights);
}

enum share_rule interval_work_rule(const struct interval_work *work, uint32_t place,
				   enum zone_kind kind)
{
	enum share_rule rule = work_domain_at(place)->rule;

	return rule == SHARE_AUTO ? share_rule_choose(work->options, kind, work->signals) : rule;
}

static bool make_weights(struct interval_work *work, uint32_t place, enum share_rule rule,
			 const struct attribution_input *time)
{
	if (work->weighed_rule == rule && work->weighed_place == place)
		return true;
	work->weighed_rule = SHARE_CPU_TIME;
	if (share_rule_signals(rule) & ~work->signals ||
	    share_weights_make(&work->weights, work->interval->parties, rule,
			       work->options->smt_ppm, place, time->dropped_weight,
			       time->unseen_weight) < 0)
		return false;
	work->weighed_rule = rule;
	work->weighed_place = place;
	return true;
}

struct domain_work interval_work_at(struct interval_work *work, uint32_t place,
				    enum share_rule rule)
{
	struct domain_work at = domain_at(place)->work(work, place);

	if (!share_rule_has_signals(rule) || !make_weights(work, place, rule, &at.input))
		return at;
	at.input.rule = rule;
	at.input.time_weights = at.input.dynamic_weights;
	at.input.time_dropped = at.input.dropped_weight;
	at.input.time_unseen = at.input.unseen_weight;
	at.input.dynamic_weights = work->weights.weight;
	at.input.dropped_weight = work->weights.dropped;
	at.input.unseen_weight = work->weights.unseen;
	return at;
}

struct domain_work interval_work_by_fit(struct interval_work *work, uint32_t place,
					const struct zone_fit_weights *learned)
{
	struct share_weights *weights = &work->weights;
	struct domain_work at;

	memcpy(weights->coefficient, learned->coefficient, sizeof(weights->coefficient));
	weights->awake_ratio = learned->awake_ratio;
	weights->factor = learned->factor;
	work->weighed_rule = SHARE_CPU_TIME; /* weights by another zone's fit are of no use */
	at = interval_work_at(work, place, SHARE_FIT);
	work->weighed_rule = SHARE_CPU_TIME;
	return at;
}

enum idle_share interval_work_idle_share(const struct interval_work *work, uint32_t place)
{
	return domain_at(place)->work(work, place).input.idle_share;
}

bool interval_work_has_use(const struct interval_work *work, uint32_t place)
{
	struct domain_work at;

	if (!work_domain_at(place)->comes_with_span)
		return true;
	at = domain_at(place)->work(work, place);
	return attribution_has_weights(&at.input);
}

/* For how long a domain was busy whose work comes with the span. */
static uint64_t busy_ns(const struct attribution_input *input)
{
	uint64_t sum_ns = input->dropped_weight + input->unseen_weight;

	for (size_t i = 0; i < input->count; i++)
		sum_ns += input->dynamic_weights[i];
	return sum_ns;
}

static double utilisation_of_socket(const struct interval *interval, uint32_t place)
{
	uint64_t busy = parties_of_socket(interval->parties, place, interval->work.busy_ns);

	return fmin(1.0, (double)busy /
				 ((double)interval->measured.dt_ns * interval->places.cpus[place]));
}

struct zone_activity interval_work_activity(const struct interval_work *work, uint32_t place,
					    uint64_t span_ns)
{
	const struct interval *interval = work->interval;
	struct zone_activity seen = interval->measured;
	struct domain_work at;

	if (work_domain_at(place)->comes_with_span) {
		at = domain_at(place)->work(work, place);
		seen.dt_ns = span_ns ? span_ns : seen.dt_ns;
		seen.utilisation =
			seen.dt_ns ? fmin(1.0, (double)busy_ns(&at.input) / (double)seen.dt_ns) : 0;
	} else if (place < interval->parties->sockets && seen.dt_ns &&
		   interval->places.cpus[place]) {
		seen.utilisation = utilisation_of_socket(interval, place);
	}
	return seen;
}
