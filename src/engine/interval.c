// SPDX-License-Identifier: Apache-2.0
/*
 * The order inside an interval:
 *
 *   1. read all zones, then the processes, back to back (each with its own time);
 *   2. resolve owners and find the ledger rows of those that ran, or used a device: the "parties"
 *      of this interval;
 *   3. book it: each zone's energy over the parties, into the ledger (accountant.h);
 *   4. publish.
 */
#include "engine/interval.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "attribution/books.h"
#include "base/clock.h"
#include "base/num.h"
#include "energy/deviation.h"
#include "engine/devices/device_allocations.h"
#include "engine/devices/device_users.h"
#include "engine/machine_reads.h"
#include "engine/memory_signals.h"
#include "engine/owner.h"
#include "engine/party_entry.h"
#include "engine/pass_clock.h"
#include "engine/record_tap.h"
#include "engine/series_health.h"
#include "engine/sleepers.h"
#include "engine/user_watch.h"
#include "explain/explain_round.h"
#include "meter/meter_table.h"
#include "meter/passthrough/passthrough.h"
#include "meter/passthrough/passthrough_counts.h"
#include "snapshot/zone_picture.h"
#include "stat/tree_follow.h"
#include "units/units.h"

#define ANNOUNCE_ROUNDS 16

struct interval_engine {
	struct sources *sources;
	struct interval_peers peers;
	struct books books;
	struct publisher *publisher;
	struct publisher_options publication;
	bool sleepers_are_due; /* a reload has given what sleeps a part of idle energy, too */
	const struct device_uses *device_uses; /* of this interval; NULL: there are no meters */
	struct device_users device_users;
	size_t meter_zones[METER_ZONES_MAX]; /* the number of each zone of the meters, in books */
	size_t meters_known;
	struct deviations deviations;              /* of zones that are read and not charged */
	struct explain_round round;                /* questions that this interval answers */
	struct snapshot_zone published[ZONES_MAX]; /* what a snapshot shows about each */
	uint64_t slept_ns;                         /* when sleepers were looked at */
	struct user_watch users;
	struct unit_accounts units;
	struct pass_clock clock;
	uint64_t elapsed_ns;         /* of the interval; 0: not known */
	const struct config *config; /* of the last (re)configuration */
	struct activity_health activity;
	struct series_health series;
	bool told_late_read; /* that a read of a process's files hangs */
};

/* How long a series settles that is born at @now_ns, or still shows 0 then. */
static struct scrape_pace_state settle_at(const struct interval_engine *engine, uint64_t now_ns)
{
	uint64_t settle_ns = engine->config->publication.settle_ns;
	struct scrape_pace_state state = { .settle_ns = SCRAPE_PACE_UNKNOWN_NS };

	if (engine->peers.pace)
		state = scrape_pace_look(engine->peers.pace, now_ns);
	if (settle_ns != SETTLE_AUTO)
		state.settle_ns = settle_ns;
	return state;
}

/*
 * The most series that a row of any level can have. Classic names have one series per account and
 * mode, current names two per account (joules and watts). Each schema adds the columns that are no
 * energy, and both have the totals of each mode, as joules and watts.
 */
static uint32_t series_per_row(const struct interval_engine *engine)
{
	const struct layout *layout = ledger_layout(engine->books.ledger);
	uint32_t modes = layout->bears_idle ? MODE_COUNT : 1;
	uint32_t series = engine->books.accountant.totals * modes * 2;

	if (engine->config->pages.schema != SCHEMA_CURRENT)
		series += layout->columns;
	if (engine->config->pages.schema != SCHEMA_CLASSIC)
		series += layout->account_count * 2 + layout_others(layout);
	return series;
}

/*
 * The part of metrics.max-series that units of work may take, a quarter of it at most: an account
 * has the totals of each mode, and its units.
 */
static uint32_t series_of_units(struct interval_engine *engine)
{
	uint32_t modes = ledger_layout(engine->books.ledger)->bears_idle ? MODE_COUNT : 1;
	uint32_t each = engine->books.accountant.totals * modes + 1;
	uint32_t accounts = engine->config->metrics.max_series / 4 / each;

	if (!engine->peers.units)
		return 0;
	engine->units.limit = MAX(MIN(accounts, UNIT_ACCOUNTS_MAX), 1);
	return (uint32_t)engine->units.limit * each;
}

