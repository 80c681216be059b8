// SPDX-License-Identifier: Apache-2.0
/*
 * The order inside an interval:
 *
 *   1. read all zones, then the processes, back to back (each with its own time);
 *   2. resolve owners and find the ledger rows of those that ran: the "parties" of this interval;
 *   3. for each zone, split the energy of the interval over the parties, into the ledger; that of a
 *      zone that could not be read for a while over what ran in all of the time (gaps.h);
 *   4. publish.
 */
#include "kepler/interval.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attribution/attribute.h"
#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "kepler/gaps.h"
#include "kepler/owner.h"
#include "kepler/parties.h"
#include "kepler/self_stats.h"
#include "kepler/sleepers.h"
#include "kepler/zone_account.h"

#define ANNOUNCE_ROUNDS 16

struct interval_engine {
	struct interval_sources sources;
	struct ledger *ledger;
	struct publisher *publisher;
	struct publisher_options publication;
	enum idle_share idle_share;
	bool sleepers_are_due;   /* a reload has given what sleeps a part of idle energy, too */
	bool share_is_new;       /* a reload has given rows idle series: they show 0 ... */
	uint64_t shared_from_ns; /* ... and idle energy is shared from here on */
	struct zone_account zones[ZONES_MAX];
	struct snapshot_zone published[ZONES_MAX];
	size_t zone_count;
	size_t estimated;  /* of them, the first ones */
	uint64_t slept_ns; /* when sleepers were looked at */
	bool handed_over;  /* the estimate has ended, meters count */
	struct zone_reading readings[ZONES_MAX];
	struct parties parties;
	struct gaps gaps;
	uint32_t gap_of[ZONES_MAX]; /* that the zone waits in, or GAP_NONE */
	struct parties gap_parties; /* of the zone whose gap ends just now */
	struct split_scratch scratch;
	uint64_t pass_monotonic_ns; /* of the last pass, 0 before the first */
	uint64_t pass_boottime_ns;
	uint64_t elapsed_ns;
	uint32_t online; /* CPUs, as the last pass had them; 0 unknown */
	const struct config
		*config; /* of the last (re)configuration, for zones that appear later */
	bool baseline_done;
};

/* To be called whenever one of these changes. */
static void set_publication(struct interval_engine *engine)
{
	const struct config *config = engine->config;
	/* A process row is one series a zone and mode in use, and its CPU time. */
	uint32_t series_per_row = (uint32_t)engine->zone_count * MODE_COUNT + 1;

	engine->publication = config->publication;
	engine->publication.max_rows = config->metrics.max_series / series_per_row;
	engine->publication.first_zone = engine->handed_over ? (uint32_t)engine->estimated : 0;
	if (engine->publisher)
		publisher_set_options(engine->publisher, &engine->publication);
}

static void adopt_zone(struct interval_engine *engine, const struct zone *zone, int64_t realtime_ms)
{
	struct zone_account *state = &engine->zones[engine->zone_count];
	struct snapshot_zone *published = &engine->published[engine->zone_count];

	zone_account_init(state, zone, &engine->config->idle, realtime_ms);
	state->late = engine->baseline_done;
	*published = (struct snapshot_zone){ .zone = *zone };
	engine->gap_of[engine->zone_count] = GAP_NONE;
	engine->zone_count++;
}

/* Zones can appear while we run (a socket comes online); they never leave their index. */
int interval_engine_find_zones(struct interval_engine *engine, int64_t realtime_ms)
{
	const struct meter_table *meters = engine->sources.meters;
	size_t count = meters ? meter_table_count(meters) : 0;

	if (engine->sources.estimate && engine->zone_count == 0) {
		adopt_zone(engine, estimated_meter_zone(engine->sources.estimate), realtime_ms);
		engine->estimated = 1;
	}
	while (engine->zone_count - engine->estimated < count && engine->zone_count < ZONES_MAX)
		adopt_zone(engine, meter_table_zone(meters, engine->zone_count - engine->estimated),
			   realtime_ms);
	/* The ledger's own number: memory for it may have been refused before. */
	if (engine->zone_count == ledger_zones(engine->ledger))
		return 0;
	set_publication(engine);
	return ledger_set_zones(engine->ledger, (uint32_t)engine->zone_count);
}

