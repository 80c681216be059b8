/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much more or less one source reads than another that counts the same energy, over a minute.
 *
 * All sources are read, and of rivals (energy/rank.h) one is charged. The readings of the others
 * show whether the charged one is plausible. Powers are compared and not energies, because each
 * source is read at its own times; the power of a zone is the energy of its spans over their
 * length.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "energy/rank.h"
#include "energy/span.h"

#define DEVIATION_WINDOW_NS 60000000000ULL
/* The first minute is judged while it goes on, from here on, so that a person need not wait. */
#define DEVIATION_FIRST_NS 3000000000ULL

struct deviation_sum {
	uint64_t energy_uj, read_ns; /* of its spans in the window so far */
	bool is_broken;              /* some of the window is not known */
	bool is_known;               /* @ratio, of the last window */
	double ratio;
};

/* Zeroed: no reading yet. */
struct deviations {
	uint64_t begun_ns; /* MONOTONIC; of the window that is going on; 0: none is */
	size_t count;      /* zones that were known then */
	bool had_window;
	struct deviation_sum zone[ZONES_MAX];
};

/*
 * Adds an interval, which ended at @now_ns, of the @count zones of @contenders. A window in which a
 * zone has been read for less than three quarters of the time has no ratio for that zone.
 */
void deviations_add(struct deviations *deviations, const struct contender *contenders, size_t count,
		    const struct energy_span *spans, size_t span_count, uint64_t now_ns);
/*
 * The energy that zone @z counted over the energy that its charged rivals counted, less 1: 0.02 is
 * 2 % more. NaN if it is charged itself, has no such rival, or nothing is known. An estimate is not
 * compared, nor a part with a rival that counts the whole.
 */
double deviations_ratio(const struct deviations *deviations, size_t z);
