// SPDX-License-Identifier: Apache-2.0
/*
 * For each zone this file decides which part of its span counts (zone_account.h) and which work
 * used that energy: the work of this interval, of a gap, or of an earlier time. Then it splits the
 * energy over that work (attribute.h) and charges the parts. The work of gaps and histories is
 * collected first, including the gaps that end now.
 *
 * The file is long because all of this is one decision for each zone, made from the same state.
 */
#include "attribution/accountant.h"

#include <math.h>
#include <string.h>

#include "base/num.h"
#include "energy/total.h"

#define LATE_SPAN_NS (60 * NSEC_PER_SEC)
/* How long the work since its last reading is kept for a zone that is gone. */
#define GONE_GAP_NS (60 * NSEC_PER_SEC)

void accountant_release(struct accountant *accountant)
{
	gaps_release(&accountant->gaps);
	work_histories_release(&accountant->histories);
	parties_release(&accountant->gap_parties);
	interval_work_release(&accountant->work);
	zone_fits_release(&accountant->fits);
	split_scratch_release(&accountant->scratch);
}

void accountant_share_by(struct accountant *accountant, const struct share_options *options)
{
	accountant->share = *options;
}

void accountant_configure(struct accountant *accountant, const struct idle_options *options,
			  uint64_t settle_ns)
{
	if (accountant->has_begun && accountant->idle_share == IDLE_SHARE_NODE)
		accountant->share_is_new = options->share != IDLE_SHARE_NODE;
	accountant->idle_share = options->share;
	accountant->device_idle = options->device;
	accountant->settle_ns = settle_ns;
	for (size_t z = 0; z < accountant->zone_count; z++)
		zone_account_configure(&accountant->zones[z], options);
}

bool accountant_shares_idle(const struct accountant *accountant, const struct domain *domain)
{
	if (domain->kind == DOMAIN_DEVICE && accountant->device_idle != DEVICE_IDLE_AUTO)
		return accountant->device_idle != DEVICE_IDLE_NODE;
	return accountant->idle_share != IDLE_SHARE_NODE;
}

void accountant_set_settle(struct accountant *accountant, uint64_t settle_ns)
{
	uint64_t before_ns = accountant->settle_ns;

	accountant->shared_from_ns = settle_anew(accountant->shared_from_ns, before_ns, settle_ns,
						 accountant->booked_ns);
	for (size_t z = 0; z < accountant->zone_count; z++)
		zone_account_settle(&accountant->zones[z], before_ns, settle_ns);
	accountant->settle_ns = settle_ns;
}

static void follow_standings(struct accountant *accountant)
{
	for (uint32_t z = 0; z < accountant->zone_count; z++) {
		enum standing standing = accountant->contenders[z].standing;

		if (standing == STANDING_COUNTS && accountant->zones[z].held)
			ledger_revive_zone(accountant->ledger, z);
		zone_account_follow_rival(&accountant->zones[z], accountant->contenders[z].is_away,
					  accountant->booked_ns);
		if (standing == STANDING_COUNTS)
			zone_account_release(&accountant->zones[z]);
		else
			accountant->zones[z].held = true;
		if (standing == STANDING_ENDED)
			ledger_end_zone(accountant->ledger, z);
	}
}

void accountant_adopt(struct accountant *accountant, const struct zone *zone,
		      const struct idle_options *options, int64_t boottime_ms)
{
	size_t z = accountant->zone_count++;

	zone_account_init(&accountant->zones[z], zone, options, boottime_ms);
	accountant->zones[z].late = accountant->has_begun;
	accountant->gap_of[z] = GAP_NONE;
	accountant->has_parts |= zone->domain.kind == DOMAIN_PARTS;
	accountant->contenders[z] = (struct contender){ .zone = zone };
	rank_enter(accountant->contenders, accountant->zone_count);
	follow_standings(accountant);
}

static bool has_booked_energy(const struct accountant *accountant)
{
	for (size_t z = 0; z < accountant->zone_count; z++) {
		if (accountant->zones[z].has_begun)
			return true;
	}
	return false;
}

