/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said in the log of zones whose readings make no sense: once a zone, and counted in
 * metrics by whoever finds it.
 */
#pragma once

#include <stdbool.h>

#include "kepler/interval.h"

/* Zeroed: nothing was said yet. */
struct zone_watch {
	bool refused[ZONE_MAX]; /* that this zone's readings are refused */
};

/* Looks at the interval that has just run. */
void zone_watch_look(struct zone_watch *watch, const struct interval_engine *engine);
