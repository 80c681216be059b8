/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energy of zones and of the largest owners (containers, services, the rest): an hour in steps
 * of a second, a day in steps of a minute (history_ring.h), in memory of at most 4 MB.
 *
 * It takes the difference from snapshot to snapshot, so no energy is lost where an interval is
 * longer, or a source is read late: energy is spread over the time that its reading is of. In each
 * step, in integers:
 *
 *     total = Σ owners + other + idle + unattributed
 *
 * A zone's own steps are spread over the zone's own time. Over all steps, the zones in
 * the total add up to it. A step without a reading of a zone is not covered: it is unknown, not
 * 0. Energy that was used before the first snapshot is not in the history.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "energy/owner_names.h"
#include "history/history_owners.h"
#include "history/history_ring.h"
#include "snapshot/owner_text.h"
#include "snapshot/snapshot.h"

#define HISTORY_ZONES_MAX  32
#define HISTORY_POINTS_MAX 3600
#define HISTORY_HOUR_S     (HISTORY_FINE_S * HISTORY_FINE_STEPS)
#define HISTORY_DAY_S      (HISTORY_COARSE_S * HISTORY_COARSE_STEPS)

struct history;

/* 0 or -ENOMEM. history_free() takes NULL. */
int history_new(struct history **ret);
void history_free(struct history *history);

/*
 * Takes the energy of the interval that ended with @snapshot, at @boottime_ns of CLOCK_BOOTTIME. A
 * snapshot that it has already taken, and NULL, have no effect. Called by one thread.
 *
 * At the limit of owners, the least of them gives way to a larger one, and its energy is in `other`
 * from then on, also for the past. Without memory for a zone or an owner, it is left out.
 */
void history_note(struct history *history, const struct snapshot *snapshot, uint64_t boottime_ns);

struct history_window {
	uint32_t seconds; /* 1 to HISTORY_DAY_S, and HISTORY_POINTS_MAX steps at most */
	uint32_t step_s;  /* a multiple of HISTORY_COARSE_S where @seconds is over an hour */
	uint32_t owners;  /* the largest of them; the others are in `other` */
};

struct history_zone_view {
	char kind[16], instance[ZONE_INSTANCE_MAX], source[40];
	enum zone_quality quality;
	bool in_total;
	uint64_t *energy_uj; /* [points] */
	uint32_t *cover_ms;  /* [points]; 0: it is not known */
};

struct history_owner_view {
	char name[OWNER_TEXT_SIZE];
	char namespace[OWNER_NAME_MAX + 1], pod[OWNER_NAME_MAX + 1]; /* "": none */
	uint64_t *energy_uj;
};

/* One answer; all steps of it have ended, and each source in the total was read after them. */
struct history_view {
	struct history_range range; /* of steps since the machine booted */
	int64_t end_ms;             /* realtime, of the end of the last one */
	uint32_t zones, owners, left_out_zones;
	struct history_zone_view zone[HISTORY_ZONES_MAX];
	struct history_owner_view owner[HISTORY_OWNERS_MAX]; /* the largest first */
	uint64_t *total_uj, *estimated_uj, *idle_uj, *unattributed_uj, *other_uj;
	uint32_t *cover_ms; /* of all but the zones */
	void *memory;
};

/*
 * From any thread. 0 (there may be 0 points), -ENODATA before the first snapshot, or -ENOMEM;
 * history_view_release() is due after 0.
 */
int history_read(struct history *history, const struct history_window *window,
		 struct history_view *ret);
void history_view_release(struct history_view *view);