void accountant_choose_total(struct accountant *accountant, size_t known)
{
	const struct zone *zones[ZONES_MAX];
	uint32_t total[ZONES_MAX], at_once[ZONES_MAX];

	for (size_t z = 0; z < accountant->zone_count; z++) {
		zones[z] = accountant->zones[z].zone;
		total[z] = accountant->zones[z].total;
	}
	if (!has_booked_energy(accountant))
		known = 0;
	accountant->totals = total_choose(zones, known, accountant->zone_count,
					  accountant->share.psys_gpus, total);
	(void)total_choose(zones, 0, accountant->zone_count, accountant->share.psys_gpus, at_once);
	for (size_t z = 0; z < accountant->zone_count; z++) {
		accountant->zones[z].total = total[z];
		accountant->zones[z].missed_total =
			total[z] == TOTAL_NONE && at_once[z] != TOTAL_NONE;
	}
}

void accountant_settle_ranks(struct accountant *accountant)
{
	rank_settle(accountant->contenders, accountant->zone_count);
	follow_standings(accountant);
}

bool accountant_is_silent(const struct accountant *accountant)
{
	for (size_t z = 0; z < accountant->zone_count; z++) {
		const struct contender *contender = &accountant->contenders[z];

		if (contender->is_silent && contender->standing == STANDING_COUNTS)
			return true;
	}
	return false;
}

bool accountant_needs(const struct accountant *accountant, size_t zone)
{
	return !accountant_has_ended(accountant, zone) ||
	       rank_is_needed(accountant->contenders, accountant->zone_count,
			      &accountant->contenders[zone]);
}

bool accountant_has_ended(const struct accountant *accountant, size_t zone)
{
	return accountant->contenders[zone].standing == STANDING_ENDED;
}

/* Nothing is charged without a column or without parties. */
static void charge(struct ledger *ledger, const struct party *party, size_t count, uint32_t column,
		   const uint64_t *amounts)
{
	if (column == COLUMN_NONE || !party)
		return;
	for (size_t i = 0; i < count; i++) {
		if (!amounts[i])
			continue;
		if (party[i].process != LEDGER_NONE)
			ledger_charge(ledger, party[i].process, column, amounts[i]);
		else
			ledger_charge_container(ledger, party[i].container, column, amounts[i]);
	}
}

/* Energy that a meter counted while the machine slept belongs to no process that runs now. */
static uint64_t energy_asleep(const struct zone_interval *flow, uint64_t asleep_ns)
{
	if (!asleep_ns)
		return 0;
	return muldiv_u64(flow->energy_uj, asleep_ns, asleep_ns + flow->dt_ns);
}

/* Idle series of rows that a reload brought show 0 at first: until then the node is charged. */
static enum idle_share share_at(struct accountant *accountant, uint64_t now_ns)
{
	if (!ledger_layout(accountant->ledger)->bears_idle)
		return IDLE_SHARE_NODE;
	if (accountant->share_is_new)
		accountant->shared_from_ns = now_ns + accountant->settle_ns;
	accountant->share_is_new = false;
	return now_ns < accountant->shared_from_ns ? IDLE_SHARE_NODE : accountant->idle_share;
}

/* Only users and holders of a device have a part of its idle energy, not others by their size. */
static enum idle_share device_share_at(struct accountant *accountant, uint64_t now_ns)
{
	enum idle_share share = share_at(accountant, now_ns);

	if (accountant->device_idle == DEVICE_IDLE_AUTO)
		return share == IDLE_SHARE_SIZE ? IDLE_SHARE_USAGE : share;
	if (accountant->device_idle == DEVICE_IDLE_NODE ||
	    !ledger_layout(accountant->ledger)->bears_idle)
		return IDLE_SHARE_NODE;
	return accountant->device_idle == DEVICE_IDLE_HOLDER ? IDLE_SHARE_HOLDER : IDLE_SHARE_USAGE;
}

/*
 * The rule by which the energy of zone @z is shared. An interval without a pass over the processes
 * shows no signals: then it is the rule of the interval before.
 */
static enum share_rule rule_of(const struct accountant *accountant, size_t z)
{
	const struct zone_account *state = &accountant->zones[z];
	uint32_t place = accountant->place[z];

	if (!accountant->work.interval->measured.dt_ns && state->rule != SHARE_FIT &&
	    work_domain_at(place)->rule == SHARE_AUTO)
		return state->rule;
	return interval_work_rule(&accountant->work, place, state->zone->kind);
}

/*
 * Memory draws idle power for its contents: where idle energy is shared by the size of workloads,
 * that of memory is shared by the memory that each holds, if it is known: at the zone's socket,
 * else in all. Work of a gap is shared by several zones, and so keeps its weights.
 */
