/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of one zone between intervals: its status, the time from which it counts, and how its
 * idle part is known.
 *
 * zone_account_advance() turns a span (energy/span.h) into the energy that counts, and its idle
 * part. Pure: tested with a table of spans.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attribution/attribute.h"
#include "attribution/learning/idle.h"
#include "attribution/learning/idle_options.h"
#include "attribution/share_rule.h"
#include "energy/span.h"

struct zone_account {
	const struct zone *zone;
	struct zone_status last; /* as of the newest interval */
	bool has_span;           /* that was known or not: its series have begun */
	uint32_t total;          /* that it is in, or TOTAL_NONE (energy/total.h) */
	bool missed_total;       /* it would be in one if it had been found with the others */
	uint64_t up_time_ns;     /* the end of the last span with which the zone was up */
	struct idle_learner learner;
	enum share_rule rule; /* by which its dynamic energy is shared, as of the last interval */
	enum idle_state idle_state;
	uint64_t idle_power_uw; /* with idle_state_has_power() */
	bool idle_is_derived;   /* zone_account_derive_idle() has set it */
	/* Its series appear among others that were seen: they show 0 until count_from_ns. */
	bool late;
	uint64_t count_from_ns;
	/* Late ones that have not begun do so with a span of one interval only. */
	bool has_begun;
	bool is_away;           /* the rival counts because this zone was silent */
	uint64_t resume_ns;     /* energy until then was counted by that rival; 0: there was none */
	bool held;              /* a rival counts in its stead, up to zone_account_release() */
	bool idle_is_new;       /* a reload has given birth to the idle series: they show 0 ... */
	uint64_t split_from_ns; /* ... and idle is split off from here on */
	int64_t born_ms;        /* CLOCK_BOOTTIME of the birth of the zone's series */
	/*
	 * By enum energy_mode, the series that were born: the node's, and those of rows. A series
	 * that was born stays, whatever the policy is now.
	 */
	bool has_mode[MODE_COUNT], rows_have_mode[MODE_COUNT];
	/* By enum energy_mode, of the last interval; NaN: not known, or nothing counts yet. */
	double watts[MODE_COUNT];
	uint64_t span_ns; /* time that the last interval's energy took; 0 while not known */
	/* If the last span was late: how long ago it had ended, and the time that it averages. */
	uint64_t delay_ns, window_ns; /* 0: it was not late, or not a mean */
};

/* The energy of a span, as far as it counts. */
struct zone_interval {
	uint64_t energy_uj; /* 0 where nothing is known, or nothing counts yet */
	uint64_t idle_uj;   /* <= energy_uj */
	uint64_t dt_ns;     /* the span's length; 0 when there is no interval */
};

/* The activity of the machine in the same time. */
struct zone_activity {
	uint64_t dt_ns;     /* between the two passes */
	uint64_t asleep_ns; /* of the time since the last interval the machine was suspended */
	double utilisation; /* 0..1 */
};

/* Adds @one to @sum: the times are added, and the utilisation is the mean over the whole time. */
void zone_activity_add(struct zone_activity *sum, const struct zone_activity *one);

void zone_account_init(struct zone_account *state, const struct zone *zone,
		       const struct idle_options *options, int64_t boottime_ms);
/*
 * How idle power is known under these options; called at start, after a reload and after a restore.
 */
void zone_account_configure(struct zone_account *state, const struct idle_options *options);
/*
 * If idle power is fixed and the zone has no figure of its own, it is @power_uw, which follows from
 * the figures of other zones.
 */
void zone_account_derive_idle(struct zone_account *state, uint64_t power_uw);
/*
 * The time at which a series that settles until @from_ns shows its value, now that it settles for
 * @settle_ns since its birth and no longer for @before_ns. A series that showed its value by
 * @booked_ns, up to which energy was booked, goes on to show it; a series that is only due by now
 * has shown nothing but 0.
 */
uint64_t settle_anew(uint64_t from_ns, uint64_t before_ns, uint64_t settle_ns, uint64_t booked_ns);
/* Applies settle_anew() to the zone's own series. */
void zone_account_settle(struct zone_account *state, uint64_t before_ns, uint64_t settle_ns);
/* @span is the zone's in this interval; NULL: it has none. */
struct zone_interval zone_account_advance(struct zone_account *state,
					  const struct zone_status *status,
					  const struct energy_span *span,
					  const struct zone_activity *activity, uint64_t settle_ns);
/*
 * Does the energy of @span (or NULL) count? It does if it is known, the zone's series existed
 * before it and were seen with 0, and no rival (energy/rank.h) has counted it. A zone that was
 * found late must begin with a span without a gap, because its series showed 0 meanwhile.
 */
bool zone_account_counts(const struct zone_account *state, const struct energy_span *span);
/* The rival has ended, at the end of the zone's last span or before: all later energy counts. */
void zone_account_release(struct zone_account *state);
/*
 * Between intervals: a rival counts (@is_away) because this zone was silent, or no longer. Of the
 * zone's energy, spans count that begin at @booked_ns, up to which the rival has counted, or later.
 */
void zone_account_follow_rival(struct zone_account *state, bool is_away, uint64_t booked_ns);
/* Is idle energy counted separately from the rest now? */
bool zone_account_has_idle(const struct zone_account *state);
/*
 * After an interval was booked: decides which series exist from now on. @rows_bear_idle: rows have
 * idle series, too.
 */
void zone_account_bear_series(struct zone_account *state, bool rows_bear_idle);