/* To be called whenever one of these changes. */
static void set_publication(struct interval_engine *engine)
{
	const struct config *config = engine->config;

	engine->publication = config->publication;
	engine->publication.settle_ns = engine->books.accountant.settle_ns;
	engine->publication.max_rows =
		(config->metrics.max_series - series_of_units(engine)) / series_per_row(engine);
	if (engine->publisher)
		publisher_set_options(engine->publisher, &engine->publication);
}

/*
 * Zones can appear while we run (a socket comes online, a model is fetched); they never leave their
 * index. Without memory new ones wait, and the others keep counting.
 */
int interval_engine_find_zones(struct interval_engine *engine, int64_t boottime_ms)
{
	const struct meter_table *meters = engine->sources->meters;
	struct books *books = &engine->books;
	size_t known = books->accountant.zone_count, count = meters ? meter_table_count(meters) : 0;
	uint32_t columns = ledger_columns(books->ledger);
	int r = estimates_adopt(&engine->sources->estimates, books, boottime_ms), chosen;

	while (r >= 0 && engine->meters_known < count) {
		r = books_adopt(books, meter_table_zone(meters, engine->meters_known), boottime_ms);
		if (r >= 0)
			engine->meter_zones[engine->meters_known++] = (size_t)r;
	}
	if (r >= 0)
		r = books_find_remainders(books, boottime_ms);
	chosen = books_choose_totals(books);
	if (known < books->accountant.zone_count || ledger_columns(books->ledger) != columns)
		set_publication(engine);
	return r < 0 ? r : chosen;
}

static int follow_counters(struct interval_engine *engine, const struct activity *activity)
{
	uint32_t columns = ledger_columns(engine->books.ledger);
	int r;

	if (engine->config->metrics.counters == COUNTERS_OFF)
		return 0;
	r = counters_follow(engine->books.ledger, activity->signals,
			    !engine->books.accountant.has_begun, activity->time_ns);
	if (ledger_columns(engine->books.ledger) != columns)
		set_publication(engine);
	return r;
}