int interval_engine_new(const struct interval_sources *sources, const struct config *config,
			struct interval_engine **ret)
{
	const struct ledger_options options = {
		.max_processes = config->monitor.max_processes,
		.max_containers = config->monitor.max_containers,
		.overflow = { "system_processes", "system_processes", "system",
			      "system_processes" },
	};
	struct interval_engine *engine = calloc(1, sizeof(*engine));
	int r;

	if (!engine)
		return -ENOMEM;
	engine->sources = *sources;
	engine->config = config;
	engine->idle_share = config->idle.share;
	r = ledger_new(&options, &engine->ledger);
	if (r == 0) {
		set_publication(engine);
		r = publisher_new(&engine->publication, engine->ledger, sources->holder,
				  &engine->publisher);
	}
	if (r < 0) {
		interval_engine_free(engine);
		return r;
	}
	*ret = engine;
	return 0;
}

void interval_engine_free(struct interval_engine *engine)
{
	if (!engine)
		return;
	publisher_free(engine->publisher);
	ledger_free(engine->ledger);
	parties_release(&engine->parties);
	parties_release(&engine->gap_parties);
	gaps_release(&engine->gaps);
	split_scratch_release(&engine->scratch);
	free(engine);
}

void interval_engine_reconfigure(struct interval_engine *engine, const struct config *config)
{
	if (engine->baseline_done && engine->idle_share == IDLE_SHARE_NODE)
		engine->share_is_new = config->idle.share != IDLE_SHARE_NODE;
	if (engine->baseline_done && engine->idle_share != IDLE_SHARE_EQUAL)
		engine->sleepers_are_due = config->idle.share == IDLE_SHARE_EQUAL;
	engine->config = config;
	engine->idle_share = config->idle.share;
	set_publication(engine);
	for (size_t z = 0; z < engine->zone_count; z++)
		zone_account_configure(&engine->zones[z], &config->idle);
}

static uint32_t container_of(struct interval_engine *engine, const struct process_ref *process)
{
	const struct ledger_owner owner =
		ledger_owner_of(identity_resolve(engine->sources.identities, process));

	return ledger_container(engine->ledger, &owner);
}

/*
 * Those that ran become parties. In the baseline nothing is charged, but every owner gets its row,
 * so that its series are there from the first snapshot on; with an equal share of idle energy so
 * does every process.
 */
static void enter_sample(struct interval_engine *engine, const struct activity_sample *sample,
			 const uint64_t *socket_ns)
{
	const struct process_ref ref = process_ref_of(sample);
	uint32_t container, process = LEDGER_NONE;
	bool wanted = sample->cpu_ns > 0 || engine->idle_share == IDLE_SHARE_EQUAL;

	if (!wanted && engine->baseline_done)
		return;
	container = container_of(engine, &ref);
	if (!wanted)
		return;
	process = ledger_process(engine->ledger, sample->key.pid, sample->key.start_ns,
				 sample->comm, container);
	if (sample->cpu_ns > 0)
		parties_add(&engine->parties, process, container, sample->cpu_ns, socket_ns);
}

/* What sleeps, or ended, before its names come is not met: it is looked up by its id. */
static void name_waiting(struct interval_engine *engine)
{
	uint32_t left = ledger_waiting_containers(engine->ledger);

	for (uint32_t row = 0; left && row < ledger_container_slots(engine->ledger); row++) {
		const struct ledger_container *waiting = ledger_container_at(engine->ledger, row);
		const struct identity *identity;

		if (!waiting->used || !waiting->waiting)
			continue;
		left--;
		identity = identity_find(engine->sources.identities, waiting->owner->container_id);
		if (identity && (!identity->waiting || identity->has_pod_names)) {
			const struct ledger_owner owner = ledger_owner_of(identity);

			(void)ledger_container(engine->ledger, &owner);
		}
	}
}