static void weigh_idle_memory(const struct accountant *accountant, uint32_t z,
			      struct attribution_input *work)
{
	const struct parties *parties = accountant->work.interval->parties;
	uint32_t place = accountant->place[z];

	if (work->idle_share != IDLE_SHARE_SIZE || accountant->zones[z].zone->kind != ZONE_DRAM ||
	    !(parties->signals & SIGNAL_BIT(SIGNAL_RESIDENT)) ||
	    !parties->signal_sum[SIGNAL_RESIDENT])
		return;
	work->idle_share = IDLE_SHARE_RESIDENT;
	work->idle_weights = parties->signal[SIGNAL_RESIDENT];
	if (parties->knows_held && place < parties->sockets && parties->held_sum[place])
		work->idle_weights = parties->held[place];
}

/* All work since the last reading of zone @z; without a gap it is not known. */
static struct domain_work gap_work(struct accountant *accountant, uint32_t z, const struct gap *gap)
{
	struct parties *parties = &accountant->gap_parties;
	struct domain_work work = { 0 };
	struct gap_nameless nameless;

	if (gap && gap_parties(gap, accountant->ledger, parties, &nameless) == 0) {
		work = parties_work(parties, 0, parties->count);
		work.input.rule = gap_rule(gap);
		work.input.dropped_weight = nameless.dropped;
		work.input.unseen_weight = nameless.unseen;
		work.input.time_dropped = nameless.time_dropped;
		work.input.time_unseen = nameless.time_unseen;
		work.input.idle_dropped_weight = gap->idle_dropped;
	}
	work.input.idle_share = interval_work_idle_share(&accountant->work, accountant->place[z]);
	return work;
}

/* Has the zone been gone for so long that it may never come back? */
static bool is_given_up(const struct accountant *accountant, size_t z)
{
	const struct interval *interval = accountant->work.interval;
	uint32_t waits_in = accountant->gap_of[z];

	return interval->status[z].state == ZONE_ABSENT && waits_in < GAPS_MAX &&
	       interval->time_ns - accountant->gaps.gap[waits_in].began_ns > GONE_GAP_NS;
}

static void leave_gap(struct accountant *accountant, size_t z, uint32_t next)
{
	gaps_leave(&accountant->gaps, accountant->gap_of[z]);
	accountant->gap_of[z] = next;
}

/*
 * A zone that is gone mostly comes back with another counter: then the energy in between is
 * unknown. Where the counter went on (a file of --meter.external that was written again), its
 * energy goes to the work of all that time, or of no known work: never to the last interval's.
 */
static void follow_gap(struct accountant *accountant, size_t z, bool has_span)
{
	if (accountant_has_ended(accountant, z))
		leave_gap(accountant, z, GAP_NONE);
	else if (is_given_up(accountant, z))
		leave_gap(accountant, z, GAP_LOST);
	else if (accountant->gap_of[z] == GAP_NONE && !has_span && accountant->zones[z].has_span &&
		 interval_work_has_use(&accountant->work, accountant->place[z]))
		accountant->gap_of[z] =
			gaps_enter(&accountant->gaps, accountant->work.interval->time_ns,
				   accountant->place[z], rule_of(accountant, z));
}

/* The span of zone @z, or NULL. @next is the first span that was not taken yet. */
static const struct energy_span *take_span(const struct interval *interval, size_t z, size_t *next)
{
	if (*next >= interval->span_count || interval->spans[*next].zone != z)
		return NULL;
	return &interval->spans[(*next)++];
}

static void follow_gaps(struct accountant *accountant)
{
	size_t next = 0;

	for (size_t z = 0; z < accountant->zone_count; z++)
		follow_gap(accountant, z, take_span(accountant->work.interval, z, &next));
}

static void collect_gaps(struct accountant *accountant, bool follows_zones)
{
	for (uint32_t i = 0; accountant->gaps.used && i < GAPS_MAX; i++) {
		struct gap *gap = &accountant->gaps.gap[i];
		struct zone_activity activity;
		struct domain_work work;

		if (!gap->zones || work_domain_at(gap->place)->follows_zones != follows_zones)
			continue;
		work = interval_work_at(&accountant->work, gap->place, gap->rule);
		activity = interval_work_activity(&accountant->work, gap->place, 0);
		gap_collect(gap, accountant->ledger, work.party, &work.input, &activity);
	}
}

