/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One interval, from readings to a published snapshot: the place where energy meets activity.
 *
 * The engine owns everything that lives from interval to interval: the sources, the ledger, the
 * learners of idle power, the publisher. It reads no clock: times come with the readings and the
 * pass.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "activity/activity_health.h"
#include "attribution/books.h"
#include "attribution/learning/idle.h"
#include "attribution/share_rule.h"
#include "engine/loop_steps.h"
#include "engine/series_health.h"
#include "engine/sources.h"
#include "explain/explain_desk.h"
#include "export/scrape_pace.h"
#include "snapshot/publisher.h"
#include "snapshot/snapshot.h"

struct interval_engine;
struct record_tap;
struct units;

/* The parts that an engine serves and queries, in addition to its sources; borrowed. */
struct interval_peers {
	struct snapshot_holder *holder;
	struct scrape_pace *pace;    /* NULL: scrapes are unknown */
	struct loop_steps *steps;    /* NULL: not timed */
	struct explain_desk *desk;   /* the source of questions about rows; NULL: none */
	struct record_tap *tap;      /* records each interval; NULL: nothing is recorded */
	struct process_trees *trees; /* of kepler stat; NULL: there are none */
	struct units *units;         /* of work; NULL: none is counted */
	/* Called when an interval has been booked, before rows of ended processes are released. */
	void (*booked)(void *userdata, const struct books *books, uint64_t time_ns);
	void *booked_userdata;
};

/*
 * @sources and @config are borrowed. If the sources have meters without a zone and an estimate, the
 * estimate is charged until the first zone of the meters begins to count. 0 or -errno.
 */
int interval_engine_new(struct sources *sources, const struct interval_peers *peers,
			const struct config *config, struct interval_engine **ret);
void interval_engine_free(struct interval_engine *engine);

/* Takes the options that may change while running from a reloaded config. */
void interval_engine_reconfigure(struct interval_engine *engine, const struct config *config);

/*
 * The clock that births are kept by, and the one that they are shown by, at one moment: time that
 * passes between reading one and the other, such as a slow pass, would move births that were shown.
 */
struct interval_moment {
	int64_t boottime_ms, realtime_ms;
};

/* Now, by the kernel's clocks. */
struct interval_moment interval_moment_now(void);
/*
 * Adopts the zones that are known, as each interval does: before the first interval, so that their
 * learned parameters can be restored. 0 or -errno.
 */
int interval_engine_find_zones(struct interval_engine *engine, int64_t boottime_ms);
/*
 * Reads, attributes and publishes. The first call is the baseline: it publishes zeros, so that
 * every series is seen from its start. 0; a failed pass over the processes (-errno) still
 * publishes: the zones' energy goes to unattributed, reason no_activity. So does -ENOMEM for zones
 * that are new: they wait for the next interval. @now is the beginning. @node has all facts of the
 * machine and the program that the engine does not know itself.
 */
int interval_engine_run(struct interval_engine *engine, const struct interval_moment *now,
			struct snapshot_node *node);

/* The parts of the program that each snapshot contains from now on. @sources are borrowed. */
void interval_engine_set_health(struct interval_engine *engine, const struct health_source *sources,
				size_t count);
/* The state after the last interval, which lives as long as the engine. */
const struct activity_health *interval_engine_activity(const struct interval_engine *engine);
const struct series_health *interval_engine_series(const struct interval_engine *engine);

/* The zones that were found, in the order of the accountant. */
size_t interval_engine_zone_count(const struct interval_engine *engine);
const struct zone *interval_engine_zone(const struct interval_engine *engine, size_t index);
/* A zone after the interval just run. */
struct zone_view {
	const struct zone *zone;
	const struct zone_status *status;
	bool is_charged;   /* if not, the energy of another source is, which counts the same */
	bool is_still;     /* it stands still, so another source is charged in its place */
	bool is_away;      /* it is not read any more, and an estimate is charged in its place */
	bool missed_total; /* it is in no total because it was found too late */
	double deviation_ratio; /* from the source that is charged: deviations_ratio() (energy) */
	double coverage_ratio;  /* of a whole, over its parts: remainder_coverage() (energy) */
	bool coverage_is_of_minute;
	enum idle_state idle_state;
	uint64_t idle_power_uw; /* with idle_state_has_power() */
	enum share_rule rule;   /* by which its dynamic energy was shared */
};
struct zone_view interval_engine_view(const struct interval_engine *engine, size_t index);
void interval_engine_restore(struct interval_engine *engine, size_t index,
			     const struct idle_learner *learner);
void interval_engine_restore_learned(struct interval_engine *engine, size_t index,
				     const struct power_owners *owners);

/* Which process draws how much, as the snapshot of the interval just run has it. */
const struct power_picture *interval_engine_power(const struct interval_engine *engine);
/* The books after the interval just run, and its length. */
const struct books *interval_engine_books(const struct interval_engine *engine);
uint64_t interval_engine_elapsed_ns(const struct interval_engine *engine);
