// SPDX-License-Identifier: Apache-2.0
#include "attribution/zone_account.h"

#include <math.h>

#include "attribution/learning/idle_prior.h"
#include "base/num.h"

/* A span teaches idle power only when it and the activity are of the same time. */
#define LEARN_MAX_SKEW 0.1

static bool fixed_idle_power(const struct zone *zone, const struct idle_options *options,
			     uint64_t *ret_uw)
{
	for (size_t i = 0; i < options->watts_count; i++) {
		if (zone_has_id(zone, options->watts[i].name)) {
			*ret_uw = (uint64_t)llround(options->watts[i].amount * 1e6);
			return true;
		}
	}
	return false;
}

/* Uses the learned idle power or, until there is one, its bound. */
static void use_learned(struct zone_account *state)
{
	state->idle_state = IDLE_LEARNED;
	if (idle_learner_get(&state->learner, &state->idle_power_uw))
		return;
	state->idle_state = IDLE_PROVISIONAL;
	(void)idle_learner_bound(&state->learner, idle_prior_share(state->zone->kind),
				 &state->idle_power_uw);
}

static void choose_idle_state(struct zone_account *state, const struct idle_options *options)
{
	state->idle_power_uw = 0;
	state->idle_is_derived = false;
	if (state->zone->scope == SCOPE_VM_DYNAMIC)
		state->idle_state = IDLE_ABSENT;
	else if (options->mode == IDLE_MODE_OFF)
		state->idle_state = IDLE_OFF;
	else if (state->zone->knows_idle)
		state->idle_state = IDLE_MODEL;
	else if (options->mode == IDLE_MODE_LEARNED)
		use_learned(state);
	else /* fixed; off where no figure was given for this zone */
		state->idle_state = fixed_idle_power(state->zone, options, &state->idle_power_uw)
					    ? IDLE_FIXED
					    : IDLE_OFF;
}

void zone_account_configure(struct zone_account *state, const struct idle_options *options)
{
	bool had_idle = zone_account_has_idle(state);

	choose_idle_state(state, options);
	if (state->has_mode[MODE_DYNAMIC] && !had_idle && zone_account_has_idle(state))
		state->idle_is_new = true;
}

void zone_account_derive_idle(struct zone_account *state, uint64_t power_uw)
{
	if (state->idle_state != IDLE_OFF && !state->idle_is_derived)
		return;
	state->idle_is_new |= state->has_mode[MODE_DYNAMIC] && !state->has_mode[MODE_IDLE] &&
			      state->idle_state == IDLE_OFF;
	state->idle_state = IDLE_FIXED;
	state->idle_power_uw = power_uw;
	state->idle_is_derived = true;
}

uint64_t settle_anew(uint64_t from_ns, uint64_t before_ns, uint64_t settle_ns, uint64_t booked_ns)
{
	return from_ns > booked_ns ? from_ns - before_ns + settle_ns : from_ns;
}

void zone_account_settle(struct zone_account *state, uint64_t before_ns, uint64_t settle_ns)
{
	uint64_t booked_ns = state->up_time_ns;

	state->count_from_ns = settle_anew(state->count_from_ns, before_ns, settle_ns, booked_ns);
	state->split_from_ns = settle_anew(state->split_from_ns, before_ns, settle_ns, booked_ns);
}

void zone_activity_add(struct zone_activity *sum, const struct zone_activity *one)
{
	uint64_t dt_ns = sum->dt_ns + one->dt_ns;

	if (dt_ns)
		sum->utilisation = (sum->utilisation * (double)sum->dt_ns +
				    one->utilisation * (double)one->dt_ns) /
				   (double)dt_ns;
	sum->dt_ns = dt_ns;
	sum->asleep_ns += one->asleep_ns;
}

void zone_account_init(struct zone_account *state, const struct zone *zone,
		       const struct idle_options *options, int64_t boottime_ms)
{
	*state = (struct zone_account){
		.zone = zone,
		.born_ms = boottime_ms,
		.watts = { (double)NAN, (double)NAN },
	};
	idle_learner_init(&state->learner);
	zone_account_configure(state, options);
}

bool zone_account_has_idle(const struct zone_account *state)
{
	return idle_state_has_power(state->idle_state) || state->idle_state == IDLE_MODEL;
}

/* While this program runs; a GPU, memory and parts of a package may rest. */
static bool draws_always(enum zone_kind kind)
{
	return kind == ZONE_PACKAGE || zone_kind_info[kind].is_whole;
}

/* A device whose use was never seen may be one whose meter reports none: it may be busy. */
static bool may_learn(const struct zone_account *state, const struct zone_activity *activity)
{
	return (state->idle_state == IDLE_PROVISIONAL || state->idle_state == IDLE_LEARNED) &&
	       (!zone_kind_info[state->zone->kind].is_device || activity->utilisation > 0 ||
		state->learner.time_ns > 0);
}