static void collect_histories(struct accountant *accountant, bool follows_zones)
{
	for (size_t i = 0; i < accountant->histories.count; i++) {
		struct work_history *history = &accountant->histories.history[i];
		struct zone_activity activity;
		struct domain_work work;

		if (!history->reach_ns ||
		    work_domain_at(history->place)->follows_zones != follows_zones)
			continue;
		work = interval_work_at(&accountant->work, history->place, history->rule);
		activity = interval_work_activity(&accountant->work, history->place, 0);
		work_history_add(history, accountant->ledger, work.party, &work.input, &activity,
				 accountant->work.interval->time_ns);
	}
}

/* Notes the span of zone @z, before it is booked, for every row that is to be explained. */
static void explain_span(struct accountant *accountant, uint32_t z, const struct energy_span *span,
			 bool is_late)
{
	const struct interval *interval = accountant->work.interval;
	uint32_t waits_in = accountant->gap_of[z], place = accountant->place[z];

	if (waits_in < GAPS_MAX)
		place = accountant->gaps.gap[waits_in].place;
	for (size_t i = 0; i < accountant->explained_count; i++) {
		struct explained_zone *zone = &accountant->explained[i]->zone[z];
		enum share_rule rule = work_domain_at(place)->rule;

		explanation_note_span(zone, &accountant->zones[z], &interval->status[z], span);
		zone->was_gap = waits_in != GAP_NONE && !is_late;
		zone->was_late = is_late;
		zone->idle_share = interval_work_idle_share(&accountant->work, place);
		zone->by_socket = place < interval->parties->sockets;
		zone->package = zone->by_socket ? interval->places.package[place] : 0;
		zone->by_device = rule == SHARE_DEVICE_TIME;
		zone->by_parts = rule == SHARE_PARTS;
		accountant->explained[i]->zone_count = (uint32_t)accountant->zone_count;
	}
}

static void explain_split(struct accountant *accountant, uint32_t z,
			  const struct explained_split *split)
{
	bool knows_pairs = accountant->work.signals & SIGNAL_BIT(SIGNAL_PAIRED_TIME);
	uint64_t smt_ppm = share_rule_pairing_ppm(split->input->rule, accountant->share.smt_ppm);

	for (size_t i = 0; i < accountant->explained_count; i++) {
		struct explained_zone *zone = &accountant->explained[i]->zone[z];

		/* The zone may have learned it from the span itself. */
		zone->idle_state = accountant->zones[z].idle_state;
		zone->idle_power_uw = accountant->zones[z].idle_power_uw;
		zone->smt_ppm = knows_pairs ? smt_ppm : SHARE_PPM;
		explanation_note_split(accountant->explained[i], zone, split, accountant->ledger);
	}
}

static void attribute(struct accountant *accountant, uint32_t z, const struct zone_interval *flow,
		      const struct domain_work *work, uint64_t asleep_ns)
{
	uint64_t asleep_uj = energy_asleep(flow, asleep_ns);
	struct ledger *ledger = accountant->ledger;
	struct attribution_input input = work->input;
	struct attribution_result result = {
		.parts = { work->parts[MODE_DYNAMIC], work->parts[MODE_IDLE] },
	};
	const struct explained_split split = {
		.input = &input,
		.result = &result,
		.party = work->party,
		.factor = accountant->work.weights.factor,
		.asleep_uj = asleep_uj,
		.asleep_ns = asleep_ns,
	};

	/* No misses, or no packets: the energy was used all the same. */
	if (input.time_weights && !attribution_has_weights(&input))
		attribution_use_time(&input);
	input.energy_uj = flow->energy_uj - asleep_uj;
	input.idle_uj = flow->idle_uj;
	if (ledger_column(ledger, z, MODE_IDLE) == COLUMN_NONE)
		input.idle_share = IDLE_SHARE_NODE;
	/* On failure all energy is unattributed, and so still accounted for. */
	(void)attribute_zone(&input, &result, &accountant->scratch);
	explain_split(accountant, z, &split);
	if (accountant->is_part[z])
		energy_parties_add(&accountant->work.parts, work->party, input.count, &result);
	result.mode_uj[MODE_DYNAMIC] += asleep_uj;
	result.unattributed_uj[MODE_DYNAMIC][UNATTRIBUTED_NO_ACTIVITY] += asleep_uj;
	for (enum energy_mode mode = MODE_DYNAMIC; mode < MODE_COUNT; mode++) {
		charge(ledger, work->party, input.count, ledger_column(ledger, z, mode),
		       result.parts[mode]);
		ledger_node(ledger, z, mode, result.mode_uj[mode]);
		for (enum unattributed_reason reason = 0; reason < UNATTRIBUTED_REASON_COUNT;
		     reason++)
			ledger_unattributed(ledger, z, mode, reason,
					    result.unattributed_uj[mode][reason]);
	}
}

