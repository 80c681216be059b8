/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where energy comes from while the exporter runs, for the log, metrics, the table and the service
 * manager: meters that are found later and take over from the estimate, zones that cannot be read,
 * and meters that fail.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/session.h"
#include "kepler/idle_state.h"

struct meter_watch {
	bool found;             /* there are meters, since the start or later */
	bool measured;          /* they count: no model estimates their energy now */
	bool searching;         /* the first search for them has not ended */
	size_t described_zones; /* zones that the names of sources take into account */
	uint32_t failed;        /* the failures that were logged last, as a hash; 0: none */
	unsigned looks_at_failed;
	char source[256]; /* sources_describe() */
};

/* At the start, once the engine has found its zones. */
void meter_watch_begin(struct meter_watch *watch, struct session *session);
/* Logs what cannot be read at the start. */
void meter_watch_log_start(struct meter_watch *watch, const struct session *session);
/*
 * After each interval. Zones that the engine has adopted get what @idle_state knows of them. True
 * if the source changed in a way that is worth a new status.
 */
bool meter_watch_follow(struct meter_watch *watch, struct session *session,
			struct idle_state_keeper *idle_state);