/* What has slept since the start has no row yet, but a part of idle energy that all share. */
static void enter_sleeper(void *userdata, const struct activity_sample *sample)
{
	enter_sample(userdata, sample, NULL);
}

static void enter_sleepers(struct interval_engine *engine)
{
	if (engine->sleepers_are_due)
		activity_visit(engine->sources.activity, enter_sleeper, engine);
	engine->sleepers_are_due = false;
}

static void learn_cgroup(void *userdata, uint64_t cgroup_id, const char *path)
{
	identity_resolver_learn(userdata, cgroup_id, path);
}

/* What may hang is asked for all at once, and waited for once; in more rounds if it is much. */
static void announce_processes(struct interval_engine *engine, const struct activity *activity)
{
	struct identity_resolver *identities = engine->sources.identities;
	unsigned rounds = 0;

	do {
		for (size_t i = 0; i < activity->count; i++) {
			const struct process_ref process = process_ref_of(&activity->samples[i]);

			identity_resolver_announce(identities, &process);
		}
	} while (identity_resolver_await(identities) && ++rounds < ANNOUNCE_ROUNDS);
}

static int enter_activity(struct interval_engine *engine, const struct activity *activity)
{
	uint32_t sockets = activity->socket_ns ? activity->sockets : 0;
	int r;

	parties_begin(&engine->parties, sockets);
	r = parties_reserve(&engine->parties, activity->count + activity->dropped_cgroup_count);
	if (r < 0)
		return r;
	announce_processes(engine, activity);
	for (size_t i = 0; i < activity->count; i++)
		enter_sample(engine, &activity->samples[i],
			     sockets ? activity->socket_ns + i * sockets : NULL);
	for (size_t i = 0; i < activity->dropped_cgroup_count; i++) {
		const struct dropped_cgroup *dropped = &activity->dropped_cgroups[i];
		const struct process_ref nobody = { .cgroup_id = dropped->cgroup_id, .comm = "" };

		parties_add(&engine->parties, LEDGER_NONE, container_of(engine, &nobody),
			    dropped->cpu_ns, NULL);
	}
	parties_spread_sockets(&engine->parties);
	return 0;
}

static void charge(struct interval_engine *engine, const struct parties *parties, uint32_t column,
		   const uint64_t *amounts)
{
	for (size_t i = 0; i < parties->count; i++) {
		if (!amounts[i])
			continue;
		if (parties->party[i].process != LEDGER_NONE)
			ledger_charge(engine->ledger, parties->party[i].process, column,
				      amounts[i]);
		else
			ledger_charge_container(engine->ledger, parties->party[i].container, column,
						amounts[i]);
	}
}

/* What a meter counted while the machine slept belongs to nothing that runs now. */
static uint64_t energy_asleep(const struct zone_interval *interval, uint64_t asleep_ns)
{
	if (!asleep_ns)
		return 0;
	return muldiv_u64(interval->energy_uj, asleep_ns, asleep_ns + interval->dt_ns);
}

/* Rows' idle series that a reload has brought show 0 for a while: until then the node bears it. */
static enum idle_share share_at(struct interval_engine *engine, uint64_t now_ns)
{
	if (engine->share_is_new)
		engine->shared_from_ns = now_ns + engine->publication.settle_ns;
	engine->share_is_new = false;
	return now_ns < engine->shared_from_ns ? IDLE_SHARE_NODE : engine->idle_share;
}

/* Of the socket whose work zone @z follows; SOCKET_NONE: the whole machine's. */
static uint32_t place_of(const struct interval_engine *engine, size_t z)
{
	const struct domain *domain = &engine->zones[z].zone->domain;
	uint32_t place;

	if (domain->kind != DOMAIN_SOCKET || !engine->parties.sockets)
		return SOCKET_NONE;
	place = cpu_sockets_find(engine->sources.sockets, domain->package);
	return place < engine->parties.sockets ? place : SOCKET_NONE;
}

/*
 * The weights of this interval's work, of the socket at @place or of all. What has no name was run
 * by all sockets as what has.
 */