/* The start of the work that used the energy of @span. */
static uint64_t work_since(const struct energy_span *span)
{
	return span->since_ns ? span->since_ns : span->from_ns;
}

/*
 * Returns true if the energy of @span was not used by the work of this interval or since the zone
 * was last read: it was used before, or is a mean over more than its own time.
 */
static bool is_late(const struct accountant *accountant, uint32_t z, const struct energy_span *span)
{
	const struct interval *interval = accountant->work.interval;
	uint64_t dt_ns = interval->measured.dt_ns;

	return span && dt_ns && !work_domain_at(accountant->place[z])->comes_with_span &&
	       (span->since_ns || span->to_ns + dt_ns < interval->time_ns);
}

/* How far back work is to be kept. The length of a span counts up to LATE_SPAN_NS. */
static uint64_t reach_of(const struct interval *interval, const struct energy_span *span)
{
	uint64_t length_ns = span->from_ns ? span->to_ns - span->from_ns : 0;

	if (span->since_ns)
		length_ns = span->to_ns - span->since_ns;
	else if (length_ns > LATE_SPAN_NS)
		length_ns = LATE_SPAN_NS;
	return interval->time_ns - span->to_ns + length_ns + interval->measured.dt_ns;
}

/* For metrics and pages: by how much the zone's span is late, if it is. */
static void note_lateness(struct zone_account *state, uint64_t now_ns,
			  const struct energy_span *span, bool is_late)
{
	if (!span)
		return;
	state->delay_ns = is_late ? now_ns - span->to_ns : 0;
	state->window_ns = is_late && span->since_ns ? span->to_ns - span->since_ns : 0;
}

/*
 * Collects the work in the time of a late @span into @ret, by its rule. False: that work is no
 * longer known, or not yet kept.
 */
static bool find_past(struct accountant *accountant, uint32_t z, const struct energy_span *span,
		      struct gap *ret)
{
	const struct interval *interval = accountant->work.interval;
	uint32_t place = accountant->place[z];
	const struct work_history *history;

	work_histories_want(&accountant->histories, place, ret->rule, reach_of(interval, span),
			    interval->time_ns);
	history = work_histories_find_covering(&accountant->histories, place, ret->rule,
					       work_since(span), span->to_ns);
	if (!history || !span->known)
		return false;
	work_history_collect(history, accountant->ledger, work_since(span), span->to_ns,
			     interval_work_idle_share(&accountant->work, place), ret);
	return true;
}

/* The machine's activity while the energy of @span flowed; @gap: the work of that time, or NULL. */
static struct zone_activity activity_of(const struct accountant *accountant, uint32_t z,
					const struct energy_span *span, const struct gap *gap,
					bool is_past)
{
	uint32_t place = accountant->place[z];
	bool is_whole = span && accountant->gap_of[z] == GAP_NONE;
	uint64_t span_ns = span ? span->to_ns - span->from_ns : 0, work_ns;
	struct zone_activity seen =
		interval_work_activity(&accountant->work, place, is_whole ? span_ns : 0);

	if (gap && work_domain_at(place)->comes_with_span) {
		seen.asleep_ns = gap->activity.asleep_ns;
	} else if (gap) {
		seen = gap->activity;
		work_ns = span->to_ns - work_since(span);
		if (is_past && work_ns) { /* a mean covers more than its span */
			seen.asleep_ns = muldiv_u64(seen.asleep_ns, span_ns, work_ns);
			seen.dt_ns = span_ns;
		}
	}
	if (zone_is_modelled(accountant->zones[z].zone))
		seen.asleep_ns = 0; /* the model's clock stood still as well */
	return seen;
}

/*
 * Returns true if zone @z may have a regression: its power is measured, and no option sets its
 * rule.
 */
