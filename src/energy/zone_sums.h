/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A package contains its cores and its uncore, so over a minute it must have counted at least as
 * much as these together. If it has not, a counter is wrong or has another meaning than expected.
 * Which one it is cannot be decided from here, so nothing is corrected. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "energy/span.h"

#define ZONE_SUMS_WINDOW_NS 60000000000ULL

/* Zeroed: no reading yet. */
struct zone_sums {
	uint64_t begun_ns;             /* MONOTONIC; of the window that is going on */
	size_t count;                  /* zones that were known then */
	uint64_t energy_uj[ZONES_MAX]; /* of each, in the window so far */
	bool broken[ZONES_MAX];        /* not known all the time: not up, or a new baseline */
	bool exceeded[ZONES_MAX]; /* in the last whole window, this package's parts counted more */
};

/* The readings of one interval, which ended at @now_ns (MONOTONIC). */
struct zone_sums_input {
	size_t count;                            /* zones; they keep their index */
	const struct zone *const *zones;         /* [count] */
	const struct zone_status *const *status; /* [count] */
	const struct energy_span *spans;
	size_t span_count;
	uint64_t now_ns;
};

/*
 * Adds an interval. A window ends with the first interval that makes it a minute long, so longer
 * intervals are judged, too. Returns the number of packages whose parts exceeded them in the last
 * whole window.
 */
size_t zone_sums_add(struct zone_sums *sums, const struct zone_sums_input *input);
