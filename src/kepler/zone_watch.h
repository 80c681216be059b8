/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log messages, once a zone, about zones that are left out or have implausible readings; their
 * metrics are set where these are found.
 */
#pragma once

#include <stdbool.h>

#include "base/health.h"
#include "energy/zone_sums.h"
#include "engine/interval.h"
#include "engine/sources.h"

struct zone_health {
	bool is_searching;            /* the first search for meters has not ended */
	uint64_t left_out;            /* zones that were found and are not read */
	uint64_t silent;              /* zones that are read and never had a value */
	uint64_t device_files_unread; /* open device files beyond the limits */
	uint64_t packages_exceeded;   /* by core and uncore, over the last minute */
};
extern const struct health_part zone_health_part; /* of a struct zone_watch */

/* Zeroed: nothing was logged yet. */
struct zone_watch {
	bool refused[ZONES_MAX];  /* that this zone's readings are refused */
	bool exceeded[ZONES_MAX]; /* that this package's parts count more than it */
	bool still[ZONES_MAX];    /* that another source is charged in its place */
	bool away[ZONES_MAX];
	bool fell_short[ZONES_MAX]; /* that this whole counts less than its parts */
	bool missed[ZONES_MAX];     /* that this zone is in no total */
	bool left_out;              /* that zones are left out */
	size_t silent;              /* zones that give no values, as of the last message */
	struct zone_sums sums;
	struct zone_health health;
};

/* Before an interval: counts the zones of @sources that are left out or silent. */
void zone_watch_count(struct zone_watch *watch, const struct sources *sources);
/* Looks at the interval that has just run, which ended at @now_ns (MONOTONIC). */
void zone_watch_look(struct zone_watch *watch, const struct interval_engine *engine,
		     uint64_t now_ns);