static bool may_fit(const struct accountant *accountant, uint32_t z)
{
	const struct zone *zone = accountant->zones[z].zone;

	return accountant->share.may_fit && accountant->share.rule[zone->kind] == SHARE_AUTO &&
	       !zone_is_modelled(zone) &&
	       work_domain_at(accountant->place[z])->rule == SHARE_AUTO &&
	       accountant->work.signals & SIGNAL_BIT(SIGNAL_COUNTED_TIME);
}

/* The work of this interval by the regression of zone @z, where that is the better rule. */
static bool work_by_fit(struct accountant *accountant, uint32_t z, struct domain_work *ret)
{
	const struct interval *interval = accountant->work.interval;
	const struct zone_fit_interval fit = {
		.span_ns = interval->measured.dt_ns,
		.owner_factors = accountant->share.owner_factors,
		.signals = accountant->work.signals,
		.place = accountant->place[z],
		.is_memory = accountant->zones[z].zone->kind == ZONE_DRAM,
		.ledger = accountant->ledger,
	};
	struct zone_fit_weights learned;

	if (!may_fit(accountant, z) ||
	    !zone_fits_use(&accountant->fits, z, interval->parties, &fit, &learned))
		return false;
	*ret = interval_work_by_fit(&accountant->work, accountant->place[z], &learned);
	return ret->input.rule == SHARE_FIT;
}

/* Negative: not known. */
static double known_idle_w(const struct zone_account *state, const struct zone_interval *flow)
{
	if (state->idle_state == IDLE_LEARNED || state->idle_state == IDLE_FIXED)
		return (double)state->idle_power_uw / 1e6;
	if (state->idle_state == IDLE_MODEL && flow->dt_ns) /* the source reports it */
		return (double)flow->idle_uj * 1e3 / (double)flow->dt_ns;
	return -1;
}

/* Learns from @flow; the work of this interval used its energy. */
static void learn_fit(struct accountant *accountant, uint32_t z, const struct zone_interval *flow)
{
	const struct interval *interval = accountant->work.interval;
	const struct zone_account *state = &accountant->zones[z];
	uint64_t dt_ns = interval->measured.dt_ns, nameless_ns;
	struct zone_fit_interval fit = {
		.energy_uj = flow->energy_uj,
		.span_ns = flow->dt_ns,
		.idle_w = known_idle_w(state, flow),
		.smt_ppm = accountant->share.smt_ppm,
		.owner_factors = accountant->share.owner_factors,
		.signals = accountant->work.signals,
		.place = accountant->place[z],
		.ledger = accountant->ledger,
	};

	if (!may_fit(accountant, z) || interval->measured.asleep_ns ||
	    flow->dt_ns > dt_ns + dt_ns / 10 || flow->dt_ns < dt_ns - dt_ns / 10)
		return;
	nameless_ns = interval->work.dropped_ns + interval->work.unseen_ns;
	fit.nameless_ns = fit.place < interval->parties->sockets
				  ? parties_of_socket(interval->parties, fit.place, nameless_ns)
				  : nameless_ns;
	fit.rule = share_rule_choose(&accountant->share, state->zone->kind, fit.signals);
	zone_fits_learn(&accountant->fits, z, interval->parties, &fit);
}

/* A zone that follows its parts follows the work of all CPUs where no part has energy. */
static uint32_t place_of_flow(const struct accountant *accountant, uint32_t z)
{
	uint32_t place = accountant->place[z];

	if (place == PLACE_PARTS && !energy_parties_have_energy(&accountant->work.parts))
		return PLACE_NONE;
	return place;
}

/* Books energy of this interval, or of an unknown time, by the work of this interval. */
static void book_flow(struct accountant *accountant, uint32_t z, const struct zone_interval *flow,
		      uint64_t asleep_ns, bool is_late)
{
	struct zone_account *state = &accountant->zones[z];
	struct domain_work work;

	if (!is_late && work_by_fit(accountant, z, &work))
		state->rule = SHARE_FIT;
	else
		work = interval_work_at(&accountant->work, place_of_flow(accountant, z),
					state->rule);
	if (!is_late)
		weigh_idle_memory(accountant, z, &work.input);
	attribute(accountant, z, flow, &work, asleep_ns);
	if (!is_late)
		learn_fit(accountant, z, flow);
}