static struct attribution_input work_of(struct interval_engine *engine, uint32_t place,
					const struct activity *activity)
{
	const struct parties *parties = &engine->parties;
	struct attribution_input work = {
		.count = parties->count,
		.dynamic_weights = parties->cpu_ns,
		.dropped_weight = activity->dropped_ns,
		.unseen_weight = activity->unseen_ns,
		.idle_share = share_at(engine, activity->time_ns),
		.idle_weights = parties->idle_weight,
	};

	if (place >= parties->sockets)
		return work;
	work.dynamic_weights = parties->socket_ns[place];
	work.dropped_weight = parties_of_socket(parties, place, work.dropped_weight);
	work.unseen_weight = parties_of_socket(parties, place, work.unseen_weight);
	if (work.idle_share == IDLE_SHARE_USAGE)
		work.idle_weights = work.dynamic_weights;
	return work;
}

/* Likewise, of all that ran since a zone was read last; without a gap nothing is known of it. */
static struct attribution_input gap_work(struct interval_engine *engine, const struct gap *gap,
					 enum idle_share share)
{
	struct parties *parties = &engine->gap_parties;
	uint64_t dropped = gap ? gap->dropped : 0;

	if (!gap || gap_parties(gap, engine->ledger, parties, &dropped) < 0) {
		parties->count = 0;
		return (struct attribution_input){ .idle_share = share };
	}
	return (struct attribution_input){
		.count = parties->count,
		.dynamic_weights = parties->cpu_ns,
		.dropped_weight = dropped,
		.unseen_weight = gap->unseen,
		.idle_share = share,
		.idle_weights = parties->idle_weight,
	};
}

/* A zone that is gone comes back with another counter: what flowed meanwhile is not known. */
static void follow_gap(struct interval_engine *engine, size_t z, uint64_t now_ns)
{
	const struct zone_account *state = &engine->zones[z];
	const struct zone_reading *reading = &engine->readings[z];

	if (reading->state == ZONE_ABSENT) {
		gaps_leave(&engine->gaps, engine->gap_of[z]);
		engine->gap_of[z] = GAP_NONE;
	} else if (engine->gap_of[z] == GAP_NONE && state->good_time_ns &&
		   !zone_account_moves(state, reading)) {
		engine->gap_of[z] = gaps_enter(&engine->gaps, now_ns, place_of(engine, z));
	}
}

static void collect_gaps(struct interval_engine *engine, const struct activity *activity,
			 const struct zone_activity *measured)
{
	for (size_t z = 0; z < engine->zone_count; z++)
		follow_gap(engine, z, activity->time_ns);
	for (uint32_t i = 0; engine->gaps.used && i < GAPS_MAX; i++) {
		struct gap *gap = &engine->gaps.gap[i];
		struct attribution_input work;

		if (!gap->zones)
			continue;
		work = work_of(engine, gap->place, activity);
		gap_collect(gap, engine->ledger, engine->parties.party, &work, measured->asleep_ns);
	}
}

/* How busy the CPUs were whose work zone @z follows. */
static double utilisation_of(const struct interval_engine *engine, size_t z,
			     const struct activity *activity, const struct zone_activity *measured)
{
	const struct parties *parties = &engine->parties;
	const struct cpu_sockets *sockets = engine->sources.sockets;
	uint32_t place = place_of(engine, z);
	uint64_t busy_ns;

	if (place == SOCKET_NONE || !measured->dt_ns || !sockets->cpus[place])
		return measured->utilisation;
	busy_ns = parties_of_socket(parties, place, activity->busy_ns);
	return fmin(1.0, (double)busy_ns / ((double)measured->dt_ns * sockets->cpus[place]));
}

