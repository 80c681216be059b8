// SPDX-License-Identifier: Apache-2.0
/*
 * For each zone: what of its span counts (zone_account.h), whose work it follows (of a socket, of a
 * device or of all; of this interval, of a gap, or of a time before), the split over that
 * (attribute.h), and the charges. Weights of gaps and of histories are collected before, also of
 * those gaps that end now.
 */
#include "attribution/accountant.h"

#include <math.h>
#include <string.h>

#include "base/num.h"
#include "energy/total.h"

#define LATE_SPAN_NS (60 * NSEC_PER_SEC)
/* For how long the work is kept of the time since a zone was read last that is gone. */
#define GONE_GAP_NS (60 * NSEC_PER_SEC)

void accountant_release(struct accountant *accountant)
{
	gaps_release(&accountant->gaps);
	work_histories_release(&accountant->histories);
	parties_release(&accountant->gap_parties);
	energy_parties_release(&accountant->parts);
	share_weights_release(&accountant->weights);
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
	uint32_t total[ZONES_MAX];

	for (size_t z = 0; z < accountant->zone_count; z++) {
		zones[z] = accountant->zones[z].zone;
		total[z] = accountant->zones[z].total;
	}
	if (!has_booked_energy(accountant))
		known = 0;
	accountant->totals = total_choose(zones, known, accountant->zone_count,
					  accountant->share.psys_gpus, total);
	for (size_t z = 0; z < accountant->zone_count; z++)
		accountant->zones[z].total = total[z];
}

void accountant_settle_ranks(struct accountant *accountant)
{
	rank_settle(accountant->contenders, accountant->zone_count);
	follow_standings(accountant);
}

bool accountant_has_ended(const struct accountant *accountant, size_t zone)
{
	return accountant->contenders[zone].standing == STANDING_ENDED;
}

/* COLUMN_NONE: there is nothing to charge. */
static void charge(struct ledger *ledger, const struct party *party, size_t count, uint32_t column,
		   const uint64_t *amounts)
{
	for (size_t i = 0; column != COLUMN_NONE && i < count; i++) {
		if (!amounts[i])
			continue;
		if (party[i].process != LEDGER_NONE)
			ledger_charge(ledger, party[i].process, column, amounts[i]);
		else
			ledger_charge_container(ledger, party[i].container, column, amounts[i]);
	}
}

/* What a meter counted while the machine slept belongs to nothing that runs now. */
static uint64_t energy_asleep(const struct zone_interval *flow, uint64_t asleep_ns)
{
	if (!asleep_ns)
		return 0;
	return muldiv_u64(flow->energy_uj, asleep_ns, asleep_ns + flow->dt_ns);
}

/* Rows' idle series that a reload has brought show 0 for a while: until then the node bears it. */
static enum idle_share share_at(struct accountant *accountant, uint64_t now_ns)
{
	if (!ledger_layout(accountant->ledger)->bears_idle)
		return IDLE_SHARE_NODE;
	if (accountant->share_is_new)
		accountant->shared_from_ns = now_ns + accountant->settle_ns;
	accountant->share_is_new = false;
	return now_ns < accountant->shared_from_ns ? IDLE_SHARE_NODE : accountant->idle_share;
}

/* What has nothing to do with a device has no part of its idle energy, however large it is. */
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

static enum idle_share share_of(struct accountant *accountant, const struct interval *interval,
				uint32_t place)
{
	struct device_work used = { 0 };
	enum idle_share share;
	uint32_t device;

	if (!work_place_is_device(place, &device))
		return share_at(accountant, interval->time_ns);
	share = device_share_at(accountant, interval->time_ns);
	if (interval->devices)
		device_parties_work(interval->devices, device, &used);
	if (share == IDLE_SHARE_HOLDER && used.is_allocated)
		return IDLE_SHARE_ALLOCATION;
	return share == IDLE_SHARE_HOLDER && !used.has_holders ? IDLE_SHARE_USAGE : share;
}

/* The package or device that zone @z is charged by; PLACE_NONE: the whole machine. */
static uint32_t place_of(const struct accountant *accountant, const struct interval *interval,
			 size_t z)
{
	return work_place(&interval->places, &accountant->zones[z].zone->domain);
}

/* What a zone's energy is split over: weights, what they belong to, and room for the parts. */
struct shared_work {
	struct attribution_input input; /* but for the energies */
	const struct party *party;      /* [input.count] */
	uint64_t *parts[MODE_COUNT];    /* likewise */
};