int interval_engine_new(struct sources *sources, const struct interval_peers *peers,
			const struct config *config, struct interval_engine **ret)
{
	const struct ledger_options options = {
		.max_processes = config->monitor.max_processes,
		.max_containers = config->monitor.max_containers,
		.names = identity_resolver_names(sources->identities),
		.by_zone = config->metrics.per_package,
	};
	struct interval_engine *engine = calloc(1, sizeof(*engine));
	int r;

	if (!engine)
		return -ENOMEM;
	engine->sources = sources;
	engine->peers = *peers;
	engine->clock.cpus = sources->host.cpus;
	device_users_init(&engine->device_users);
	engine->config = config;
	r = books_open(&engine->books, &options);
	if (r == 0) {
		books_configure(&engine->books, &config->idle, &config->share,
				settle_at(engine, 0).settle_ns);
		books_compute(&engine->books, &config->computed);
		set_publication(engine);
		r = publisher_new(&engine->publication, engine->books.ledger, peers->holder,
				  &engine->publisher);
	}
	if (r == 0)
		publisher_set_users(engine->publisher, &engine->users.users);
	if (r == 0 && peers->units) {
		units_name(peers->units, &engine->units);
		publisher_set_units(engine->publisher, &engine->units);
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
	unit_accounts_release(&engine->units);
	device_users_release(&engine->device_users);
	process_users_release(&engine->users.users);
	books_release(&engine->books);
	free(engine);
}

void interval_engine_reconfigure(struct interval_engine *engine, const struct config *config)
{
	if (engine->books.accountant.has_begun &&
	    engine->books.accountant.idle_share != IDLE_SHARE_EQUAL)
		engine->sleepers_are_due = config->idle.share == IDLE_SHARE_EQUAL;
	engine->config = config;
	books_configure(&engine->books, &config->idle, &config->share,
			engine->books.accountant.settle_ns);
	books_compute(&engine->books, &config->computed);
	if (engine->peers.tap)
		record_tap_reconfigure(engine->peers.tap, config);
	set_publication(engine);
}

/* Begins the interval. Scrapes, or a reload, may have changed how long series settle. */
static void begin_books(struct interval_engine *engine, uint64_t now_ns)
{
	const struct scrape_pace_state state = settle_at(engine, now_ns);
	bool is_new;

	engine->series.scrape_clients = state.clients;
	engine->series.scrape_clients_forgotten = state.forgotten;
	is_new = state.settle_ns != engine->books.accountant.settle_ns;
	books_begin(&engine->books, now_ns, state.settle_ns);
	if (is_new)
		set_publication(engine);
}

static void learn_cgroup(void *userdata, uint64_t cgroup_id, const char *path)
{
	identity_resolver_learn(userdata, cgroup_id, path);
}

/* Reads that may hang are requested together and awaited once; many of them take more rounds. */
static void announce_processes(struct interval_engine *engine, const struct activity *activity)
{
	struct identity_resolver *identities = engine->sources->identities;
	unsigned rounds = 0;

	do {
		for (size_t i = 0; i < activity->count; i++) {
			const struct process_ref process = process_ref_of(&activity->samples[i]);

			identity_resolver_announce(identities, &process);
		}
		device_users_announce(&engine->device_users, identities);
	} while (identity_resolver_await(identities) && ++rounds < ANNOUNCE_ROUNDS);
}

/* Sockets and estimates have as many CPUs as the machine. */
static void follow_cpus(struct interval_engine *engine, uint32_t online)
{
	const char *sysfs = engine->config->host.sysfs;

	if (!pass_clock_follow_cpus(&engine->clock, online, sysfs))
		return;
	if (engine->sources->sockets)
		(void)cpu_sockets_read(sysfs, engine->sources->sockets);
	estimates_set_cpus(&engine->sources->estimates, engine->clock.cpus);
}

/* A zone that found no memory is not counted before it is adopted. */
static void take_readings(struct interval_engine *engine, const struct meter_pass *pass)
{
	engine->books.span_count = 0;
	for (size_t i = 0; i < pass->zone_count && i < engine->meters_known; i++)
		engine->books.status[engine->meter_zones[i]] = pass->status[i];
	for (size_t i = 0; i < pass->span_count; i++) {
		if (pass->spans[i].zone < engine->meters_known)
			books_put_span(&engine->books, engine->meter_zones[pass->spans[i].zone],
				       pass->spans[i]);
	}
	engine->device_uses = pass->uses;
}

static void describe_series(struct interval_engine *engine, const struct activity_info *activity)
{
	struct series_health *series = &engine->series;
	struct identity_info identities;

	identity_resolver_get_info(engine->sources->identities, &identities);
	if (identities.reads_late && !engine->told_late_read)
		log_warn("a read of a process's command line or cgroup hangs: until it returns, "
			 "the process is charged to its last known owner");
	engine->told_late_read |= identities.reads_late > 0;
	series_health_count(series, engine->books.ledger, activity->overflows,
			    identities.machine_overflows);
	series->max_series = engine->config->metrics.max_series;
}

static void describe_node(struct interval_engine *engine, const struct zone_activity *measured,
			  struct snapshot_node *node)
{
	struct activity_info info;

	activity_get_info(engine->sources->activity, &info);
	activity_health_update(&engine->activity, &info);
	describe_series(engine, &info);
	(void)snprintf(node->activity_reader, sizeof(node->activity_reader), "%s", info.reader);
	node->cpu_steal_seconds = info.has_steal ? (double)info.steal_ns / 1e9 : (double)NAN;
	node->elapsed_ns = measured->dt_ns;
	node->busy_ratio = measured->dt_ns ? measured->utilisation : (double)NAN;
	node->cpu_ns = ledger_sum(engine->books.ledger, COLUMN_CPU)->node;
}

static void copy_places(const struct cpu_sockets *sockets, struct work_places *ret)
{
	_Static_assert(SOCKETS_MAX == PLACES_MAX, "a place for each socket");

	ret->count = sockets ? sockets->count : 0;
	for (uint32_t place = 0; place < ret->count; place++) {
		ret->package[place] = sockets->id[place];
		ret->cpus[place] = sockets->cpus[place];
	}
}

/* The remainder of the meters; estimates do not judge each other. */
static const struct remainder *meters_rest(const struct interval_engine *engine)
{
	return &engine->books.rest[QUALITY_MEASURED].remainder;
}

/* [SIGNAL_COUNT]: all that was counted of the signals that are counters of rows. */
static void sum_counters(const struct interval_engine *engine, const struct activity *activity,
			 uint64_t *ret)
{
	const struct layout *layout = ledger_layout(engine->books.ledger);

	for (uint32_t left = activity->signals & SIGNALS_COUNTERS; left; left &= left - 1) {
		enum signal signal = (enum signal)__builtin_ctz(left);

		if (layout_find(layout, &signal_info[signal]) != COLUMN_NONE)
			ret[signal] = activity_signal_sum(activity, signal);
	}
}

static void book(struct interval_engine *engine, const struct activity *activity,
		 const struct zone_activity *measured, int64_t realtime_ms)
{
	const struct record_moment moment = { activity->boottime_ns, realtime_ms, activity };
	struct accountant *accountant = &engine->books.accountant;
	struct interval interval = books_interval(&engine->books, activity->time_ns);
	uint64_t counted[SIGNAL_COUNT] = { 0 };

	interval.work =
		(struct work_sums){ activity->busy_ns, activity->dropped_ns, activity->unseen_ns };
	interval.measured = *measured;
	copy_places(engine->sources->sockets, &interval.places);
	sum_counters(engine, activity, counted);
	if (engine->peers.tap)
		record_tap_tell(engine->peers.tap, &engine->books, &interval, &moment);
	books_book(&engine->books, &interval, counted);
	deviations_add(&engine->deviations, accountant->contenders, accountant->zone_count,
		       engine->books.spans, engine->books.span_count, activity->time_ns);
	for (size_t z = 0; z < accountant->zone_count; z++) {
		zone_picture(&accountant->zones[z], books_has_ended(&engine->books, z),
			     activity->time_ns, &engine->published[z]);
		engine->published[z].deviation_ratio = deviations_ratio(&engine->deviations, z);
		engine->published[z].coverage_ratio =
			remainder_coverage(meters_rest(engine), z, NULL);
		engine->published[z].share_error_ratio =
			zone_fits_error_ratio(&accountant->fits, z);
		engine->published[z].share_half_width =
			zone_fits_share_half_width(&accountant->fits, z);
		engine->published[z].smt_factor = zone_fits_smt_factor(&accountant->fits, z);
	}
}

static void note_host(struct interval_engine *engine)
{
	const struct meter_table *meters = engine->sources->meters;
	const struct meter *meter = meters ? meter_table_meter(meters, &passthrough_meter) : NULL;
	struct passthrough_counts counts = { 0 };

	if (meter)
		passthrough_meter_counts(meter, &counts);
	if (counts.received_ns)
		explain_round_note_host(&engine->round,
					&(struct explained_host){
						.source = passthrough_meter.name,
						.cpu_us = counts.host_cpu_us,
						.compared_host_us = counts.compared_host_us,
						.compared_own_us = counts.compared_own_us,
					});
}

static void take_questions(struct interval_engine *engine, const struct activity *activity,
			   int error, int64_t realtime_ms)
{
	const struct explain_times times = {
		.now_ns = activity->time_ns,
		.boottime_ns = activity->boottime_ns,
		.now_ms = realtime_ms,
		.span_ns = engine->elapsed_ns,
		.busy_ns = activity->busy_ns,
		.error = error,
	};

	explain_round_begin(&engine->round, engine->peers.desk, engine->books.ledger, &times);
	if (engine->round.count)
		note_host(engine);
	engine->books.accountant.explained = engine->round.found;
	engine->books.accountant.explained_count = engine->round.found_count;
}

static struct party_entry entry_of(struct interval_engine *engine)
{
	return (struct party_entry){
		.ledger = engine->books.ledger,
		.identities = engine->sources->identities,
		.parties = &engine->books.parties,
		.users = engine->users.users.is_noted ? &engine->users.users : NULL,
		.has_begun = engine->books.accountant.has_begun,
		.sleepers_count = engine->books.accountant.idle_share == IDLE_SHARE_EQUAL,
	};
}

/* The users of devices, and the containers that hold them. */
static void enter_devices(struct interval_engine *engine)
{
	const struct accountant *accountant = &engine->books.accountant;
	struct sources *sources = engine->sources;
	const struct zone *zones[ZONES_MAX];

	device_users_enter(&engine->device_users, engine->device_uses, sources->identities,
			   engine->books.ledger, &engine->books.devices);
	if (!sources->meters)
		return;
	for (size_t z = 0; z < accountant->zone_count; z++)
		zones[z] = accountant->zones[z].zone;
	device_allocations_enter(&sources->allocations, sources->meters, zones,
				 accountant->zone_count, sources->identities, engine->books.ledger,
				 &engine->books.devices);
}

static void enter_step(const struct interval_engine *engine, enum loop_step step)
{
	if (engine->peers.steps)
		loop_steps_enter(engine->peers.steps, step, clock_ns(CLOCK_MONOTONIC));
}

/* Enters new owners, owners without names so far, and sleepers. */
static void enter_identities(struct interval_engine *engine, const struct party_entry *entry,
			     uint64_t boottime_ns)
{
	identity_resolver_begin(engine->sources->identities, boottime_ns);
	activity_visit_new_cgroups(engine->sources->activity, learn_cgroup,
				   engine->sources->identities);
	party_entry_name_waiting(entry);
	if (engine->sleepers_are_due)
		party_entry_take_sleepers(entry, engine->sources->activity);
	engine->sleepers_are_due = false;
}

/* Meters, then the pass, back to back. 0, or the -errno of a pass that failed. */
static int read_all(struct interval_engine *engine, struct meter_pass *meters,
		    struct activity *activity)
{
	struct sources *sources = engine->sources;
	int pass;

	enter_step(engine, STEP_METERS);
	if (sources->reads)
		machine_reads_begin(sources->reads, clock_ns(CLOCK_MONOTONIC));
	if (sources->meters)
		(void)meter_table_read(sources->meters, meters);
	enter_step(engine, STEP_ACTIVITY);
	if (sources->reads)
		machine_reads_take(sources->reads);
	pass = activity_read(sources->activity, activity);
	if (pass == 0 && sources->reads)
		machine_reads_add(sources->reads, activity);
	if (pass == 0 && sources->memory)
		memory_signals_add(sources->memory, activity);
	if (pass < 0) {
		*activity = (struct activity){ .time_ns = clock_ns(CLOCK_MONOTONIC),
					       .boottime_ns = clock_ns(CLOCK_BOOTTIME) };
	}
	return pass;
}

struct interval_moment interval_moment_now(void)
{
	return (struct interval_moment){
		.boottime_ms = (int64_t)(clock_ns(CLOCK_BOOTTIME) / NSEC_PER_MSEC),
		.realtime_ms = (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_MSEC),
	};
}

/*
 * The moment of the pass by both clocks, as the same time passes by either. Ages of readings are
 * relative to the pass, and on a busy machine the interval began long before it.
 */
static struct interval_moment moment_of_pass(const struct interval_moment *began,
					     const struct activity *activity)
{
	int64_t pass_ms = (int64_t)(activity->boottime_ns / NSEC_PER_MSEC);
	int64_t passed_ms = pass_ms > began->boottime_ms ? pass_ms - began->boottime_ms : 0;

	return (struct interval_moment){ began->boottime_ms + passed_ms,
					 began->realtime_ms + passed_ms };
}

static int publish(struct interval_engine *engine, const struct activity *activity,
		   const struct interval_moment *end, struct snapshot_node *node)
{
	const struct publication_time time = { activity->time_ns, end->boottime_ms,
					       end->realtime_ms };
	struct explain_publication publication = { engine->publisher, engine->peers.holder,
						   &engine->publication, 0 };

	enter_step(engine, STEP_PUBLICATION);
	explain_round_book(&engine->round, engine->books.ledger);
	publication.result = publisher_publish(engine->publisher, &time, engine->published, node);
	explain_round_end(&engine->round, engine->peers.desk, &publication, activity->time_ns);
	return publication.result;
}

/* Units are counted by the energy that this interval's snapshot has. */
static void follow_units(struct interval_engine *engine, uint64_t now_ns, int64_t boottime_ms)
{
	if (!engine->peers.units)
		return;
	ledger_close(engine->books.ledger);
	units_follow(engine->peers.units, &engine->units, engine->books.ledger, now_ns,
		     boottime_ms);
}

int interval_engine_run(struct interval_engine *engine, const struct interval_moment *now,
			struct snapshot_node *node)
{
	struct activity activity = { 0 };
	struct zone_activity measured = { 0 };
	struct meter_pass meters = { 0 };
	struct interval_moment end;
	struct party_entry entry;
	int r, pass, entered, published;

	engine->elapsed_ns = 0;
	user_watch_begin(&engine->users, engine->peers.holder, engine->sources->activity,
			 clock_ns(CLOCK_MONOTONIC));
	pass = read_all(engine, &meters, &activity);
	end = moment_of_pass(now, &activity);
	enter_step(engine, STEP_IDENTITY);
	r = interval_engine_find_zones(engine, now->boottime_ms);
	if (r == 0)
		r = follow_counters(engine, &activity);
	begin_books(engine, activity.time_ns);
	follow_cpus(engine, activity.cpus);
	take_readings(engine, &meters);
	estimates_advance(&engine->sources->estimates, &engine->books,
			  pass == 0 ? &activity : NULL);
	books_advance_remainders(&engine->books);
	entry = entry_of(engine);
	if (pass == 0) {
		measured = pass_clock_measure(&engine->clock, &activity);
		engine->elapsed_ns = measured.dt_ns;
		enter_identities(engine, &entry, activity.boottime_ns);
	}
	if (engine->device_uses)
		device_users_find(&engine->device_users, engine->device_uses,
				  engine->sources->identities, &activity,
				  engine->sources->activity);
	announce_processes(engine, &activity);
	entered = party_entry_take(&entry, &activity);
	if (entered < 0)
		engine->books.parties.count = 0;
	if (engine->device_uses)
		enter_devices(engine);
	enter_step(engine, STEP_ATTRIBUTION);
	take_questions(engine, &activity, pass < 0 ? pass : entered, end.realtime_ms);
	book(engine, &activity, &measured, end.realtime_ms);
	if (engine->peers.booked)
		engine->peers.booked(engine->peers.booked_userdata, &engine->books,
				     activity.time_ns);
	estimates_picture(&engine->sources->estimates, &engine->sources->host, engine->published,
			  node);
	tree_follow(engine->peers.trees, &engine->books, engine->published, &activity,
		    measured.dt_ns);
	party_entry_end_processes(engine->books.ledger, &activity, engine->peers.trees);
	sleepers_look(engine->books.ledger, engine->sources->identities, activity.time_ns,
		      &engine->slept_ns);
	describe_node(engine, &measured, node);
	follow_units(engine, activity.time_ns, now->boottime_ms);
	published = publish(engine, &activity, &end, node);
	if (pass < 0)
		return pass;
	return r < 0 ? r : published;
}

void interval_engine_set_health(struct interval_engine *engine, const struct health_source *sources,
				size_t count)
{
	publisher_set_health(engine->publisher, sources, count);
}

const struct activity_health *interval_engine_activity(const struct interval_engine *engine)
{
	return &engine->activity;
}

const struct series_health *interval_engine_series(const struct interval_engine *engine)
{
	return &engine->series;
}

size_t interval_engine_zone_count(const struct interval_engine *engine)
{
	return engine->books.accountant.zone_count;
}

const struct zone *interval_engine_zone(const struct interval_engine *engine, size_t index)
{
	return engine->books.accountant.zones[index].zone;
}

struct zone_view interval_engine_view(const struct interval_engine *engine, size_t index)
{
	const struct zone_account *account = &engine->books.accountant.zones[index];
	const struct contender *contender = &engine->books.accountant.contenders[index];
	struct zone_view view = {
		.zone = account->zone,
		.status = &account->last,
		.is_charged = contender->standing == STANDING_COUNTS,
		.is_still = contender->is_still,
		.is_away = contender->is_away,
		.missed_total = account->missed_total,
		.deviation_ratio = deviations_ratio(&engine->deviations, index),
		.idle_state = account->idle_state,
		.idle_power_uw = account->idle_power_uw,
		.rule = account->rule,
	};

	view.coverage_ratio =
		remainder_coverage(meters_rest(engine), index, &view.coverage_is_of_minute);
	return view;
}

void interval_engine_restore(struct interval_engine *engine, size_t index,
			     const struct idle_learner *learner)
{
	books_restore(&engine->books, index, learner);
	if (engine->peers.tap)
		record_tap_restored(engine->peers.tap, index);
}

void interval_engine_restore_learned(struct interval_engine *engine, size_t index,
				     const struct power_owners *owners)
{
	zone_fits_restore(&engine->books.accountant.fits, index, owners,
			  engine->books.accountant.share.owner_factors);
}

const struct power_picture *interval_engine_power(const struct interval_engine *engine)
{
	return publisher_power(engine->publisher);
}

const struct books *interval_engine_books(const struct interval_engine *engine)
{
	return &engine->books;
}

uint64_t interval_engine_elapsed_ns(const struct interval_engine *engine)
{
	return engine->elapsed_ns;
}