static void learn(struct zone_account *state, const struct zone_interval *interval,
		  const struct zone_activity *activity)
{
	double dt_s = (double)interval->dt_ns / 1e9;
	double skew = fabs((double)interval->dt_ns - (double)activity->dt_ns);

	if (!may_learn(state, activity))
		return;
	if (activity->asleep_ns || skew > LEARN_MAX_SKEW * (double)interval->dt_ns)
		return;
	if (!interval->energy_uj && draws_always(state->zone->kind))
		idle_learner_add_standstill(&state->learner, activity->utilisation,
					    interval->dt_ns);
	else
		idle_learner_add(&state->learner, (double)interval->energy_uj / 1e6 / dt_s,
				 activity->utilisation, interval->dt_ns);
	use_learned(state);
}

static uint64_t idle_part(const struct zone_account *state, const struct energy_span *span)
{
	uint64_t idle_uj = 0;

	if (span->to_ns < state->split_from_ns)
		return 0;
	if (state->idle_state == IDLE_MODEL)
		idle_uj = span->idle_uj;
	else if (idle_state_has_power(state->idle_state))
		idle_uj =
			muldiv_u64(state->idle_power_uw, span->to_ns - span->from_ns, NSEC_PER_SEC);
	return idle_uj < span->energy_uj ? idle_uj : span->energy_uj;
}

static void set_watts(struct zone_account *state, const struct zone_interval *interval,
		      uint64_t asleep_ns)
{
	double seconds = (double)(interval->dt_ns + asleep_ns) / 1e9;

	state->span_ns = interval->dt_ns + asleep_ns;
	state->watts[MODE_DYNAMIC] =
		(double)(interval->energy_uj - interval->idle_uj) / 1e6 / seconds;
	state->watts[MODE_IDLE] = zone_account_has_idle(state)
					  ? (double)interval->idle_uj / 1e6 / seconds
					  : (double)NAN;
}

/* Series that are born with this span: they show 0 for a while, as any other. */
static void settle_births(struct zone_account *state, uint64_t now_ns, uint64_t settle_ns)
{
	if (state->late)
		state->count_from_ns = now_ns + settle_ns;
	if (state->idle_is_new)
		state->split_from_ns = now_ns + settle_ns;
	state->late = state->idle_is_new = false;
}

bool zone_account_counts(const struct zone_account *state, const struct energy_span *span)
{
	bool is_begun = state->last.state == ZONE_UP || state->has_begun || !state->count_from_ns;

	return span && span->known && state->has_span && !state->held &&
	       span->to_ns >= state->count_from_ns && span->from_ns >= state->resume_ns && is_begun;
}

void zone_account_follow_rival(struct zone_account *state, bool is_away, uint64_t booked_ns)
{
	if (is_away || state->is_away)
		state->resume_ns = booked_ns;
	state->is_away = is_away;
}

void zone_account_release(struct zone_account *state)
{
	state->has_begun |= state->held;
	state->held = false;
}

struct zone_interval zone_account_advance(struct zone_account *state,
					  const struct zone_status *status,
					  const struct energy_span *span,
					  const struct zone_activity *activity, uint64_t settle_ns)
{
	bool counts = zone_account_counts(state, span);
	struct zone_interval interval = { 0 };

	state->last = *status;
	state->watts[MODE_DYNAMIC] = state->watts[MODE_IDLE] = (double)NAN;
	state->span_ns = 0;
	if (!span)
		return interval; /* nothing new was read: the next span covers it */
	if (status->state == ZONE_UP)
		state->up_time_ns = span->to_ns;
	settle_births(state, span->to_ns, settle_ns);
	state->has_span = true;
	state->has_begun |= counts;
	if (counts) {
		interval.energy_uj = span->energy_uj;
		interval.dt_ns = span->to_ns - span->from_ns;
		learn(state, &interval,
		      activity); /* first: else all of the first span is dynamic */
		interval.idle_uj = idle_part(state, span);
		set_watts(state, &interval, activity->asleep_ns);
	}
	return interval;
}

void zone_account_bear_series(struct zone_account *state, bool rows_bear_idle)
{
	bool has_idle = zone_account_has_idle(state);

	state->has_mode[MODE_DYNAMIC] = state->rows_have_mode[MODE_DYNAMIC] = true;
	state->has_mode[MODE_IDLE] |= has_idle;
	state->rows_have_mode[MODE_IDLE] |= has_idle && rows_bear_idle;
	if (state->has_mode[MODE_IDLE] && !has_idle && state->span_ns)
		state->watts[MODE_IDLE] = 0; /* all of it is dynamic now */
}