static struct shared_work work_of_parties(const struct parties *parties)
{
	return (struct shared_work){
		.input = { .count = parties->count,
			   .dynamic_weights = parties->cpu_ns,
			   .idle_weights = parties->idle_weight },
		.party = parties->party,
		.parts = { parties->parts[MODE_DYNAMIC], parties->parts[MODE_IDLE] },
	};
}

static struct shared_work work_of_device(const struct device_parties *devices, uint32_t device)
{
	struct device_work used = { 0 };

	if (devices)
		device_parties_work(devices, device, &used);
	return (struct shared_work){
		.input = { .rule = SHARE_DEVICE_TIME,
			   .count = used.count,
			   .dynamic_weights = used.busy_ns,
			   .dropped_weight = used.dropped_ns,
			   .unseen_weight = used.unseen_ns,
			   .idle_weights = used.idle_weight,
			   .idle_dropped_weight = used.nameless_weight },
		.party = used.party,
		.parts = { used.parts[MODE_DYNAMIC], used.parts[MODE_IDLE] },
	};
}

static struct shared_work work_of_parts(const struct energy_parties *parts, enum idle_share share)
{
	struct shared_work work = work_of_parties(&parts->parties);

	work.input.rule = SHARE_PARTS;
	work.input.dropped_weight = parts->dropped_uj;
	work.input.unseen_weight = parts->unseen_uj;
	if (share == IDLE_SHARE_USAGE)
		work.input.idle_weights = work.input.dynamic_weights;
	return work;
}

/* Of the socket at @place, if sockets were distinguished in the interval, else of all. */
static struct shared_work work_of_cpus(const struct interval *interval, uint32_t place,
				       enum idle_share share)
{
	const struct parties *parties = interval->parties;
	struct shared_work work = work_of_parties(parties);

	work.input.dropped_weight = interval->work.dropped_ns;
	work.input.unseen_weight = interval->work.unseen_ns;
	if (place >= parties->sockets)
		return work;
	/* What has no name was run by all sockets as what has. */
	work.input.dynamic_weights = parties->socket_ns[place];
	work.input.dropped_weight = parties_of_socket(parties, place, work.input.dropped_weight);
	work.input.unseen_weight = parties_of_socket(parties, place, work.input.unseen_weight);
	if (share == IDLE_SHARE_USAGE)
		work.input.idle_weights = work.input.dynamic_weights;
	return work;
}

/*
 * By which rule the energy of zone @z is shared. An interval without a pass over the processes says
 * nothing of signals: then by that of the one before.
 */
static enum share_rule rule_of(const struct accountant *accountant, const struct interval *interval,
			       size_t z)
{
	const struct zone_account *state = &accountant->zones[z];
	uint32_t place = place_of(accountant, interval, z), device;

	if (work_place_is_device(place, &device))
		return SHARE_DEVICE_TIME;
	if (place == PLACE_PARTS)
		return SHARE_PARTS;
	if (!interval->measured.dt_ns && state->rule != SHARE_FIT)
		return state->rule;
	return share_rule_choose(&accountant->share, state->zone->kind, accountant->signals);
}

static bool make_weights(struct accountant *accountant, const struct interval *interval,
			 uint32_t place, enum share_rule rule, const struct attribution_input *time)
{
	struct share_of_weights *made = &accountant->weights_of;

	if (made->rule == rule && made->place == place)
		return true;
	made->rule = SHARE_CPU_TIME;
	if (share_rule_signals(rule) & ~accountant->signals ||
	    share_weights_make(&accountant->weights, interval->parties, rule,
			       accountant->share.smt_ppm, place, time->dropped_weight,
			       time->unseen_weight) < 0)
		return false;
	*made = (struct share_of_weights){ place, rule };
	return true;
}

/* Weighs @work, which is in CPU time, by @rule, if its signals are known. */
static void weigh_by(struct accountant *accountant, const struct interval *interval, uint32_t place,
		     enum share_rule rule, struct attribution_input *work)
{
	const struct share_weights *weights = &accountant->weights;

	if (!share_rule_has_signals(rule) || !make_weights(accountant, interval, place, rule, work))
		return;
	work->time_weights = work->dynamic_weights;
	work->time_dropped = work->dropped_weight;
	work->time_unseen = work->unseen_weight;
	work->rule = rule;
	work->dynamic_weights = weights->weight;
	work->dropped_weight = weights->dropped;
	work->unseen_weight = weights->unseen;
}