static void attribute_interval(struct interval_engine *engine, uint32_t z,
			       const struct zone_interval *interval,
			       const struct attribution_input *work, struct parties *parties,
			       uint64_t asleep_ns)
{
	uint64_t asleep_uj = energy_asleep(interval, asleep_ns);
	struct attribution_input input = *work;
	struct attribution_result result = {
		.parts = { parties->parts[MODE_DYNAMIC], parties->parts[MODE_IDLE] },
	};

	input.energy_uj = interval->energy_uj - asleep_uj;
	input.idle_uj = interval->idle_uj;
	/* On failure all of it is in unattributed, and so still accounted for. */
	(void)attribute_zone(&input, &result, &engine->scratch);
	result.mode_uj[MODE_DYNAMIC] += asleep_uj;
	result.unattributed_uj[MODE_DYNAMIC][UNATTRIBUTED_NO_ACTIVITY] += asleep_uj;
	for (enum energy_mode mode = MODE_DYNAMIC; mode < MODE_COUNT; mode++) {
		charge(engine, parties, ledger_column(z, mode), result.parts[mode]);
		ledger_node(engine->ledger, z, mode, result.mode_uj[mode]);
		for (enum unattributed_reason reason = 0; reason < UNATTRIBUTED_REASON_COUNT;
		     reason++)
			ledger_unattributed(engine->ledger, z, mode, reason,
					    result.unattributed_uj[mode][reason]);
	}
}

static void describe_zone(struct interval_engine *engine, size_t z, uint64_t now_ns)
{
	const struct zone_account *state = &engine->zones[z];
	struct snapshot_zone *out = &engine->published[z];
	bool has_idle = zone_account_has_idle(state);

	out->state = state->last.state;
	out->idle_state = state->idle_state;
	/* A series that was born stays, whatever the policy is now. */
	out->has_mode[MODE_DYNAMIC] = out->rows_have_mode[MODE_DYNAMIC] = true;
	out->has_mode[MODE_IDLE] |= has_idle;
	out->rows_have_mode[MODE_IDLE] |= has_idle && engine->idle_share != IDLE_SHARE_NODE;
	out->watts[MODE_DYNAMIC] = state->watts[MODE_DYNAMIC];
	out->watts[MODE_IDLE] = state->watts[MODE_IDLE];
	if (out->has_mode[MODE_IDLE] && !has_idle && state->span_ns)
		out->watts[MODE_IDLE] = 0; /* all of it is dynamic now */
	out->span_ns = state->span_ns;
	out->idle_estimate_w =
		state->idle_power_uw ? (double)state->idle_power_uw / 1e6 : (double)NAN;
	out->reads = state->last.reads;
	out->errors = state->last.errors;
	out->dropped = state->last.dropped;
	out->wraps = state->last.wraps;
	out->age_s = state->up_time_ns ? (double)(now_ns - state->up_time_ns) / 1e9 : (double)NAN;
	out->created_ms = state->created_ms;
	out->ended = engine->handed_over && z < engine->estimated;
}

static void end_processes(struct interval_engine *engine, const struct activity *activity)
{
	for (size_t i = 0; i < activity->count; i++) {
		const struct activity_sample *sample = &activity->samples[i];
		uint32_t process;

		if (!(sample->flags & ACTIVITY_ENDED))
			continue;
		process =
			ledger_find_process(engine->ledger, sample->key.pid, sample->key.start_ns);
		if (process != LEDGER_NONE)
			ledger_end_process(engine->ledger, process);
	}
}

/*
 * CPUs that come or go while we run change what busy time is a part of. What the machine had at the
 * start is told by its host: a container's account may have fewer, without any of them having gone.
 */
static void follow_cpus(struct interval_engine *engine, uint32_t online)
{
	if (online && engine->online && online != engine->online) {
		engine->sources.cpus = online;
		if (engine->sources.sockets)
			(void)cpu_sockets_read(engine->config->host.sysfs, engine->sources.sockets);
		if (engine->sources.estimate)
			estimated_meter_set_cpus(engine->sources.estimate, online);
	}
	if (online)
		engine->online = online;
}

static struct zone_activity measure_activity(struct interval_engine *engine,
					     const struct activity *activity)
{
	struct zone_activity measured = { 0 };

	if (engine->pass_monotonic_ns) {
		uint64_t boot_ns = activity->boottime_ns - engine->pass_boottime_ns;

		measured.dt_ns = activity->time_ns - engine->pass_monotonic_ns;
		/* The two clocks are read one after the other: less than 10 ms is no sleep. */
		if (boot_ns > measured.dt_ns + 10 * NSEC_PER_MSEC)
			measured.asleep_ns = boot_ns - measured.dt_ns;
	}
	if (measured.dt_ns && engine->sources.cpus)
		measured.utilisation =
			fmin(1.0, (double)activity->busy_ns /
					  ((double)measured.dt_ns * engine->sources.cpus));
	engine->pass_monotonic_ns = activity->time_ns;
	engine->pass_boottime_ns = activity->boottime_ns;
	engine->elapsed_ns = measured.dt_ns;
	return measured;
}