/* The energy of a span that began before this interval goes to the work of the whole gap. */
static void book_zone(struct accountant *accountant, uint32_t z, const struct energy_span *span)
{
	const struct interval *interval = accountant->work.interval;
	struct zone_account *state = &accountant->zones[z];
	uint32_t waits_in = span ? accountant->gap_of[z] : GAP_NONE;
	struct gap past = { .rule = rule_of(accountant, z) };
	bool late = is_late(accountant, z, span);
	bool is_past = late && find_past(accountant, z, span, &past);
	const struct gap *gap = is_past               ? &past
				: waits_in < GAPS_MAX ? &accountant->gaps.gap[waits_in]
						      : NULL;
	struct zone_activity seen = activity_of(accountant, z, span, gap, is_past);
	struct domain_work work;
	struct zone_interval flow;

	state->rule = past.rule;
	note_lateness(state, interval->time_ns, span, late);
	if (accountant->explained_count)
		explain_span(accountant, z, span, is_past);
	flow = zone_account_advance(state, &interval->status[z], span, &seen,
				    accountant->settle_ns);
	if (flow.energy_uj && (gap || waits_in != GAP_NONE)) {
		work = gap_work(accountant, z, gap);
		attribute(accountant, z, &flow, &work, seen.asleep_ns);
	} else if (flow.energy_uj) {
		book_flow(accountant, z, &flow, seen.asleep_ns, late);
	}
	gap_release(&past);
	if (span)
		leave_gap(accountant, z, GAP_NONE);
}

/* Decides the zone's standing in the next interval. */
static void note_reading(struct accountant *accountant, size_t z, const struct energy_span *span)
{
	struct contender *contender = &accountant->contenders[z];
	bool is_up = accountant->work.interval->status[z].state == ZONE_UP;

	if (span) {
		bool moved = span->known && span->energy_uj;

		if (moved || !contender->moved_ns)
			contender->moved_ns = span->to_ns;
		contender->read_ns = span->to_ns;
		contender->has_moved |= moved;
	}
	rank_note_silence(contender, accountant->work.interval->time_ns);
	contender->has_begun |= span != NULL;
	contender->was_read = span != NULL;
	contender->is_due = is_up && !span;
	contender->is_ready = is_up && span && span->to_ns >= accountant->zones[z].count_from_ns;
}

static void book_zones(struct accountant *accountant, bool follows_zones)
{
	bool has_columns = ledger_layout(accountant->ledger)->bears_idle;
	size_t next = 0;

	for (uint32_t z = 0; z < accountant->zone_count; z++) {
		struct zone_account *state = &accountant->zones[z];
		const struct energy_span *span = take_span(accountant->work.interval, z, &next);

		if (work_domain_at(accountant->place[z])->follows_zones != follows_zones)
			continue;
		book_zone(accountant, z, span);
		note_reading(accountant, z, span);
		zone_account_bear_series(
			state,
			has_columns && accountant_shares_idle(accountant, &state->zone->domain));
	}
}

static void begin_work(struct accountant *accountant, const struct interval *interval)
{
	interval_work_begin(&accountant->work, interval, &accountant->share, accountant->ledger,
			    share_at(accountant, interval->time_ns),
			    device_share_at(accountant, interval->time_ns));
	for (size_t z = 0; z < accountant->zone_count; z++)
		accountant->place[z] =
			work_place(&interval->places, &accountant->zones[z].zone->domain);
	if (accountant->has_parts)
		energy_parties_begin(&accountant->work.parts, interval->parties);
}

void accountant_book(struct accountant *accountant, const struct interval *interval)
{
	struct ledger *ledger = accountant->ledger;

	begin_work(accountant, interval);
	follow_gaps(accountant);
	/* Some zones follow the energy of others, which is known after these were booked. */
	for (int round = 0; round < (accountant->has_parts ? 2 : 1); round++) {
		bool follows_zones = round == 1;

		collect_gaps(accountant, follows_zones);
		collect_histories(accountant, follows_zones);
		book_zones(accountant, follows_zones);
	}
	charge(ledger, interval->parties->party, interval->parties->count, COLUMN_CPU,
	       interval->parties->cpu_ns);
	ledger_node_sum(ledger, COLUMN_CPU, interval->work.busy_ns,
			interval->work.dropped_ns + interval->work.unseen_ns);
	accountant->booked_ns = interval->time_ns;
	accountant->has_begun = true;
	accountant->work.interval = NULL;
}