/* This interval's work at @place, by @rule if it can be weighed by that. */
static struct shared_work work_of(struct accountant *accountant, const struct interval *interval,
				  uint32_t place, enum share_rule rule)
{
	enum idle_share share = share_of(accountant, interval, place);
	uint32_t device;
	struct shared_work work;

	if (work_place_is_device(place, &device))
		work = work_of_device(interval->devices, device);
	else if (place == PLACE_PARTS)
		work = work_of_parts(&accountant->parts, share);
	else
		work = work_of_cpus(interval, place, share);
	weigh_by(accountant, interval, place, rule, &work.input);
	work.input.idle_share = share;
	return work;
}

/*
 * Memory draws its idle power for what it holds: where the size of workloads is asked for, that of
 * memory is the memory that each holds, if it is known: at the zone's socket, else in all. Not
 * after a gap, whose work zones share.
 */
static void weigh_idle_memory(const struct zone_account *state, const struct interval *interval,
			      uint32_t place, struct attribution_input *work)
{
	const struct parties *parties = interval->parties;

	if (work->idle_share != IDLE_SHARE_SIZE || state->zone->kind != ZONE_DRAM ||
	    !(parties->signals & SIGNAL_BIT(SIGNAL_RESIDENT)) ||
	    !parties->signal_sum[SIGNAL_RESIDENT])
		return;
	work->idle_share = IDLE_SHARE_RESIDENT;
	work->idle_weights = parties->signal[SIGNAL_RESIDENT];
	if (parties->knows_held && place < parties->sockets && parties->held_sum[place])
		work->idle_weights = parties->held[place];
}

/* Likewise, of all that ran since a zone was read last; without a gap nothing is known of it. */
static struct shared_work gap_work(struct accountant *accountant, const struct interval *interval,
				   uint32_t place, const struct gap *gap)
{
	struct parties *parties = &accountant->gap_parties;
	struct gap_nameless nameless;
	struct shared_work work;

	if (!gap || gap_parties(gap, accountant->ledger, parties, &nameless) < 0) {
		parties->count = 0;
		work = (struct shared_work){ 0 };
	} else {
		work = work_of_parties(parties);
		work.input.rule = gap_rule(gap);
		work.input.dropped_weight = nameless.dropped;
		work.input.unseen_weight = nameless.unseen;
		work.input.time_dropped = nameless.time_dropped;
		work.input.time_unseen = nameless.time_unseen;
		work.input.idle_dropped_weight = gap->idle_dropped;
	}
	work.input.idle_share = share_of(accountant, interval, place);
	return work;
}

/*
 * The use of a device comes with its energy, from one reading: where none has come, nothing of it
 * has to be kept for the next.
 */
static bool has_work(const struct interval *interval, uint32_t place)
{
	uint32_t device;

	return !work_place_is_device(place, &device) ||
	       (interval->devices && device_parties_busy_ns(interval->devices, device));
}