static void read_zones(struct interval_engine *engine)
{
	if (engine->sources.meters)
		(void)meter_table_read(engine->sources.meters, engine->readings + engine->estimated,
				       ARRAY_SIZE(engine->readings) - engine->estimated);
}

/* The estimate ends with the interval before the first that a meter counts: no gap, no overlap. */
static void hand_over(struct interval_engine *engine)
{
	bool counts = false;

	for (size_t z = engine->estimated; z < engine->zone_count; z++)
		counts |= zone_account_counts(&engine->zones[z], &engine->readings[z]);
	if (engine->handed_over || !counts)
		return;
	engine->handed_over = true;
	set_publication(engine);
}

/* What a failed pass did not see comes with the next, and so must its time. */
static void advance_estimate(struct interval_engine *engine, const struct activity *activity,
			     bool has_passed)
{
	hand_over(engine);
	if (engine->handed_over)
		engine->readings[0].state = ZONE_ABSENT;
	else if (has_passed)
		estimated_meter_advance(engine->sources.estimate, activity->time_ns,
					activity->busy_ns, &engine->readings[0]);
}

static void attribute_zone_interval(struct interval_engine *engine, uint32_t z,
				    const struct activity *activity,
				    const struct zone_activity *measured)
{
	bool moves = zone_account_moves(&engine->zones[z], &engine->readings[z]);
	uint32_t waits_in = moves ? engine->gap_of[z] : GAP_NONE;
	const struct gap *gap = waits_in < GAPS_MAX ? &engine->gaps.gap[waits_in] : NULL;
	struct zone_activity seen = *measured;
	struct attribution_input work;
	struct zone_interval interval;

	seen.asleep_ns = gap ? gap->asleep_ns : measured->asleep_ns;
	if (engine->zones[z].zone->quality == QUALITY_ESTIMATED)
		seen.asleep_ns = 0; /* the model's clock stood still as well */
	seen.utilisation = utilisation_of(engine, z, activity, measured);
	interval = zone_account_advance(&engine->zones[z], &engine->readings[z], &seen,
					engine->publication.settle_ns);
	if (interval.energy_uj && waits_in != GAP_NONE) {
		work = gap_work(engine, gap, share_at(engine, activity->time_ns));
		attribute_interval(engine, z, &interval, &work, &engine->gap_parties,
				   seen.asleep_ns);
	} else if (interval.energy_uj) {
		work = work_of(engine, place_of(engine, z), activity);
		attribute_interval(engine, z, &interval, &work, &engine->parties, seen.asleep_ns);
	}
	if (moves) {
		gaps_leave(&engine->gaps, waits_in);
		engine->gap_of[z] = GAP_NONE;
	}
}

static void attribute_all(struct interval_engine *engine, const struct activity *activity,
			  const struct zone_activity *measured)
{
	if (parties_weigh_idle(&engine->parties, engine->ledger,
			       share_at(engine, activity->time_ns), measured->dt_ns) < 0)
		engine->parties.count = 0; /* no memory: nothing is charged, nothing is lost */
	collect_gaps(engine, activity, measured);
	for (size_t z = 0; z < engine->zone_count; z++) {
		attribute_zone_interval(engine, (uint32_t)z, activity, measured);
		describe_zone(engine, z, activity->time_ns);
	}
	charge(engine, &engine->parties, ledger_cpu_column(engine->ledger), engine->parties.cpu_ns);
	ledger_node_cpu(engine->ledger, activity->busy_ns);
}

static void describe_self(struct interval_engine *engine, const struct zone_activity *measured,
			  struct snapshot_self *self)
{
	struct activity_info info;

