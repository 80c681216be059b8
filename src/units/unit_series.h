/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last values of one pod's counters, and by how much they increase from reading to reading. A
 * pod can have several series of a counter (by status code, by handler). Each begins and is reset
 * by itself, as in Prometheus' increase():
 *
 *  - a value below the last one is a reset: all of it counts;
 *  - a series that appears after the first reading counts from 0, because its counter did so;
 *  - one that disappears adds nothing, and is remembered in case it comes back.
 *
 * Values are counted in millionths. Bounded. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNIT_SERIES_MAX 256 /* of one pod */

struct unit_value {
	uint64_t key; /* of the series' labels */
	uint64_t value_micro;
	bool is_seen; /* in this reading */
};

struct unit_series {
	struct unit_value *values;
	size_t count, size;
	bool has_begun;          /* a reading has succeeded */
	uint64_t seen;           /* series in this reading */
	uint64_t increase_micro; /* of this reading so far */
};

void unit_series_release(struct unit_series *series);
void unit_series_begin(struct unit_series *series);
/*
 * A value of this reading. 0; -ERANGE: no counter has it; -E2BIG: too many series; -EEXIST: the
 * series has a value already; -ENOMEM. After a failure, the next reading is like a first one.
 */
int unit_series_add(struct unit_series *series, uint64_t key, double value);
/*
 * Ends the reading. 0 with the increase since the one before, or *ret_is_first; -ENODATA: there was
 * no series.
 */
int unit_series_end(struct unit_series *series, uint64_t *ret_increase_micro, bool *ret_is_first);