/* Whether the zone has been gone for so long that it may never come back. */
static bool is_given_up(const struct accountant *accountant, size_t z,
			const struct interval *interval)
{
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
 * A zone that is gone mostly comes back with another counter: then what flowed meanwhile is not
 * known. Where the counter went on (a file of --meter.external that was written anew), its energy
 * is the work's of all that time, or of nothing that is known: never that of the last interval.
 */
static void follow_gap(struct accountant *accountant, size_t z, const struct interval *interval,
		       bool has_span)
{
	uint32_t place = place_of(accountant, interval, z);

	if (accountant_has_ended(accountant, z))
		leave_gap(accountant, z, GAP_NONE);
	else if (is_given_up(accountant, z, interval))
		leave_gap(accountant, z, GAP_LOST);
	else if (accountant->gap_of[z] == GAP_NONE && !has_span && accountant->zones[z].has_span &&
		 has_work(interval, place))
		accountant->gap_of[z] = gaps_enter(&accountant->gaps, interval->time_ns, place,
						   rule_of(accountant, interval, z));
}

/* The span of zone @z, where @next is the first that was not taken; NULL: it has none. */
static const struct energy_span *take_span(const struct interval *interval, size_t z, size_t *next)
{
	if (*next >= interval->span_count || interval->spans[*next].zone != z)
		return NULL;
	return &interval->spans[(*next)++];
}

static void follow_gaps(struct accountant *accountant, const struct interval *interval)
{
	size_t next = 0;

	for (size_t z = 0; z < accountant->zone_count; z++)
		follow_gap(accountant, z, interval, take_span(interval, z, &next));
}

/* The utilisation of the CPUs that a zone at @place is charged by. */
static double utilisation_of(const struct interval *interval, uint32_t place)
{
	const struct zone_activity *measured = &interval->measured;
	const struct parties *parties = interval->parties;
	uint64_t busy_ns;

	if (place >= parties->sockets || !measured->dt_ns || !interval->places.cpus[place])
		return measured->utilisation;
	busy_ns = parties_of_socket(parties, place, interval->work.busy_ns);
	return fmin(1.0,
		    (double)busy_ns / ((double)measured->dt_ns * interval->places.cpus[place]));
}

/* What the machine did in this interval, as far as a zone at @place is concerned. */
static struct zone_activity activity_at(const struct interval *interval, uint32_t place)
{
	struct zone_activity activity = interval->measured;

	activity.utilisation = utilisation_of(interval, place);
	return activity;
}

static void collect_gaps(struct accountant *accountant, const struct interval *interval,
			 bool of_parts)
{
	for (uint32_t i = 0; accountant->gaps.used && i < GAPS_MAX; i++) {
		struct gap *gap = &accountant->gaps.gap[i];
		struct zone_activity activity;
		struct shared_work work;

		if (!gap->zones || (gap->place == PLACE_PARTS) != of_parts)
			continue;
		work = work_of(accountant, interval, gap->place, gap->rule);
		activity = activity_at(interval, gap->place);
		gap_collect(gap, accountant->ledger, work.party, &work.input, &activity);
	}
}

static void collect_histories(struct accountant *accountant, const struct interval *interval,
			      bool of_parts)
{
	for (size_t i = 0; i < accountant->histories.count; i++) {
		struct work_history *history = &accountant->histories.history[i];
		struct zone_activity activity;
		struct shared_work work;

		if (!history->reach_ns || (history->place == PLACE_PARTS) != of_parts)
			continue;
		work = work_of(accountant, interval, history->place, history->rule);
		activity = activity_at(interval, history->place);
		work_history_add(history, accountant->ledger, work.party, &work.input, &activity,
				 interval->time_ns);
	}
}

/* What ran: where zones follow the parts' energy, that; or all else. */
static void collect_work(struct accountant *accountant, const struct interval *interval,
			 bool of_parts)
{
	collect_gaps(accountant, interval, of_parts);
	collect_histories(accountant, interval, of_parts);
}

/*
 * What was going on in the span of zone @z. The use of a device has come with the span, and so is
 * of its time, however long the interval is; but for a gap, in which use was kept.
 */
static struct zone_activity activity_of(const struct accountant *accountant, size_t z,
					const struct interval *interval,
					const struct energy_span *span)
{
	struct zone_activity seen = interval->measured;
	uint32_t place = place_of(accountant, interval, z), device;
	uint64_t busy_ns = 0;

	if (!work_place_is_device(place, &device)) {
		seen.utilisation = utilisation_of(interval, place);
		return seen;
	}
	if (span && accountant->gap_of[z] == GAP_NONE)
		seen.dt_ns = span->to_ns - span->from_ns;
	if (interval->devices)
		busy_ns = device_parties_busy_ns(interval->devices, device);
	seen.utilisation = seen.dt_ns ? fmin(1.0, (double)busy_ns / (double)seen.dt_ns) : 0;
	return seen;
}

/* For whatever asked about this interval: the span of a zone, before that is booked. */
static void explain_span(struct accountant *accountant, uint32_t z, const struct interval *interval,
			 const struct energy_span *span, bool is_late)
{
	uint32_t waits_in = accountant->gap_of[z];
	uint32_t place = place_of(accountant, interval, z), device;

	if (waits_in < GAPS_MAX)
		place = accountant->gaps.gap[waits_in].place;
	for (size_t i = 0; i < accountant->explained_count; i++) {
		struct explained_zone *zone = &accountant->explained[i]->zone[z];

		explanation_note_span(zone, &accountant->zones[z], &interval->status[z], span);
		zone->was_gap = waits_in != GAP_NONE && !is_late;
		zone->was_late = is_late;
		zone->idle_share = share_of(accountant, interval, place);
		zone->by_socket = place < interval->parties->sockets;
		zone->package = zone->by_socket ? interval->places.package[place] : 0;
		zone->by_device = work_place_is_device(place, &device);
		zone->by_parts = place == PLACE_PARTS;
		accountant->explained[i]->zone_count = (uint32_t)accountant->zone_count;
	}
}

/* The factor of the container that the row is, or is of. */
static double factor_of(const struct accountant *accountant, const struct explanation *explanation,
			const struct attribution_input *input, const struct party *party)
{
	const struct share_factor *factor = accountant->weights.factor;

	if (input->rule != SHARE_FIT || !factor || explanation->level > LEVEL_CONTAINER)
		return 0;
	for (size_t i = 0; i < input->count; i++)
		if (explanation_has_party(explanation, accountant->ledger, party[i].process,
					  party[i].container))
			return factor[i].work * factor[i].all;
	return 0;
}

static void explain_split(struct accountant *accountant, uint32_t z,
			  const struct attribution_input *input,
			  const struct attribution_result *result, const struct party *party,
			  uint64_t asleep_uj, uint64_t asleep_ns)
{
	bool knows_pairs = accountant->signals & SIGNAL_BIT(SIGNAL_PAIRED_TIME);
	uint64_t smt_ppm = share_rule_pairing_ppm(input->rule, accountant->share.smt_ppm);

	for (size_t i = 0; i < accountant->explained_count; i++) {
		struct explanation *explanation = accountant->explained[i];

		/* The span itself may have taught it. */
		explanation->zone[z].idle_state = accountant->zones[z].idle_state;
		explanation->zone[z].idle_power_uw = accountant->zones[z].idle_power_uw;
		explanation->zone[z].smt_ppm = knows_pairs ? smt_ppm : SHARE_PPM;
		explanation->zone[z].factor = factor_of(accountant, explanation, input, party);
		explanation_note_split(explanation, &explanation->zone[z], input, result, party,
				       accountant->ledger);
		explanation->zone[z].asleep_uj = asleep_uj;
		explanation->zone[z].asleep_ns = asleep_ns;
	}
}

static void attribute(struct accountant *accountant, uint32_t z, const struct zone_interval *flow,
		      const struct shared_work *work, uint64_t asleep_ns)
{
	uint64_t asleep_uj = energy_asleep(flow, asleep_ns);
	struct ledger *ledger = accountant->ledger;
	struct attribution_input input = work->input;
	struct attribution_result result = {
		.parts = { work->parts[MODE_DYNAMIC], work->parts[MODE_IDLE] },
	};

	/* No misses, and no packets: what ran has used the energy all the same. */
	if (input.time_weights && !attribution_has_weights(&input))
		attribution_use_time(&input);
	input.energy_uj = flow->energy_uj - asleep_uj;
	input.idle_uj = flow->idle_uj;
	if (ledger_column(ledger, z, MODE_IDLE) == COLUMN_NONE)
		input.idle_share = IDLE_SHARE_NODE;
	/* On failure all of it is in unattributed, and so still accounted for. */
	(void)attribute_zone(&input, &result, &accountant->scratch);
	explain_split(accountant, z, &input, &result, work->party, asleep_uj, asleep_ns);
	if (accountant->is_part[z])
		energy_parties_add(&accountant->parts, work->party, input.count, &result);
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

/* When the work began that the energy of @span is of. */
static uint64_t work_since(const struct energy_span *span)
{
	return span->since_ns ? span->since_ns : span->from_ns;
}

/*
 * Whether what ran in this interval, or since the zone was read last, is not the work of the energy
 * of @span: that flowed before, or is a mean of more than its own time. The use of devices comes
 * with their energy, and is never late.
 */
static bool is_late(const struct interval *interval, uint32_t place, const struct energy_span *span)
{
	uint32_t device;

	return span && interval->measured.dt_ns && !work_place_is_device(place, &device) &&
	       (span->since_ns || span->to_ns + interval->measured.dt_ns < interval->time_ns);
}

/* How far back work is to be kept. A long span, after an outage, is not what is usual. */
static uint64_t reach_of(const struct interval *interval, const struct energy_span *span)
{
	uint64_t length_ns = span->from_ns ? span->to_ns - span->from_ns : 0;

	if (span->since_ns)
		length_ns = span->to_ns - span->since_ns;
	else if (length_ns > LATE_SPAN_NS)
		length_ns = LATE_SPAN_NS;
	return interval->time_ns - span->to_ns + length_ns + interval->measured.dt_ns;
}

/* For people: by how much the span of the zone is late, if it is. */
static void note_lateness(struct zone_account *state, const struct interval *interval,
			  const struct energy_span *span, bool is_late)
{
	if (!span)
		return;
	state->delay_ns = is_late ? interval->time_ns - span->to_ns : 0;
	state->window_ns = is_late && span->since_ns ? span->to_ns - span->since_ns : 0;
}

/*
 * The work of the time of a late @span, by the rule of @ret, into that. False: it is not known any
 * more, or not yet, what ran then.
 */
static bool find_past(struct accountant *accountant, const struct interval *interval,
		      uint32_t place, const struct energy_span *span, struct gap *ret)
{
	const struct work_history *history;

	work_histories_want(&accountant->histories, place, ret->rule, reach_of(interval, span),
			    interval->time_ns);
	history = work_histories_find_covering(&accountant->histories, place, ret->rule,
					       work_since(span), span->to_ns);
	if (!history || !span->known)
		return false;
	work_history_collect(history, accountant->ledger, work_since(span), span->to_ns,
			     share_of(accountant, interval, place), ret);
	return true;
}

/* What the machine did while the energy of @span flowed, of which @work has what ran. */
static struct zone_activity activity_of_work(const struct gap *work, const struct energy_span *span,
					     bool is_past)
{
	struct zone_activity seen = work->activity;
	uint64_t span_ns = span->to_ns - span->from_ns;
	uint64_t work_ns = span->to_ns - work_since(span);

	if (!is_past || !work_ns)
		return seen;
	/* A mean is of more than its span. */
	seen.asleep_ns = muldiv_u64(seen.asleep_ns, span_ns, work_ns);
	seen.dt_ns = span_ns;
	return seen;
}

/* Whether zone @z can have a regression in this interval: of CPUs, measured, and by no option. */
static bool may_fit(const struct accountant *accountant, const struct interval *interval, size_t z)
{
	const struct zone *zone = accountant->zones[z].zone;
	uint32_t place = place_of(accountant, interval, z), device;

	return accountant->share.may_fit && accountant->share.rule[zone->kind] == SHARE_AUTO &&
	       !zone_is_modelled(zone) && !work_place_is_device(place, &device) &&
	       place != PLACE_PARTS && accountant->signals & SIGNAL_BIT(SIGNAL_COUNTED_TIME);
}

/* The work of this interval by the regression of zone @z, where that is the better one. */
static bool work_by_fit(struct accountant *accountant, const struct interval *interval, size_t z,
			struct shared_work *ret)
{
	uint32_t place = place_of(accountant, interval, z);
	struct zone_fit_interval work = {
		.span_ns = interval->measured.dt_ns,
		.owner_factors = accountant->share.owner_factors,
		.signals = accountant->signals,
		.place = place,
		.is_memory = accountant->zones[z].zone->kind == ZONE_DRAM,
		.ledger = accountant->ledger,
	};
	struct zone_fit_weights learned;

	if (!may_fit(accountant, interval, z) ||
	    !zone_fits_use(&accountant->fits, z, interval->parties, &work, &learned))
		return false;
	memcpy(accountant->weights.coefficient, learned.coefficient, sizeof(learned.coefficient));
	accountant->weights.awake_ratio = learned.awake_ratio;
	accountant->weights.factor = learned.factor;
	accountant->weights_of.rule = SHARE_CPU_TIME; /* what is kept is of another zone */
	*ret = work_of(accountant, interval, place, SHARE_FIT);
	accountant->weights_of.rule = SHARE_CPU_TIME;
	return ret->input.rule == SHARE_FIT;
}

/* Negative: it is not known. */
static double known_idle_w(const struct zone_account *state, const struct zone_interval *flow)
{
	if (state->idle_state == IDLE_LEARNED || state->idle_state == IDLE_FIXED)
		return (double)state->idle_power_uw / 1e6;
	if (state->idle_state == IDLE_MODEL && flow->dt_ns) /* the source says it */
		return (double)flow->idle_uj * 1e3 / (double)flow->dt_ns;
	return -1;
}

/* From @flow, whose work is that of this interval. */
static void learn_fit(struct accountant *accountant, const struct interval *interval, size_t z,
		      const struct zone_interval *flow)
{
	const struct zone_account *state = &accountant->zones[z];
	uint64_t dt_ns = interval->measured.dt_ns, nameless_ns;
	struct zone_fit_interval fit = {
		.energy_uj = flow->energy_uj,
		.span_ns = flow->dt_ns,
		.idle_w = known_idle_w(state, flow),
		.smt_ppm = accountant->share.smt_ppm,
		.owner_factors = accountant->share.owner_factors,
		.signals = accountant->signals,
		.place = place_of(accountant, interval, z),
		.ledger = accountant->ledger,
	};

	if (!may_fit(accountant, interval, z) || interval->measured.asleep_ns ||
	    flow->dt_ns > dt_ns + dt_ns / 10 || flow->dt_ns < dt_ns - dt_ns / 10)
		return;
	nameless_ns = interval->work.dropped_ns + interval->work.unseen_ns;
	fit.nameless_ns = fit.place < interval->parties->sockets
				  ? parties_of_socket(interval->parties, fit.place, nameless_ns)
				  : nameless_ns;
	fit.rule = share_rule_choose(&accountant->share, state->zone->kind, accountant->signals);
	zone_fits_learn(&accountant->fits, z, interval->parties, &fit);
}

/* What flowed in this interval, or of which the time is not known, by what ran in it. */
static void book_flow(struct accountant *accountant, const struct interval *interval, uint32_t z,
		      const struct zone_interval *flow, uint64_t asleep_ns, bool is_late)
{
	struct zone_account *state = &accountant->zones[z];
	struct shared_work work;

	if (!is_late && work_by_fit(accountant, interval, z, &work))
		state->rule = SHARE_FIT;
	else
		work = work_of(accountant, interval, place_of(accountant, interval, z),
			       state->rule);
	if (!is_late)
		weigh_idle_memory(state, interval, place_of(accountant, interval, z), &work.input);
	attribute(accountant, z, flow, &work, asleep_ns);
	if (!is_late)
		learn_fit(accountant, interval, z, flow);
}

/* A span that began before this interval is the work's of all that time: of the gap's. */
static void book_zone(struct accountant *accountant, uint32_t z, const struct interval *interval,
		      const struct energy_span *span)
{
	struct zone_account *state = &accountant->zones[z];
	uint32_t waits_in = span ? accountant->gap_of[z] : GAP_NONE;
	uint32_t place = place_of(accountant, interval, z), device;
	struct gap past = { .rule = rule_of(accountant, interval, z) };
	bool late = is_late(interval, place, span);
	bool is_past = late && find_past(accountant, interval, place, span, &past);
	const struct gap *gap = is_past               ? &past
				: waits_in < GAPS_MAX ? &accountant->gaps.gap[waits_in]
						      : NULL;
	struct zone_activity seen = activity_of(accountant, z, interval, span);
	struct shared_work work;
	struct zone_interval flow;

	state->rule = past.rule;
	note_lateness(state, interval, span, late);
	if (accountant->explained_count)
		explain_span(accountant, z, interval, span, is_past);
	if (gap && work_place_is_device(place, &device))
		seen.asleep_ns = gap->activity.asleep_ns;
	else if (gap)
		seen = activity_of_work(gap, span, is_past);
	if (zone_is_modelled(state->zone))
		seen.asleep_ns = 0; /* the model's clock stood still as well */
	flow = zone_account_advance(state, &interval->status[z], span, &seen,
				    accountant->settle_ns);
	if (flow.energy_uj && (gap || waits_in != GAP_NONE)) {
		work = gap_work(accountant, interval, place, gap);
		attribute(accountant, z, &flow, &work, seen.asleep_ns);
	} else if (flow.energy_uj) {
		book_flow(accountant, interval, z, &flow, seen.asleep_ns, late);
	}
	gap_release(&past);
	if (span)
		leave_gap(accountant, z, GAP_NONE);
}

/* For the zone's standing in the next interval. */
static void note_reading(struct accountant *accountant, size_t z, const struct interval *interval,
			 const struct energy_span *span)
{
	struct contender *contender = &accountant->contenders[z];
	bool is_up = interval->status[z].state == ZONE_UP;

	if (span) {
		bool moved = span->known && span->energy_uj;

		if (moved || !contender->moved_ns)
			contender->moved_ns = span->to_ns;
		contender->read_ns = span->to_ns;
		contender->has_moved |= moved;
	}
	contender->has_begun |= span != NULL;
	contender->was_read = span != NULL;
	contender->is_due = is_up && !span;
	contender->is_ready = is_up && span && span->to_ns >= accountant->zones[z].count_from_ns;
}

/* What follows the parts' energy, or all others. */
static void book_zones(struct accountant *accountant, const struct interval *interval,
		       bool of_parts)
{
	bool has_columns = ledger_layout(accountant->ledger)->bears_idle;
	size_t next = 0;

	for (size_t z = 0; z < accountant->zone_count; z++) {
		struct zone_account *state = &accountant->zones[z];
		const struct energy_span *span = take_span(interval, z, &next);

		if ((place_of(accountant, interval, z) == PLACE_PARTS) != of_parts)
			continue;
		book_zone(accountant, (uint32_t)z, interval, span);
		note_reading(accountant, z, interval, span);
		zone_account_bear_series(
			state,
			has_columns && accountant_shares_idle(accountant, &state->zone->domain));
	}
}

/* What is fixed for the wholes of @kind that make a remainder; ZONE_OTHER: for the parts. */
static uint64_t fixed_idle_uw(const struct accountant *accountant,
			      const struct remainder *remainder, enum zone_kind kind)
{
	bool of_wholes = kind != ZONE_OTHER;
	uint64_t sum_uw = 0;

	for (size_t i = 0; i < remainder->count; i++) {
		const struct remainder_curve *curve = &remainder->curves[i];
		const struct zone_account *state = &accountant->zones[curve->zone];

		if (state->idle_state == IDLE_FIXED && curve->is_whole == of_wholes &&
		    (!of_wholes || state->zone->kind == kind))
			sum_uw += state->idle_power_uw;
	}
	return sum_uw;
}

/* A figure for the whole machine is one for its parts and their remainder. */
static void derive_idle(struct accountant *accountant, const struct remainder *remainder)
{
	uint64_t parts_uw = fixed_idle_uw(accountant, remainder, ZONE_OTHER);
	uint64_t whole_uw = fixed_idle_uw(accountant, remainder, ZONE_PLATFORM);

	if (!whole_uw)
		whole_uw = fixed_idle_uw(accountant, remainder, ZONE_PSYS);
	for (size_t z = 0; whole_uw && z < accountant->zone_count; z++) {
		if (accountant->zones[z].zone->kind == ZONE_OTHER)
			zone_account_derive_idle(&accountant->zones[z],
						 whole_uw > parts_uw ? whole_uw - parts_uw : 0);
	}
}

int accountant_follow(struct accountant *accountant, struct remainder *remainder,
		      const struct zone **ret)
{
	struct remainder_member members[ZONES_MAX];
	int r;

	for (size_t z = 0; z < accountant->zone_count; z++) {
		const struct zone_account *state = &accountant->zones[z];

		members[z] = (struct remainder_member){
			.zone = state->zone,
			.counts = accountant->contenders[z].standing == STANDING_COUNTS,
			.in_total = state->total != TOTAL_NONE,
			.counts_from_ns = state->late ? UINT64_MAX : state->count_from_ns,
		};
	}
	r = remainder_follow(remainder, members, accountant->zone_count,
			     accountant->share.psys_gpus);
	for (size_t z = 0; z < accountant->zone_count; z++)
		accountant->is_part[z] = remainder_has_part(remainder, z);
	derive_idle(accountant, remainder);
	if (ret)
		*ret = remainder_exists(remainder) ? remainder_zone(remainder, members) : NULL;
	return r;
}

void accountant_book(struct accountant *accountant, const struct interval *interval)
{
	struct ledger *ledger = accountant->ledger;

	if (parties_weigh_idle(interval->parties, ledger, share_at(accountant, interval->time_ns),
			       interval->measured.dt_ns) < 0)
		interval->parties->count = 0; /* no memory: nothing is charged, nothing is lost */
	if (interval->devices)                /* likewise */
		(void)device_parties_close(interval->devices,
					   device_share_at(accountant, interval->time_ns));
	accountant->signals = share_weights_signals(interval->parties);
	accountant->weights_of.rule = SHARE_CPU_TIME;
	if (accountant->has_parts)
		energy_parties_begin(&accountant->parts, interval->parties);
	follow_gaps(accountant, interval);
	collect_work(accountant, interval, false);
	book_zones(accountant, interval, false);
	if (accountant->has_parts) { /* which are known now */
		collect_work(accountant, interval, true);
		book_zones(accountant, interval, true);
	}
	charge(ledger, interval->parties->party, interval->parties->count,
	       ledger_cpu_column(ledger), interval->parties->cpu_ns);
	ledger_node_cpu(ledger, interval->work.busy_ns);
	accountant->booked_ns = interval->time_ns;
	accountant->has_begun = true;
}