	activity_get_info(engine->sources.activity, &info);
	self_stats_activity(self, &info);
	self_stats_identities(self, engine->sources.identities);
	self->process_overflows = ledger_process_overflows(engine->ledger) + info.overflows;
	self->container_overflows = ledger_container_overflows(engine->ledger);
	self->node_busy_ratio = measured->dt_ns ? measured->utilisation : (double)NAN;
	self->node_cpu_ns = ledger_node_cpu_value(engine->ledger);
}

static void enter_step(const struct interval_engine *engine, enum loop_step step)
{
	if (engine->sources.steps)
		loop_steps_enter(engine->sources.steps, step, clock_ns(CLOCK_MONOTONIC));
}

int interval_engine_run(struct interval_engine *engine, int64_t realtime_ms,
			struct snapshot_self *self)
{
	struct activity activity = { 0 };
	struct zone_activity measured = { 0 };
	int r, pass;

	engine->elapsed_ns = 0;
	enter_step(engine, STEP_METERS);
	read_zones(engine);
	enter_step(engine, STEP_ACTIVITY);
	pass = activity_read(engine->sources.activity, &activity);
	if (pass < 0) {
		activity = (struct activity){ .time_ns = clock_ns(CLOCK_MONOTONIC),
					      .boottime_ns = clock_ns(CLOCK_BOOTTIME) };
	}
	enter_step(engine, STEP_IDENTITY);
	r = interval_engine_find_zones(engine, realtime_ms);
	if (r < 0)
		return r;
	ledger_begin(engine->ledger, activity.time_ns);
	follow_cpus(engine, activity.cpus);
	if (engine->estimated)
		advance_estimate(engine, &activity, pass == 0);
	if (pass == 0) {
		measured = measure_activity(engine, &activity);
		identity_resolver_begin(engine->sources.identities, activity.boottime_ns);
		activity_visit_new_cgroups(engine->sources.activity, learn_cgroup,
					   engine->sources.identities);
		name_waiting(engine);
		enter_sleepers(engine);
	}
	if (enter_activity(engine, &activity) < 0)
		engine->parties.count = 0;
	enter_step(engine, STEP_ATTRIBUTION);
	attribute_all(engine, &activity, &measured);
	end_processes(engine, &activity);
	sleepers_look(engine->ledger, engine->sources.identities, activity.time_ns,
		      &engine->slept_ns);
	engine->baseline_done = true;
	describe_self(engine, &measured, self);
	enter_step(engine, STEP_PUBLICATION);
	r = publisher_publish(engine->publisher, activity.time_ns, realtime_ms, engine->published,
			      self);
	return pass < 0 ? pass : r;
}

size_t interval_engine_zone_count(const struct interval_engine *engine)
{
	return engine->zone_count;
}

bool interval_engine_is_estimated(const struct interval_engine *engine)
{
	return engine->sources.estimate && !engine->handed_over;
}

const struct zone *interval_engine_zone(const struct interval_engine *engine, size_t index)
{
	return engine->zones[index].zone;
}

enum idle_state interval_engine_idle_state(const struct interval_engine *engine, size_t index)
{
	return engine->zones[index].idle_state;
}

const struct idle_learner *interval_engine_learner(const struct interval_engine *engine,
						   size_t index)
{
	return &engine->zones[index].learner;
}

void interval_engine_restore(struct interval_engine *engine, size_t index,
			     const struct idle_learner *learner)
{
	engine->zones[index].learner = *learner;
	zone_account_configure(&engine->zones[index], &engine->config->idle);
}

const struct zone_reading *interval_engine_reading(const struct interval_engine *engine,
						   size_t index)
{
	return &engine->zones[index].last;
}

const struct ledger *interval_engine_ledger(const struct interval_engine *engine)
{
	return engine->ledger;
}

uint64_t interval_engine_span_ns(const struct interval_engine *engine, size_t index)
{
	return engine->zones[index].span_ns;
}

uint64_t interval_engine_elapsed_ns(const struct interval_engine *engine)
{
	return engine->elapsed_ns;
}
