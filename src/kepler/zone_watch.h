/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log messages, once a zone, about zones that are left out or have implausible readings; their
 * metrics are set where these are found.
 */
#pragma once

#include <stdbool.h>

#include "energy/zone_sums.h"
#include "engine/interval.h"
#include "engine/sources.h"

/* Zeroed: nothing was said yet. */
struct zone_watch {
	bool refused[ZONES_MAX];    /* that this zone's readings are refused */
	bool exceeded[ZONES_MAX];   /* that this package's parts count more than it */
	bool still[ZONES_MAX];      /* that another source is charged in its place */
	bool fell_short[ZONES_MAX]; /* that this whole counts less than its parts */
	bool left_out;              /* that zones are left out */
	size_t silent;              /* zones that give no values, as of the last message */
	struct zone_sums sums;
	size_t exceeded_count; /* packages, as of the last minute */
};

/* Before an interval: what its snapshot says of the zones. */
void zone_watch_describe(struct zone_watch *watch, const struct sources *sources,
			 struct snapshot_self *self);
/* Looks at the interval that has just run, which ended at @now_ns (MONOTONIC). */
void zone_watch_look(struct zone_watch *watch, const struct interval_engine *engine,
		     uint64_t now_ns);
